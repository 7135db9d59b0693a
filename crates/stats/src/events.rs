//! Rare events in a time series, such as lost exchanges: their share, and how sure it is. One stall that
//! loses a hundred exchanges in a row is one event, not a hundred.

use crate::clusters;
use crate::series::Series;
use crate::types::{Confidence, Estimate};

/// Positions kept to find clusters; of more, the dependence of the series is known well enough.
const KEPT: usize = 1 << 14;

/// What happened and what did not, in time order.
///
/// ```
/// use wiregauge_stats::{Confidence, Events};
///
/// let mut lost = Events::with_exact_limit(1 << 20);
/// (0..10_000).for_each(|n| lost.push((400..500).contains(&n)));
/// // A hundred in a row are one event, so hardly more is known than that it can happen.
/// let share = lost.share(1.0, Confidence::NINETY_FIVE).expect("not empty");
/// assert!(share.low < Some(0.001) && share.high > Some(0.03), "{share:?}");
/// ```
#[derive(Clone, Debug)]
pub struct Events {
    /// 0 where it happened, 1 where it did not.
    series: Series,
    positions: Vec<u64>,
    happened: u64,
}

impl Events {
    /// None yet; the dependence of so many is found exactly.
    pub fn with_exact_limit(limit: usize) -> Events {
        Events {
            series: Series::with_exact_limit(limit),
            positions: Vec::new(),
            happened: 0,
        }
    }

    /// Takes the next one.
    pub fn push(&mut self, happened: bool) {
        if happened {
            if self.positions.len() < KEPT {
                self.positions.push(self.series.len());
            }
            self.happened += 1;
        }
        self.series.push((!happened).into());
    }

    /// How many happened.
    pub fn happened(&self) -> u64 {
        self.happened
    }

    /// How many of those that happened are worth one independent event, as far as their distances show; at
    /// least 1. `None` if none happened: then another series of the same kind may know.
    pub fn per_event(&self) -> Option<f64> {
        let kept = self.positions.len();
        if kept == 0 {
            return None;
        }
        let runs = self.positions.chunk_by(|a, b| a + 1 == *b);
        let squares: usize = runs.map(|run| run.len() * run.len()).sum();
        let in_a_row = squares as f64 / kept as f64;
        let close = kept as f64 / clusters::independent(&self.positions);
        Some(in_a_row.max(close).max(1.0))
    }

    /// The share that happened, where at least `per_event` of them are one event; `None` when empty. No
    /// bounds below 50 independent values.
    pub fn share(&self, per_event: f64, confidence: Confidence) -> Option<Estimate> {
        let per_event = per_event.max(self.per_event().unwrap_or(1.0));
        let reading = self.series.read()?;
        Some(reading.rare_share_below(1, per_event, confidence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(happened: impl Iterator<Item = bool>) -> Events {
        let mut events = Events::with_exact_limit(1 << 16);
        happened.for_each(|happened| events.push(happened));
        events
    }

    #[test]
    fn a_row_is_one_event_and_single_ones_are_one_each() {
        let row = of((0..1000).map(|n| (100..120).contains(&n)));
        assert_eq!((row.happened(), row.per_event()), (20, Some(20.0)));
        let two = of((0..1000).map(|n| n == 5 || n == 6));
        assert_eq!(two.per_event(), Some(2.0));
        let single = of((0..1000).map(|n| n % 100 == 7));
        assert_eq!(single.per_event(), Some(1.0));
        assert_eq!(of((0..1000).map(|_| false)).per_event(), None);
    }

    #[test]
    fn what_never_happened_is_bounded_by_the_size_of_an_event() {
        let none = of((0..10_000).map(|_| false));
        let share = |per_event| {
            let share = none.share(per_event, Confidence::NINETY_FIVE);
            share.expect("not empty")
        };
        let high = |per_event| share(per_event).high.expect("a bound");
        assert!((high(1.0) * 1e4 - 3.69).abs() < 0.05, "{}", high(1.0));
        assert!((high(10.0) / high(1.0) - 10.0).abs() < 0.1);
        // 100 of 10,000 in an event leave a hundred events' worth; 1,000 leave too few.
        let many = share(1000.0);
        assert_eq!((many.low, many.high), (None, None));
    }
}
