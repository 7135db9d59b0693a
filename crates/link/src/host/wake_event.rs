//! By which a helper thread wakes one that waits. Unlike a parked thread, the waiting one is also
//! woken by a signal (so it needs no timer), and nothing but an atomic is touched while it is awake.

use super::platform::futex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Wake, Waker};
use std::time::Duration;

const QUIET: u32 = 0;
const SET: u32 = 1;
const ASLEEP: u32 = 2;

/// What ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// The event was set.
    Set,
    /// A signal, or the time was over.
    Otherwise,
}

/// An event. One thread waits for it at a time.
#[derive(Default)]
pub struct WakeEvent {
    state: AtomicU32,
}

impl WakeEvent {
    /// An event, and the waker that sets it.
    pub fn new() -> (Arc<WakeEvent>, Waker) {
        let wake_event = Arc::new(WakeEvent::default());
        let waker = Waker::from(Arc::clone(&wake_event));
        (wake_event, waker)
    }

    /// Forgets an earlier ringing. Called before looking whether there is something to wait for.
    ///
    /// A swap, because the look that follows could overtake a plain store: then a ringing in between would be
    /// forgotten although nothing was seen of what it was for.
    #[inline]
    pub fn clear(&self) {
        self.state.swap(QUIET, Ordering::AcqRel);
    }

    /// Sleeps until the event is set, a signal comes, or (with a bound) the time is over. Where the system has no
    /// signals, a wait without a bound ends now and then.
    pub fn wait(&self, at_most: Option<Duration>) -> Woken {
        let asleep =
            self.state
                .compare_exchange(QUIET, ASLEEP, Ordering::AcqRel, Ordering::Acquire);
        if asleep.is_err() {
            return Woken::Set;
        }
        let woken = futex::wait(&self.state, ASLEEP, at_most);
        let was = self.state.swap(QUIET, Ordering::AcqRel);
        match woken || was == SET {
            true => Woken::Set,
            false => Woken::Otherwise,
        }
    }
}

impl Wake for WakeEvent {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.swap(SET, Ordering::AcqRel) == ASLEEP {
            futex::wake(&self.state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_set_before_the_wait_ends_it_at_once() {
        let (wake_event, waker) = WakeEvent::new();
        waker.wake_by_ref();
        assert_eq!(wake_event.wait(None), Woken::Set);
    }

    #[test]
    fn an_event_set_by_another_thread_wakes() {
        let (wake_event, waker) = WakeEvent::new();
        wake_event.clear();
        let setter = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            waker.wake();
        });
        assert_eq!(wake_event.wait(Some(Duration::from_secs(30))), Woken::Set);
        setter.join().unwrap();
    }

    #[test]
    fn a_wait_for_an_event_that_is_never_set_is_bounded() {
        let (wake_event, _waker) = WakeEvent::new();
        let woken = wake_event.wait(Some(Duration::from_millis(5)));
        assert_eq!(woken, Woken::Otherwise);
        // And the next ringing is heard.
        _waker.wake_by_ref();
        assert_eq!(wake_event.wait(None), Woken::Set);
    }
}
