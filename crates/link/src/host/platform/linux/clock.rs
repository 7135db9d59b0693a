//! The host's monotonic clock, read without a system call where the kernel maps it (vdso(7)).

use rustix::thread::ClockId;
use rustix::time::{Timespec, clock_getres, clock_gettime};

/// CLOCK_MONOTONIC in nanoseconds.
#[inline]
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

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
    let step = clock_getres(rustix::time::ClockId::Monotonic);
    step.tv_sec as u64 * 1_000_000_000 + step.tv_nsec as u64
}
