//! The clock that a loop reads, so that its tests can have one of their own.

use super::clock::Clock;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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

/// A clock for tests in virtual time: only sleeps, `advance` and, where it says so, its own reads move it. A clone is the
/// same clock.
#[derive(Clone, Default)]
pub struct TestClock {
    ns: Arc<AtomicU64>,
    /// What a read of it takes; usually nothing.
    read_ns: u64,
    reads: Arc<AtomicU64>,
    /// How long this read takes.
    pause: Option<(u64, u64)>,
}

impl TestClock {
    /// A clock whose reads take this long: a loop that only reads it comes to an end.
    pub fn with_reads_of(read_ns: u64) -> TestClock {
        TestClock {
            read_ns,
            ..TestClock::default()
        }
    }

    /// A clock of a thread that does not run for so long at one of its reads; the first is 0.
    pub fn pausing_at(read: u64, pause_ns: u64) -> TestClock {
        TestClock {
            pause: Some((read, pause_ns)),
            ..TestClock::default()
        }
    }

    /// Lets time pass; returns the time afterwards.
    pub fn advance(&self, ns: u64) -> u64 {
        self.ns.fetch_add(ns, Ordering::Relaxed) + ns
    }
}

impl Time for TestClock {
    fn now(&self) -> u64 {
        let read = self.reads.fetch_add(1, Ordering::Relaxed);
        match self.pause {
            Some((at, pause_ns)) if at == read => self.advance(pause_ns),
            _ => self.advance(self.read_ns),
        }
    }

    fn sleep_until(&self, at_ns: u64) {
        self.ns.fetch_max(at_ns, Ordering::Relaxed);
    }
}
