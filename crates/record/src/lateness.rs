//! Whether a schedule was kept, from the starts alone: which began late, and whether the lateness grew to the end.

use serde::{Deserialize, Serialize};

/// At most so many blocks of starts; each is as long as any other.
const MOST_BLOCKS: usize = 64;

/// Parts of the point that are compared.
const PARTS: usize = 8;

/// How late the exchanges of a point began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lateness {
    /// Exchanges that began more than a period late.
    pub late: u64,
    /// How late the last one began, in nanoseconds.
    pub end_ns: u64,
    /// True where the least lateness of each of the last four eighths of the point exceeds that of the one before, and
    /// in the last one every start is more than a period late.
    pub grows: bool,
}

/// What became of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// Every exchange began within a period of its intended start.
    Kept,
    /// Some began later, but the last one did not.
    LateStarts,
    /// The last one began more than a period late; whether the lateness grew is not shown.
    LateAtEnd,
    /// The lateness grew to the end.
    FallsBehind,
}

impl Lateness {
    /// What became of a schedule with this period.
    pub fn keeping(self, period_ns: u64) -> Keeping {
        match self {
            Lateness { grows: true, .. } => Keeping::FallsBehind,
            Lateness { end_ns, .. } if end_ns > period_ns => Keeping::LateAtEnd,
            Lateness { late: 0, .. } => Keeping::Kept,
            Lateness { .. } => Keeping::LateStarts,
        }
    }
}

/// Counts late starts in memory that does not grow.
#[derive(Clone, Debug)]
pub(crate) struct LatenessCounter {
    period_ns: u64,
    late: u64,
    /// The highest sequence number, and how late it began.
    last: Option<(u64, u64)>,
    /// The least lateness of each block, in the order in which the exchanges ended.
    least_ns: Vec<u64>,
    /// Starts of a block, and those in the last one.
    size: u64,
    filled: u64,
}

impl LatenessCounter {
    pub(crate) fn new(period_ns: u64) -> LatenessCounter {
        LatenessCounter {
            period_ns,
            late: 0,
            last: None,
            least_ns: Vec::with_capacity(MOST_BLOCKS + 1),
            size: 1,
            filled: 1,
        }
    }

    pub(crate) fn push(&mut self, sequence: u64, delay_ns: u64) {
        self.late += u64::from(delay_ns > self.period_ns);
        if self.last.is_none_or(|(last, _)| last < sequence) {
            self.last = Some((sequence, delay_ns));
        }
        match self.least_ns.last_mut() {
            Some(least_ns) if self.filled < self.size => {
                *least_ns = delay_ns.min(*least_ns);
                self.filled += 1;
            }
            _ => {
                self.least_ns.push(delay_ns);
                self.filled = 1;
            }
        }
        if self.least_ns.len() > MOST_BLOCKS {
            // The last block has one start; it becomes the first of a block that is twice as long.
            let pairs = self.least_ns.chunks(2);
            self.least_ns = pairs
                .filter_map(|pair| pair.iter().copied().min())
                .collect();
            self.least_ns.reserve(MOST_BLOCKS);
            self.size *= 2;
        }
    }

    pub(crate) fn finish(self) -> Option<Lateness> {
        let (_, end_ns) = self.last?;
        let blocks = self.least_ns.len();
        let part = |at: usize| {
            let all = &self.least_ns[at * blocks / PARTS..(at + 1) * blocks / PARTS];
            all.iter().copied().min().unwrap_or(0)
        };
        let half: Vec<u64> = (PARTS / 2..PARTS).map(part).collect();
        Some(Lateness {
            late: self.late,
            end_ns,
            grows: blocks >= PARTS
                && half.is_sorted_by(|before, after| before < after)
                && half.last().is_some_and(|&last| last > self.period_ns),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD_NS: u64 = 1_000;

    fn of(delays: impl IntoIterator<Item = u64>) -> (Lateness, Keeping) {
        let mut counter = LatenessCounter::new(PERIOD_NS);
        for (sequence, delay_ns) in (0..).zip(delays) {
            counter.push(sequence, delay_ns);
        }
        let found = counter.finish().unwrap();
        (found, found.keeping(PERIOD_NS))
    }

    #[test]
    fn a_schedule_whose_starts_are_within_a_period_is_kept() {
        let (found, keeping) = of((0..10_000).map(|at| at % 1_001));
        assert_eq!((found.late, keeping), (0, Keeping::Kept));
        assert!(LatenessCounter::new(PERIOD_NS).finish().is_none());
    }

    #[test]
    fn a_stall_that_is_made_up_for_leaves_late_starts_only() {
        let (found, keeping) = of((0..10_000).map(|at: u64| match at {
            7_000..7_100 => (7_100 - at) * 900,
            _ => 5,
        }));
        assert_eq!((found.late, found.end_ns), (99, 5));
        assert_eq!(keeping, Keeping::LateStarts);
    }

    #[test]
    fn lateness_that_grows_to_the_end_is_falling_behind_however_long_the_run() {
        for count in [8, 64, 65, 100, 1_000, 1_000_003] {
            let (found, keeping) = of((0..count).map(|at| at * 500));
            assert_eq!(keeping, Keeping::FallsBehind, "{count}: {found:?}");
            assert_eq!((found.late, found.end_ns), (count - 3, (count - 1) * 500));
        }
    }

    #[test]
    fn a_stall_at_the_end_or_a_few_starts_show_no_growth() {
        let (_, keeping) = of((0..1_000).map(|at: u64| at.saturating_sub(990) * 5_000));
        assert_eq!(keeping, Keeping::LateAtEnd);
        assert_eq!(of([0, 2_000, 4_000]).1, Keeping::LateAtEnd);
        // What shrinks again has not grown to the end.
        let (_, keeping) = of((0..1_000).map(|at: u64| (1_000 - at) * 1_000 + 2_000));
        assert_eq!(keeping, Keeping::LateAtEnd);
    }

    #[test]
    fn the_last_start_is_that_of_the_highest_number_whichever_ended_last() {
        let mut counter = LatenessCounter::new(PERIOD_NS);
        for (sequence, delay_ns) in [(3, 9_000), (5, 20), (4, 8_000)] {
            counter.push(sequence, delay_ns);
        }
        let found = counter.finish().unwrap();
        assert_eq!((found.late, found.end_ns), (2, 20));
    }
}
