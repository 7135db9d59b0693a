//! The real-time clock, by which the kernel stamps URBs and packets, against the monotonic one.

use super::platform::{monotonic_ns, real_time_ns};

/// A change of the offset between the clocks beyond this is a step of the real-time clock. Both
/// clocks are steered alike otherwise (clock_gettime(2)).
const STEP_NS: i64 = 20_000;

/// CLOCK_REALTIME less CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug)]
pub struct Offset {
    /// Nanoseconds.
    pub ns: i64,
    /// It may be wrong by so many nanoseconds.
    pub uncertain_ns: i64,
}

impl Offset {
    /// Reads one clock between two readings of the other, a few times; the closest bracket counts.
    pub fn read() -> Offset {
        let once = || {
            let before = monotonic_ns() as i64;
            let real = real_time_ns();
            let after = monotonic_ns() as i64;
            Offset {
                ns: real - (before + (after - before) / 2),
                uncertain_ns: (after - before) / 2 + 1,
            }
        };
        let mut best = once();
        for _ in 0..7 {
            let next = once();
            if next.uncertain_ns < best.uncertain_ns {
                best = next;
            }
        }
        best
    }

    /// True if the real-time clock was set between the two readings.
    pub fn is_step_from(&self, before: &Offset) -> bool {
        let uncertain_ns = self.uncertain_ns + before.uncertain_ns;
        (self.ns - before.ns).abs() > STEP_NS + uncertain_ns
    }

    /// What CLOCK_MONOTONIC read when CLOCK_REALTIME read `real_ns`.
    pub fn monotonic_ns(&self, real_ns: u64) -> u64 {
        (real_ns as i64 - self.ns).max(0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_uncertain_readings_that_may_be_of_the_same_offset_are_no_step() {
        let reading = |ns, uncertain_ns| Offset { ns, uncertain_ns };
        let before = reading(1_000_000, 100);
        assert!(reading(1_030_000, 100).is_step_from(&before));
        assert!(!reading(1_030_000, 40_000).is_step_from(&before));
        assert!(reading(900_000, 40_000).is_step_from(&before));
    }

    #[test]
    fn the_offset_between_the_clocks_stays_the_same_while_nobody_sets_one() {
        let (first, second) = (Offset::read(), Offset::read());
        assert!(!second.is_step_from(&first), "{first:?} {second:?}");
    }
}
