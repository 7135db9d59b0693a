//! The one door: samples go in in time order, statistics come out. Exact while that fits in memory,
//! streaming beyond.

use crate::distribution::{distribution, share_below, upper_tail};
use crate::exact::Exact;
use crate::modes;
use crate::quantization::Cell;
use crate::reading::Reading;
use crate::streaming::Streaming;
use crate::types::{Confidence, Distribution, Estimate, Mode, Share};

/// Values held exactly: 32 MiB.
const EXACT: usize = 1 << 22;

/// The fewest that `with_exact_limit` grants; 64 blocks of 16.
const FEWEST_EXACT: usize = 1024;

/// Samples in time order, in any unit.
///
/// Every value is held, 8 B each and allocated as they come, up to 4,194,304 (32 MiB, for an
/// instant 48 MiB while the last doubling copies). With the next value the series turns into a
/// streaming form of less than 700 KiB that no longer grows: mean, SD, minimum, maximum and max3
/// stay exact, percentiles and shares get a relative resolution of 1/1024, and confidence comes
/// from blocks of consecutive values. The turn takes some 0.1 s once.
///
/// Reading out copies the values and sorts them: another 8 B a value for that moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    limit: usize,
    form: Form,
}

#[derive(Clone, Debug, PartialEq)]
enum Form {
    Exact(Vec<u64>),
    Streaming(Box<Streaming>),
}

impl Default for Series {
    fn default() -> Series {
        Series::with_exact_limit(EXACT)
    }
}

impl Series {
    /// An empty series that holds up to 4,194,304 values exactly. Allocates nothing yet.
    pub fn new() -> Series {
        Series::default()
    }

    /// An empty series that holds fewer (or more) values exactly, for hosts with little memory; at
    /// least 1024. Blocks of the streaming form are 1/64 of it.
    pub fn with_exact_limit(limit: usize) -> Series {
        Series {
            limit: limit.max(FEWEST_EXACT),
            form: Form::Exact(Vec::new()),
        }
    }

    /// Takes the next value: a few ns while exact, some 20 ns while streaming. May allocate, and
    /// the value after the last exact one takes some 0.1 s: keep it out of a measuring loop.
    pub fn push(&mut self, value: u64) {
        match &mut self.form {
            Form::Exact(values) if values.len() < self.limit => values.push(value),
            Form::Exact(values) => {
                let mut streaming = Box::new(Streaming::new(values));
                streaming.push(value);
                self.form = Form::Streaming(streaming);
            }
            Form::Streaming(streaming) => streaming.push(value),
        }
    }

    /// Number of values taken.
    pub fn len(&self) -> u64 {
        match &self.form {
            Form::Exact(values) => values.len() as u64,
            Form::Streaming(streaming) => streaming.len(),
        }
    }

    /// Whether no value was taken.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Everything a table shows; `None` when empty. Under 1 ms for 10,000 values, under 1 s for the
    /// most that are held exactly, some milliseconds beyond.
    pub fn distribution(&self) -> Option<Distribution> {
        if self.is_empty() {
            return None;
        }
        Some(match &self.form {
            Form::Exact(values) => distribution(&Exact::new(values)),
            Form::Streaming(streaming) => distribution(&streaming.ranked()),
        })
    }

    /// The value that only this share of all exceeds, and how many independent values speak of it,
    /// where `together` of the largest are known to be worth one at best. Costs about as much as
    /// `distribution`; `None` when empty.
    pub(crate) fn upper_tail(
        &self,
        share: f64,
        together: f64,
        sure: Confidence,
    ) -> Option<(Estimate, f64)> {
        if self.is_empty() {
            return None;
        }
        Some(match &self.form {
            Form::Exact(values) => upper_tail(&Exact::new(values), share, together, sure),
            Form::Streaming(streaming) => upper_tail(&streaming.ranked(), share, together, sure),
        })
    }

    /// Share of the values strictly below `limit`, with `missed` more exchanges that have no value
    /// and count as not below. Costs about as much as `distribution`.
    pub fn share_below(&self, limit: u64, missed: u64) -> Share {
        let sure = Confidence::NINETY_FIVE;
        match &self.form {
            Form::Exact(values) => share_below(&Exact::new(values), limit, missed, sure),
            Form::Streaming(streaming) => share_below(&streaming.ranked(), limit, missed, sure),
        }
    }

    /// Ready to be asked for several figures at any confidence; `None` when empty. Costs a sorted
    /// copy of the values, once.
    pub fn read(&self) -> Option<Reading<'_>> {
        if self.is_empty() {
            return None;
        }
        Some(match &self.form {
            Form::Exact(values) => Reading::new(Box::new(Exact::new(values))),
            Form::Streaming(streaming) => Reading::new(Box::new(streaming.ranked())),
        })
    }

    /// The peaks of the distribution, ascending; empty when empty, else at least one. Costs a sort
    /// of the values and some milliseconds.
    pub fn modes(&self) -> Vec<Mode> {
        match &self.form {
            Form::Exact(values) => {
                let exact = Exact::new(values);
                let runs = exact.sorted().chunk_by(|a, b| a == b);
                let cell = |run: &[u64]| Cell {
                    value: run[0],
                    count: run.len() as u64,
                    width: 1,
                };
                modes::find(runs.map(cell), self.len())
            }
            Form::Streaming(streaming) => {
                modes::find(streaming.buckets().iter().copied(), self.len())
            }
        }
    }
}
