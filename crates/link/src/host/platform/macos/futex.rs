//! Sleeping on a word of memory; never run on macOS. Versions before 14.4 have no public call for it, so threads wait
//! for condition variables that are found by the word's address. Nothing but a wake-up ends such a wait, so one without
//! a bound ends now and then for its caller to look up.

use super::clock::monotonic_ns;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a wait without a bound lasts: the time after which a link looks whether it is to stop.
const LONGEST: Duration = Duration::from_millis(100);

struct Queue {
    lock: Mutex<()>,
    changed: Condvar,
}

/// Several words may share a queue: then a wake-up of the one makes who waits for the other look once more.
static QUEUES: [Queue; 64] = [const {
    Queue {
        lock: Mutex::new(()),
        changed: Condvar::new(),
    }
}; 64];

fn queue(word: &AtomicU32) -> (&'static Queue, MutexGuard<'static, ()>) {
    // Words that matter lie in different cache lines.
    let queue = &QUEUES[(word.as_ptr() as usize >> 6) % QUEUES.len()];
    let lock = queue.lock.lock().unwrap_or_else(PoisonError::into_inner);
    (queue, lock)
}

/// Sleeps while the word is `expected`, at most this long. False if the time ended it.
pub fn wait(word: &AtomicU32, expected: u32, at_most: Option<Duration>) -> bool {
    let begun = Instant::now();
    let at_most = at_most.unwrap_or(LONGEST);
    let (queue, mut lock) = queue(word);
    while word.load(Ordering::Acquire) == expected {
        let left = at_most.saturating_sub(begun.elapsed());
        if left.is_zero() {
            return false;
        }
        let waited = queue.changed.wait_timeout(lock, left);
        lock = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
    true
}

/// Wakes who waits for the word.
pub fn wake(word: &AtomicU32) {
    let (queue, _lock) = queue(word);
    queue.changed.notify_all();
}

/// Sleeps while the word is `expected`, until the clock reads `at_ns`. A thread of another process cannot end it.
pub fn wait_shared_until(word: &AtomicU32, expected: u32, at_ns: u64) {
    let left = at_ns.saturating_sub(monotonic_ns());
    if left > 0 {
        wait(word, expected, Some(Duration::from_nanos(left)));
    }
}

/// Wakes who waits for the word in this process.
pub fn wake_shared(word: &AtomicU32) {
    wake(word);
}
