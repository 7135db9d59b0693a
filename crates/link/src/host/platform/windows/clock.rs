//! The performance counter, which Windows reads from the processor's own where that is steady.

use std::sync::atomic::{AtomicU64, Ordering};
use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};
use windows_sys::Win32::System::SystemInformation::GetSystemTimePreciseAsFileTime;
use windows_sys::Win32::System::Threading::GetCurrentThread;

use super::thread::cpu_ns;

/// By how much a wait for bytes may end later than a sleep: it ends with a tick of the timer interrupt, 64 a second unless
/// a program asks for more.
pub const COARSEST_WAIT_NS: u64 = 16_000_000;

const SECOND_NS: u64 = 1_000_000_000;

/// Ticks of 100 ns between 1601, where a FILETIME begins, and 1970.
const UNIX_EPOCH: i64 = 116_444_736_000_000_000;

/// Ticks a second, which stay the same while the system runs; 0 until they are read.
static FREQUENCY: AtomicU64 = AtomicU64::new(0);

/// The performance counter in nanoseconds since the system started.
#[inline]
pub fn monotonic_ns() -> u64 {
    let mut ticks = 0;
    // SAFETY: the pointer is valid for the call, which does not fail since Windows XP.
    unsafe { QueryPerformanceCounter(&mut ticks) };
    nanoseconds(ticks.max(0) as u64, frequency())
}

#[inline]
fn nanoseconds(ticks: u64, frequency: u64) -> u64 {
    match SECOND_NS % frequency {
        // 10 MHz wherever the processor's own counter is steady.
        0 => ticks * (SECOND_NS / frequency),
        // In two steps: the product of both would overflow after half an hour.
        _ => ticks / frequency * SECOND_NS + ticks % frequency * SECOND_NS / frequency,
    }
}

#[inline]
fn frequency() -> u64 {
    match FREQUENCY.load(Ordering::Relaxed) {
        0 => read_frequency(),
        known => known,
    }
}

#[cold]
fn read_frequency() -> u64 {
    let mut frequency = 0;
    // SAFETY: the pointer is valid for the call, which does not fail since Windows XP.
    unsafe { QueryPerformanceFrequency(&mut frequency) };
    let frequency = u64::try_from(frequency).unwrap_or(1).max(1);
    FREQUENCY.store(frequency, Ordering::Relaxed);
    frequency
}

/// Nanoseconds of one tick of the performance counter, rounded up.
pub fn clock_resolution_ns() -> u64 {
    SECOND_NS.div_ceil(frequency())
}

/// The time of day in nanoseconds since 1970, in steps of 100 ns.
#[inline]
pub fn real_time_ns() -> i64 {
    let mut now = FILETIME::default();
    // SAFETY: the pointer is valid for the call.
    unsafe { GetSystemTimePreciseAsFileTime(&mut now) };
    let ticks = (i64::from(now.dwHighDateTime) << 32) | i64::from(now.dwLowDateTime);
    (ticks - UNIX_EPOCH) * 100
}

/// Processor time in nanoseconds that the calling thread has used. Costs a system call. Windows counts it in ticks of
/// its timer interrupt, 15.6 ms unless a program asked for shorter ones.
pub fn thread_cpu_ns() -> u64 {
    // SAFETY: it returns a constant that stands for the calling thread.
    cpu_ns(unsafe { GetCurrentThread() }).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_of_any_frequency_become_nanoseconds_without_overflow() {
        let year = 365 * 24 * 3600;
        for frequency in [1, 3_579_545, 10_000_000, 2_893_200_000_u64] {
            assert_eq!(nanoseconds(year * frequency, frequency), year * SECOND_NS);
            assert_eq!(nanoseconds(frequency, frequency), SECOND_NS);
        }
        assert_eq!(nanoseconds(1, 10_000_000), 100);
        assert_eq!(nanoseconds(1, 3_579_545), 279);
    }
}
