//! By which a helper thread wakes one that waits. Unlike a parked thread, the waiting one is also
//! woken by a signal (so it needs no timer), and nothing but an atomic is touched while it is awake.

use rustix::event::Timespec;
use rustix::io::Errno;
use rustix::thread::futex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Wake, Waker};
use std::time::Duration;

const QUIET: u32 = 0;
const RUNG: u32 = 1;
const ASLEEP: u32 = 2;

/// What ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// The bell.
    Rung,
    /// A signal, or the time was over.
    Otherwise,
}

/// The bell. One thread waits for it at a time.
#[derive(Default)]
pub struct WakeEvent {
    state: AtomicU32,
}

impl WakeEvent {
    /// A bell, and the waker that rings it.
    pub fn new() -> (Arc<WakeEvent>, Waker) {
        let bell = Arc::new(WakeEvent::default());
        let waker = Waker::from(Arc::clone(&bell));
        (bell, waker)
    }

    /// Forgets an earlier ringing. Called before looking whether there is something to wait for.
    ///
    /// A swap, because the look that follows could overtake a plain store: then a ringing in between would be
    /// forgotten although nothing was seen of what it was for.
    #[inline]
    pub fn clear(&self) {
        self.state.swap(QUIET, Ordering::AcqRel);
    }

    /// Sleeps until the bell rings, a signal comes, or (with a bound) the time is over.
    pub fn wait(&self, at_most: Option<Duration>) -> Woken {
        let asleep =
            self.state
                .compare_exchange(QUIET, ASLEEP, Ordering::AcqRel, Ordering::Acquire);
        if asleep.is_err() {
            return Woken::Rung;
        }
        let timeout = at_most.map(|time| Timespec {
            tv_sec: time.as_secs().min(i64::MAX as u64) as i64,
            tv_nsec: time.subsec_nanos().into(),
        });
        let waited = futex::wait(&self.state, futex::Flags::PRIVATE, ASLEEP, timeout.as_ref());
        let was = self.state.swap(QUIET, Ordering::AcqRel);
        match waited {
            Err(Errno::INTR | Errno::TIMEDOUT) if was != RUNG => Woken::Otherwise,
            _ => Woken::Rung,
        }
    }
}

impl Wake for WakeEvent {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.swap(RUNG, Ordering::AcqRel) == ASLEEP {
            // It fails only for a bad address.
            let _ = futex::wake(&self.state, futex::Flags::PRIVATE, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bell_rung_before_the_wait_ends_it_at_once() {
        let (bell, waker) = WakeEvent::new();
        waker.wake_by_ref();
        assert_eq!(bell.wait(None), Woken::Rung);
    }

    #[test]
    fn a_bell_rung_by_another_thread_wakes() {
        let (bell, waker) = WakeEvent::new();
        bell.clear();
        let ringer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            waker.wake();
        });
        assert_eq!(bell.wait(Some(Duration::from_secs(30))), Woken::Rung);
        ringer.join().unwrap();
    }

    #[test]
    fn a_bell_that_nobody_rings_is_waited_for_only_so_long() {
        let (bell, _waker) = WakeEvent::new();
        assert_eq!(bell.wait(Some(Duration::from_millis(5))), Woken::Otherwise);
        // And the next ringing is heard.
        _waker.wake_by_ref();
        assert_eq!(bell.wait(None), Woken::Rung);
    }
}
