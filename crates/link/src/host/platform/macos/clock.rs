//! The clock that counts while the system is awake; never run on macOS. CLOCK_MONOTONIC counts whole microseconds
//! there, this one the ticks of the hardware.

use std::time::Duration;

const SECOND_NS: u64 = 1_000_000_000;

/// CLOCK_UPTIME_RAW in nanoseconds.
#[inline]
pub fn monotonic_ns() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is valid for the call; this clock is always there.
    unsafe { libc::clock_gettime(libc::CLOCK_UPTIME_RAW, &mut now) };
    now.tv_sec as u64 * SECOND_NS + now.tv_nsec as u64
}

/// Sleeps until the clock reads `at_ns`; returns early on a signal.
pub fn sleep_until(at_ns: u64) {
    let left = Duration::from_nanos(at_ns.saturating_sub(monotonic_ns()));
    if left.is_zero() {
        return;
    }
    let left = libc::timespec {
        tv_sec: left.as_secs() as libc::time_t,
        tv_nsec: left.subsec_nanos().into(),
    };
    // SAFETY: the pointer is valid for the call, and nobody wants to know what a signal left of the time.
    unsafe { libc::nanosleep(&left, std::ptr::null_mut()) };
}

/// Nanoseconds between two readings that can differ.
pub fn clock_resolution_ns() -> u64 {
    let mut step = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is valid for the call; this clock is always there.
    unsafe { libc::clock_getres(libc::CLOCK_UPTIME_RAW, &mut step) };
    (step.tv_sec as u64 * SECOND_NS + step.tv_nsec as u64).max(1)
}
