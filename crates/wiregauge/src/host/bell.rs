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
/// Asleep, and the ringer shall give way.
const ASLEEP_FIRST: u32 = 3;

/// A ringer that gives way goes on after this time in any case. A woken thread of a processor that is
/// not overloaded has run by then.
const GIVEN_WAY: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 1_000_000,
};

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
pub struct Bell {
    state: AtomicU32,
    /// 1 while the ringer gives way.
    gives_way: AtomicU32,
}

impl Bell {
    /// A bell, and the waker that rings it.
    pub fn new() -> (Arc<Bell>, Waker) {
        let bell = Arc::new(Bell::default());
        let waker = Waker::from(Arc::clone(&bell));
        (bell, waker)
    }

    /// Forgets an earlier ringing. Called before looking whether there is something to wait for.
    #[inline]
    pub fn hush(&self) {
        self.state.store(QUIET, Ordering::Release);
    }

    /// Sleeps until the bell rings, a signal comes, or (with a bound) the time is over.
    pub fn wait(&self, at_most: Option<Duration>) -> Woken {
        self.wait_as(ASLEEP, at_most)
    }

    /// The same on a processor that this thread shares with the ringer: who rings then sleeps until
    /// this thread waits again or calls [`Bell::go_on`], but not for long.
    pub fn wait_to_be_first(&self, at_most: Option<Duration>) -> Woken {
        self.wait_as(ASLEEP_FIRST, at_most)
    }

    /// Lets a ringer that gives way go on.
    #[inline]
    pub fn go_on(&self) {
        if self.gives_way.load(Ordering::Acquire) != 0 {
            self.gives_way.store(0, Ordering::Release);
            let _ = futex::wake(&self.gives_way, futex::Flags::PRIVATE, 1);
        }
    }

    fn wait_as(&self, sleep: u32, at_most: Option<Duration>) -> Woken {
        self.go_on();
        let asleep = self
            .state
            .compare_exchange(QUIET, sleep, Ordering::AcqRel, Ordering::Acquire);
        if asleep.is_err() {
            return Woken::Rung;
        }
        let timeout = at_most.map(|time| Timespec {
            tv_sec: time.as_secs().min(i64::MAX as u64) as i64,
            tv_nsec: time.subsec_nanos().into(),
        });
        let waited = futex::wait(&self.state, futex::Flags::PRIVATE, sleep, timeout.as_ref());
        let was = self.state.swap(QUIET, Ordering::AcqRel);
        match waited {
            Err(Errno::INTR | Errno::TIMEDOUT) if was != RUNG => Woken::Otherwise,
            _ => Woken::Rung,
        }
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let is_asked = self.state.load(Ordering::Acquire) == ASLEEP_FIRST;
        if is_asked {
            // Before the other one can run and call `go_on`.
            self.gives_way.store(1, Ordering::Release);
        }
        let was = self.state.swap(RUNG, Ordering::AcqRel);
        if was == ASLEEP || was == ASLEEP_FIRST {
            // It fails only for a bad address.
            let _ = futex::wake(&self.state, futex::Flags::PRIVATE, 1);
            if is_asked {
                let flags = futex::Flags::PRIVATE;
                let _ = futex::wait(&self.gives_way, flags, 1, Some(&GIVEN_WAY));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bell_rung_before_the_wait_ends_it_at_once() {
        let (bell, waker) = Bell::new();
        waker.wake_by_ref();
        assert_eq!(bell.wait(None), Woken::Rung);
    }

    #[test]
    fn a_bell_rung_by_another_thread_wakes() {
        let (bell, waker) = Bell::new();
        bell.hush();
        let ringer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            waker.wake();
        });
        assert_eq!(bell.wait(Some(Duration::from_secs(30))), Woken::Rung);
        ringer.join().unwrap();
    }

    #[test]
    fn a_bell_that_nobody_rings_is_waited_for_only_so_long() {
        let (bell, _waker) = Bell::new();
        assert_eq!(bell.wait(Some(Duration::from_millis(5))), Woken::Otherwise);
        // And the next ringing is heard.
        _waker.wake_by_ref();
        assert_eq!(bell.wait(None), Woken::Rung);
    }

    fn ring_when_asked(bell: &Arc<Bell>, waker: Waker) -> std::thread::JoinHandle<()> {
        let bell = Arc::clone(bell);
        std::thread::spawn(move || {
            while bell.state.load(Ordering::Acquire) != ASLEEP_FIRST {
                std::thread::yield_now();
            }
            waker.wake();
        })
    }

    #[test]
    fn a_ringer_that_is_asked_to_gives_way_until_it_may_go_on() {
        let (bell, waker) = Bell::new();
        bell.hush();
        let ringer = ring_when_asked(&bell, waker);
        let long = Some(Duration::from_secs(30));
        assert_eq!(bell.wait_to_be_first(long), Woken::Rung);
        assert_eq!(bell.gives_way.load(Ordering::Acquire), 1);
        bell.go_on();
        assert_eq!(bell.gives_way.load(Ordering::Acquire), 0);
        ringer.join().unwrap();
    }

    #[test]
    fn a_ringer_that_is_forgotten_goes_on_by_itself() {
        let (bell, waker) = Bell::new();
        bell.hush();
        let ringer = ring_when_asked(&bell, waker);
        let long = Some(Duration::from_secs(30));
        assert_eq!(bell.wait_to_be_first(long), Woken::Rung);
        ringer.join().unwrap();
    }
}
