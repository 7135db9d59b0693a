//! Sleeping on a word of memory (futex(2)). A signal ends a wait.

use rustix::io::Errno;
use rustix::thread::futex::{self, Flags};
use rustix::time::Timespec;
use std::num::NonZeroU32;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Setting it wakes all who wait (futex(2), FUTEX_BITSET_MATCH_ANY).
const ANY: NonZeroU32 = NonZeroU32::MAX;

/// Sleeps while the word is `expected`, at most this long. False if a signal or the time ended it.
#[inline]
pub fn wait(word: &AtomicU32, expected: u32, at_most: Option<Duration>) -> bool {
    let timeout = at_most.map(|time| Timespec {
        tv_sec: time.as_secs().min(i64::MAX as u64) as i64,
        tv_nsec: time.subsec_nanos().into(),
    });
    let waited = futex::wait(word, Flags::PRIVATE, expected, timeout.as_ref());
    debug_assert!(!matches!(waited, Err(Errno::INVAL | Errno::FAULT)));
    !matches!(waited, Err(Errno::INTR | Errno::TIMEDOUT))
}

/// Wakes one thread of this process that waits.
#[inline]
pub fn wake(word: &AtomicU32) {
    // It fails only for a bad address.
    let _ = futex::wake(word, Flags::PRIVATE, 1);
}

/// Sleeps while the word, which may lie in memory that processes share, is `expected`, until
/// CLOCK_MONOTONIC reads `at_ns`, or a signal comes.
#[inline]
pub fn wait_shared_until(word: &AtomicU32, expected: u32, at_ns: u64) {
    let at = Timespec {
        tv_sec: (at_ns / 1_000_000_000) as i64,
        tv_nsec: (at_ns % 1_000_000_000) as i64,
    };
    // Not private: the other side may be another process. That it was set, that a signal came
    // or the time is over: the caller looks in any case.
    let waited = futex::wait_bitset(word, Flags::empty(), expected, Some(&at), ANY);
    debug_assert!(matches!(
        waited,
        Ok(()) | Err(Errno::AGAIN | Errno::INTR | Errno::TIMEDOUT)
    ));
}

/// Wakes one thread of any process that waits.
#[inline]
pub fn wake_shared(word: &AtomicU32) {
    // It fails only for a bad address.
    let _ = futex::wake(word, Flags::empty(), 1);
}
