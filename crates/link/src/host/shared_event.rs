//! An event that may lie in memory which two processes share: by it the one wakes the other, as an
//! interrupt would. Nothing but an atomic is touched while the other is awake. Linux alone wakes a thread of another
//! process; elsewhere both sides must be threads of one process.

use super::platform::futex;
use std::sync::atomic::{AtomicU32, Ordering};

const QUIET: u32 = 0;
const SET: u32 = 1;
const ASLEEP: u32 = 2;

/// The event. All bytes zero: not set. One thread waits for it at a time.
#[derive(Default)]
#[repr(transparent)]
pub struct SharedEvent {
    state: AtomicU32,
}

impl SharedEvent {
    /// Forgets an earlier ringing. Called before looking whether there is something to wait for: what
    /// was done before the ringing that is forgotten is seen by that look.
    #[inline]
    pub fn clear(&self) {
        // A plain store could be overtaken by the look, and a ringing between the two would be lost.
        self.state.swap(QUIET, Ordering::AcqRel);
    }

    /// Sleeps until the event is set, a signal comes, or CLOCK_MONOTONIC reads `at_ns`.
    pub fn wait_until(&self, at_ns: u64) {
        let quiet = (QUIET, ASLEEP);
        let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
        let asleep = self
            .state
            .compare_exchange(quiet.0, quiet.1, acquire, relaxed);
        if asleep.is_err() {
            return;
        }
        futex::wait_shared_until(&self.state, ASLEEP, at_ns);
        self.state.swap(QUIET, Ordering::AcqRel);
    }

    /// Wakes whoever waits, or ends the next wait at once.
    #[inline]
    pub fn set(&self) {
        if self.state.swap(SET, Ordering::AcqRel) == ASLEEP {
            futex::wake_shared(&self.state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Clock;
    use std::time::Duration;

    fn in_ms(ms: u64) -> u64 {
        Clock::start().zero_ns() + ms * 1_000_000
    }

    #[test]
    fn a_ringing_before_the_wait_ends_it_at_once_and_is_forgotten_when_hushed() {
        let (event, clock) = (SharedEvent::default(), Clock::start());
        event.set();
        event.wait_until(in_ms(30_000));
        assert!(clock.now() < 30_000_000_000);
        event.set();
        event.clear();
        let until = in_ms(5);
        event.wait_until(until);
        assert!(Clock::from(until).zero_ns() <= Clock::start().zero_ns());
    }

    #[test]
    fn an_event_set_by_another_thread_wakes() {
        let (event, clock) = (SharedEvent::default(), Clock::start());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(20));
                event.set();
            });
            event.wait_until(in_ms(30_000));
        });
        assert!(clock.now() < 30_000_000_000);
    }
}
