//! The buffer that a device needs at a constant rate, from the completions of a stream: what has
//! piled up (or is missing) while the host did not look. docs/statistics.md has the formula.

use crate::interval::smallest_share;
use crate::level::{BYTE, Level};
use crate::series::Series;
use crate::tail::Tail;
use crate::types::{Confidence, Estimate};

/// Levels held exactly, 2 MiB: there is one series for each rate and way.
const EXACT: usize = 1 << 18;

/// Levels enter the statistics in thousandths of a byte, so that slow rates are not all steps.
const MILLI: f64 = 1e3;

/// An extrapolation is not believed further than so many times the worst that was seen: it then says
/// of the tail only that it is heavy.
const REACH: f64 = 30.0;

/// Independent busy periods that must exceed a level where they have several transfers each: their sizes
/// differ, so that few of them tell little of the next.
const FEWEST_BUSY: f64 = 30.0;

/// Follows the buffer of a device through the completions of one way of a stream, in time order.
/// [`Level`] is what it follows; this keeps every level found, for a loss probability.
#[derive(Clone, Debug)]
pub struct Backlog {
    level: Level,
    seen: Series,
    tail: Tail,
    /// Times that the buffer ran empty: what lies between two of them is one event.
    emptied: u64,
}

/// What a device needs, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Buffer {
    /// False if the completed transfers carried less than the rate: the level then grows without
    /// bound, and no buffer is large enough for a longer run.
    pub sustained: bool,
    /// The highest level of this run, rounded up.
    pub worst_bytes: u64,
    /// The level that only the stated share of the transfers exceeds; `None` if it is not known.
    pub for_loss: Option<Estimate>,
    /// True if `for_loss` reaches beyond what was observed, at most to 30 times the worst.
    pub extrapolated: bool,
    /// The smallest loss probability that these transfers can vouch for by themselves.
    pub observable_loss: f64,
}

impl Backlog {
    /// An empty buffer at this rate.
    pub fn new(rate_bytes_s: u64) -> Backlog {
        Backlog {
            level: Level::new(rate_bytes_s),
            seen: Series::with_exact_limit(EXACT),
            tail: Tail::default(),
            emptied: 0,
        }
    }

    /// Begins at a completion that left the buffer empty.
    pub fn begin(&mut self, at_ns: u64) {
        *self = Backlog::new(self.level.rate_bytes_s());
        self.level.begin(at_ns);
    }

    /// A completed transfer of so many bytes. The first one begins, if nothing has. May allocate;
    /// see [`Series::push`].
    pub fn complete(&mut self, at_ns: u64, bytes: u64) {
        let Some(found) = self.level.complete(at_ns, bytes) else {
            return;
        };
        let milli = u64::try_from(found / (BYTE / 1000)).unwrap_or(u64::MAX);
        self.seen.push(milli);
        self.tail.push(milli, self.emptied);
        self.emptied += u64::from(self.level.is_empty());
    }

    /// Time passes without a completion.
    pub fn wait(&mut self, until_ns: u64) {
        self.level.wait(until_ns);
    }

    /// The buffer that the run called for, and the one for a loss probability: the part of the
    /// transfers that may find more than that.
    pub fn need(&self, loss: f64) -> Buffer {
        self.need_at(loss, Confidence::NINETY_FIVE)
    }

