//! Figures of the rows of the last fraction of a second, for a display while a point is measured. The caller's thread
//! computes them from rows that wait in the ring and leaves them there: the measuring thread does nothing for it.

use crate::ring::Drain;
use std::time::Duration;

/// What the rows of one slice of a point amount to.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// Its end, since the point began.
    pub end: Duration,
    /// Its figures by name: `median` and `max` (ns), and `failed`; of a stream `in` and `out` (bytes per second).
    pub figures: Vec<(&'static str, f64)>,
}

/// When the next slice is due.
#[derive(Clone, Copy, Debug)]
pub struct Slices {
    every: Option<Duration>,
    begun: Duration,
}

impl Slices {
    /// For a point that begins: a slice every so often, or none.
    pub fn new(every: Option<Duration>) -> Slices {
        Slices {
            every,
            begun: Duration::ZERO,
        }
    }

    /// True if there are any.
    pub fn are_shown(&self) -> bool {
        self.every.is_some()
    }

    /// Ends a slice if it is due; gives its length.
    pub fn end(&mut self, elapsed: Duration) -> Option<Duration> {
        let length = elapsed.saturating_sub(self.begun);
        if length < self.every? || length.is_zero() {
            return None;
        }
        self.begun = elapsed;
        Some(length)
    }
}

/// Which rows of a ring have been seen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen(usize);

impl Seen {
    /// Shows `see` each row that it has not seen, and leaves them in the ring.
    pub fn rest<T>(&mut self, drain: &mut Drain<T>, see: impl FnMut(&T)) {
        self.0 += drain.peek(self.0, see);
    }

    /// So many rows left the ring.
    pub fn left(&mut self, rows: u64) {
        self.0 = self
            .0
            .saturating_sub(usize::try_from(rows).unwrap_or(usize::MAX));
    }
}

/// Times of one slice, and how many rows had none.
#[derive(Debug, Default)]
pub struct Times {
    times_ns: Vec<u64>,
    failed: u64,
}

impl Times {
    /// A row that took so long.
    pub fn push(&mut self, time_ns: u64) {
        self.times_ns.push(time_ns);
    }

    /// A row without a time.
    pub fn fail(&mut self) {
        self.failed += 1;
    }

    /// The figures of these rows, which are forgotten; `None` if there were none.
    pub fn take(&mut self) -> Option<Vec<(&'static str, f64)>> {
        if self.times_ns.is_empty() && self.failed == 0 {
            return None;
        }
        let mut figures = vec![("failed", self.failed as f64)];
        if let Some(&max) = self.times_ns.iter().max() {
            let middle = self.times_ns.len() / 2;
            let (_, median, _) = self.times_ns.select_nth_unstable(middle);
            figures.push(("median", *median as f64));
            figures.push(("max", max as f64));
        }
        self.times_ns.clear();
        self.failed = 0;
        Some(figures)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring;

    #[test]
    fn every_row_is_seen_once_and_stays_until_it_is_taken() {
        let (mut log, mut drain) = ring::ring(8);
        let (mut seen, mut shown, mut taken) = (Seen::default(), Vec::new(), Vec::new());
        let mut pushed = 100;
        for row in 0..100_u64 {
            log.push(row);
            if row % 3 == 0 {
                seen.rest(&mut drain, |&row| shown.push(row));
            }
            if drain.is_pressing() {
                let waiting = drain.waiting();
                seen.rest(&mut drain, |&row| shown.push(row));
                // One that comes meanwhile.
                log.push(1000 + row);
                pushed += 1;
                let rows = drain.take_oldest(waiting, |&row| {
                    taken.push(row);
                    Ok::<(), ()>(())
                });
                seen.left(rows.expect("it does not fail"));
            }
        }
        seen.rest(&mut drain, |&row| shown.push(row));
        assert_eq!(drain.waiting() + taken.len(), pushed);
        assert_eq!(shown.len(), pushed);
        assert_eq!(taken, shown[..taken.len()]);
    }

    #[test]
    fn a_slice_ends_when_it_is_due() {
        let ms = Duration::from_millis;
        let mut slices = Slices::new(Some(ms(200)));
        assert_eq!(slices.end(ms(150)), None);
        assert_eq!(slices.end(ms(210)), Some(ms(210)));
        assert_eq!(slices.end(ms(400)), None);
        assert_eq!(slices.end(ms(410)), Some(ms(200)));
        assert_eq!(Slices::new(None).end(ms(900)), None);
    }

    #[test]
    fn figures_are_of_the_rows_since_the_last_ones() {
        let mut times = Times::default();
        assert_eq!(times.take(), None);
        for time in [5, 1, 9, 3, 7] {
            times.push(time);
        }
        times.fail();
        let expected = vec![("failed", 1.0), ("median", 5.0), ("max", 9.0)];
        assert_eq!(times.take(), Some(expected));
        times.fail();
        assert_eq!(times.take(), Some(vec![("failed", 1.0)]));
        assert_eq!(times.take(), None);
    }
}
