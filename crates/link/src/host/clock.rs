//! The host's monotonic clock, read without a system call where the kernel maps it (vdso(7)).

use rustix::thread::ClockId;
use rustix::time::{Timespec, clock_gettime};

/// A clock that starts at zero.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    zero_ns: u64,
}

impl Clock {
    /// A clock that reads zero now.
    pub fn start() -> Clock {
        Clock {
            zero_ns: monotonic_ns(),
        }
    }

    /// A clock that read zero when CLOCK_MONOTONIC read `zero_ns`.
    pub fn from(zero_ns: u64) -> Clock {
        Clock { zero_ns }
    }

    /// Nanoseconds since its start.
    #[inline]
    pub fn now(&self) -> u64 {
        monotonic_ns() - self.zero_ns
    }

    /// What CLOCK_MONOTONIC read when this clock read zero.
    pub fn zero_ns(&self) -> u64 {
        self.zero_ns
    }

    /// Sleeps until it reads `at_ns`; returns early on a signal.
    pub fn sleep_until(&self, at_ns: u64) {
        sleep_until(self.zero_ns + at_ns);
    }
}

#[inline]
fn monotonic_ns() -> u64 {
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

/// Processor time in nanoseconds that the calling thread has used. Costs a system call.
pub fn thread_cpu_ns() -> u64 {
    let used = clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    used.tv_sec as u64 * 1_000_000_000 + used.tv_nsec as u64
}