    /// The same with another confidence than 95 %; `observable_loss` stays at that.
    pub fn need_at(&self, loss: f64, sure: Confidence) -> Buffer {
        let sustained = self.level.is_sustained();
        let peaks = self.tail.peaks();
        let (seen, independent) = match self.seen.upper_tail(loss, peaks.together(loss), sure) {
            Some((quantile, independent)) if sustained => (Some(quantile), independent),
            _ => (None, 0.0),
        };
        let busy = match peaks.is_clustered(loss) {
            true => FEWEST_BUSY / independent.max(FEWEST_BUSY),
            false => 0.0,
        };
        let seen = seen.filter(|quantile| quantile.high.is_some() && loss >= busy);
        let worst = self.level.worst_bytes() * MILLI;
        let beyond = || {
            let share = peaks.fitted_share();
            if self.seen.read()?.wanders_at(share) {
                return None;
            }
            let (_, independent) = self.seen.upper_tail(share, 1.0, sure)?;
            let found = peaks.beyond(loss, self.seen.len() as f64 / independent, sure)?;
            (found.value <= REACH * worst).then_some(found)
        };
        let beyond = if seen.is_none() && sustained {
            beyond()
        } else {
            None
        };
        let bytes = |milli: f64| milli / MILLI;
        Buffer {
            sustained,
            worst_bytes: self.level.worst_bytes_up(),
            for_loss: seen.or(beyond).map(|quantile| Estimate {
                value: bytes(quantile.value),
                low: quantile.low.map(bytes),
                high: quantile.high.map(bytes),
            }),
            extrapolated: beyond.is_some(),
            observable_loss: smallest_share(independent).max(busy),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Completions of a stream, from 0.
    fn of(rate_bytes_s: u64, completions: &[(u64, u64)]) -> Backlog {
        let mut backlog = Backlog::new(rate_bytes_s);
        backlog.begin(0);
        for &(at_ns, bytes) in completions {
            backlog.complete(at_ns, bytes);
        }
        backlog
    }

    #[test]
    fn one_gap_needs_rate_times_gap() {
        let mut completions: Vec<(u64, u64)> = (1..=10).map(|i| (i * 100_000, 16_384)).collect();
        completions.push((2_300_000, 65_536));
        let need = of(24_000_000, &completions).need(0.01);
        assert!(need.sustained);
        assert_eq!(need.worst_bytes, 31_200, "24 MB/s for 1.3 ms");
    }

    #[test]
    fn what_one_transfer_leaves_is_added_to_the_next_gap() {
        // 1 B a us. 3000 B pile up, 1000 go; 1500 more make 3500, 4000 go; 200 more.
        let ends_us = [(3000, 1000), (4500, 4000), (4700, 500), (4701, 0)];
        let ends = ends_us.map(|(at_us, bytes)| (at_us * 1000, bytes));
        let backlog = of(1_000_000, &ends);
        assert_eq!(backlog.need(0.5).worst_bytes, 3500);
        let now = backlog.level.level_bytes();
        assert_eq!(now, 1.0, "the last transfer carried nothing");
    }

    #[test]
    fn a_rate_above_the_links_is_not_sustained_and_grows_with_the_run() {
        let need = |transfers: u64| {
            let completions: Vec<_> = (1..=transfers).map(|i| (i * 1_000_000, 1000)).collect();
            of(1_100_000, &completions).need(0.01)
        };
        assert!(!need(100).sustained);
        assert_eq!(need(100).worst_bytes, 99 * 100 + 1100);
        assert_eq!(need(1000).worst_bytes, 999 * 100 + 1100);
        assert_eq!(need(1000).for_loss, None);
        let completions: Vec<_> = (1..=100).map(|i| (i * 1_000_000, 1000)).collect();
        assert!(of(1_000_000, &completions).need(0.01).sustained);
        // A source that makes just that, whose last transfer is not complete or whose clock is 50 ppm slow.
        let slow = |late_ns: u64, ppm: u64| {
            let at = |i: u64| i * 1_000_000 + late_ns + i * ppm;
            let completions: Vec<_> = (1..=100_000).map(|i| (at(i), 1000)).collect();
            of(1_000_000, &completions).need(0.01).sustained
        };
        assert!(slow(900_000, 0) && slow(0, 50) && !slow(0, 200));
    }

    #[test]
    fn a_link_that_fell_silent_is_the_worst_gap() {
        let mut backlog = of(1_000_000, &[(1000, 1_000_000)]);
        backlog.wait(5_001_000);
        assert_eq!(backlog.need(0.1).worst_bytes, 5000);
    }

    #[test]
    fn the_loss_quantile_is_that_of_the_levels_and_too_few_give_none() {
        // Every tenth gap is 10 ms, the others 1 ms; each transfer takes everything.
        let run = |transfers: u64| {
            let mut at_ns = 0;
            let mut completions = Vec::new();
            for i in 0..transfers {
                at_ns += if i % 10 == 0 { 10_000_000 } else { 1_000_000 };
                completions.push((at_ns, 1_000_000));
            }
            of(1_000_000, &completions)
        };
        let need = run(100_000).need(0.2);
        assert_eq!(need.for_loss.expect("20 % is seen often").value, 1000.0);
        let need = run(100_000).need(0.05);
        assert_eq!(need.for_loss.expect("5 % is seen often").value, 10_000.0);
        let few = run(20).need(0.01);
        assert_eq!((few.for_loss, few.worst_bytes), (None, 10_000));
        assert!(few.observable_loss > 0.1, "{few:?}");
        assert!(run(100_000).need(0.01).observable_loss < 0.01);
    }

    #[test]
    fn an_extrapolation_far_beyond_the_worst_gap_is_not_reported() {
        // Pareto gaps whose mean does not exist: the larger the question, the larger the answer.
        let mut random = 0.5_f64;
        let mut at_ns = 0;
        let mut completions = Vec::new();
        for _ in 0..20_000 {
            random = (random * 16_807.0 + 0.123_456_789).fract();
            at_ns += (1_000.0 / random.max(1e-6)) as u64;
            completions.push((at_ns, 1_000_000_000));
        }
        let backlog = of(1_000_000, &completions);
        assert!(backlog.need(1e-5).for_loss.is_some());
        assert_eq!(backlog.need(1e-9).for_loss, None);
    }

    #[test]
    fn nothing_measured_needs_nothing() {
        let need = Backlog::new(1).need(0.5);
        let found = (need.worst_bytes, need.for_loss, need.observable_loss);
        assert_eq!(found, (0, None, 1.0));
    }
}
