//! The host's monotonic clock, read without a system call where the kernel allows it.

use super::platform::monotonic_ns;

pub use super::platform::{COARSEST_WAIT_NS, clock_resolution_ns, sleep_until, thread_cpu_ns};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timed_sleep_does_not_end_before_its_time() {
        let clock = Clock::start();
        for ms in [1, 3, 20] {
            let until = clock.now() + ms * 1_000_000;
            clock.sleep_until(until);
            let late = clock.now().checked_sub(until).expect("not early");
            assert!(late < 5_000_000_000, "{late} ns late");
        }
        // What is over already takes no sleep.
        clock.sleep_until(1);
    }

    #[test]
    fn the_clock_does_not_run_backwards_and_shows_its_resolution() {
        let clock = Clock::start();
        let mut before = clock.now();
        let mut smallest = u64::MAX;
        while before < 2_000_000 {
            let now = clock.now();
            assert!(now >= before);
            if now > before {
                smallest = smallest.min(now - before);
            }
            before = now;
        }
        let resolution = clock_resolution_ns();
        assert!((1..=20_000_000).contains(&resolution), "{resolution} ns");
        // Rounded to whole nanoseconds, two readings may be one closer.
        assert!(smallest + 1 >= resolution, "{smallest} < {resolution} ns");
    }

    #[test]
    fn processor_time_grows_with_work_and_not_with_sleep() {
        let before = thread_cpu_ns();
        let clock = Clock::start();
        // Longer than a tick of the systems that count in ticks.
        while clock.now() < 60_000_000 {
            std::hint::spin_loop();
        }
        assert!(thread_cpu_ns() > before);
    }
}
