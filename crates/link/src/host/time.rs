//! The clock that a loop reads, so that its tests can have one of their own.

use super::clock::Clock;

/// A clock that starts at zero.
pub trait Time {
    /// Nanoseconds since its start.
    fn now(&self) -> u64;

    /// Sleeps until it reads `at_ns`; may return early on a signal.
    fn sleep_until(&self, at_ns: u64);
}

impl Time for Clock {
    #[inline]
    fn now(&self) -> u64 {
        Clock::now(self)
    }

    fn sleep_until(&self, at_ns: u64) {
        Clock::sleep_until(self, at_ns);
    }
}
