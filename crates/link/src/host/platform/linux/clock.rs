//! Sleeping by the host's monotonic clock.

use rustix::thread::ClockId;
use rustix::time::Timespec;

/// Sleeps until the monotonic clock reads `at_ns`; returns early on a signal.
pub fn sleep_until(at_ns: u64) {
    let at = Timespec {
        tv_sec: (at_ns / 1_000_000_000) as i64,
        tv_nsec: (at_ns % 1_000_000_000) as i64,
    };
    let _ = rustix::thread::clock_nanosleep_absolute(ClockId::Monotonic, &at);
}

/// Nanoseconds between two readings that can differ (clock_getres(2)).
pub fn clock_resolution_ns() -> u64 {
    let step = rustix::time::clock_getres(rustix::time::ClockId::Monotonic);
    step.tv_sec as u64 * 1_000_000_000 + step.tv_nsec as u64
}
