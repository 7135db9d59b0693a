//! The clocks of POSIX, read without a system call where the kernel maps them (vdso(7)).

use rustix::time::{ClockId, clock_gettime};

/// By how much a wait for bytes may end later than a sleep: poll(2) is as exact.
pub const COARSEST_WAIT_NS: u64 = 0;

/// CLOCK_REALTIME in nanoseconds since 1970.
#[inline]
pub fn real_time_ns() -> i64 {
    let now = clock_gettime(ClockId::Realtime);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// Processor time in nanoseconds that the calling thread has used. Costs a system call.
pub fn thread_cpu_ns() -> u64 {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    used.tv_sec as u64 * 1_000_000_000 + used.tv_nsec as u64
}
