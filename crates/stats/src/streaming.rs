//! Runs too long to hold: exact moments, a histogram for ranks, block sums for dependence. Under
//! 700 KiB whatever the length of the run.

use crate::blocks::{AT, Blocks, THRESHOLDS};
use crate::dependence::Dependence;
use crate::distribution::Samples;
use crate::interval::rank;
use crate::moments::Moments;
use crate::quantization::Cell;
use hdrhistogram::Histogram;

/// Significant decimal digits of the histogram: buckets no wider than 1/1024 of their value, and
/// exact below 2048.
const DIGITS: u8 = 3;

/// Values from which the thresholds of the blocks are taken.
const THRESHOLD_SAMPLE: usize = 1 << 16;

/// The histogram grows with the largest value, to 450 KiB at most; blocks take 128 KiB.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Streaming {
    moments: Moments,
    histogram: Histogram<u64>,
    blocks: Blocks,
}

impl Streaming {
    /// Begins with the values held so far, at least one, in blocks of 1/64 of them. Costs about
    /// 20 ns a value, once. Thresholds need no exactness, so one value in many is sorted for them.
    pub(crate) fn new(values: &[u64]) -> Streaming {
        let every = (values.len() / THRESHOLD_SAMPLE).max(1);
        let mut sorted: Vec<u64> = values.iter().step_by(every).copied().collect();
        sorted.sort_unstable();
        let thresholds: [u64; THRESHOLDS] =
            AT.map(|p| sorted[rank(sorted.len() as u64, p) as usize - 1]);
        let n = values.len() as u64;
        let mut streaming = Streaming {
            moments: Moments::default(),
            histogram: Histogram::new(DIGITS).expect("3 digits are within 0 to 5"),
            blocks: Blocks::new(thresholds, (n / 64).max(1)),
        };
        values.iter().for_each(|&value| streaming.push(value));
        streaming
    }

    pub(crate) fn push(&mut self, value: u64) {
        self.moments.push(value);
        self.histogram
            .record(value)
            .expect("a resizing histogram takes every 64-bit value");
        self.blocks.push(value);
    }

    pub(crate) fn len(&self) -> u64 {
        self.moments.n()
    }

    /// Every bucket that holds samples, ascending; its value is its middle.
    pub(crate) fn buckets(&self) -> Vec<Cell> {
        let histogram = &self.histogram;
        histogram
            .iter_recorded()
            .map(|at| {
                let lowest = histogram.lowest_equivalent(at.value_iterated_to());
                let width = histogram.next_non_equivalent(lowest).saturating_sub(lowest);
                let middle = histogram.median_equivalent(lowest);
                Cell {
                    value: middle.clamp(self.moments.min(), self.moments.max()),
                    count: at.count_at_value(),
                    width: width.max(1),
                }
            })
            .collect()
    }

    /// Ready to be asked for ranks: the buckets with the number of samples up to each.
    pub(crate) fn ranked(&self) -> Ranked<'_> {
        let mut upto = 0;
        let ranks = self
            .buckets()
            .into_iter()
            .map(|cell| {
                upto += cell.count;
                (cell.value, upto)
            })
            .collect();
        Ranked { of: self, ranks }
    }
}

/// The streaming form read out.
pub(crate) struct Ranked<'a> {
    of: &'a Streaming,
    ranks: Vec<(u64, u64)>,
}

impl Samples for Ranked<'_> {
    fn n(&self) -> u64 {
        self.of.moments.n()
    }

    fn min(&self) -> u64 {
        self.of.moments.min()
    }

    fn max(&self) -> u64 {
        self.of.moments.max()
    }

    fn max3(&self) -> u64 {
        self.of.moments.max3()
    }

    fn mean(&self) -> f64 {
        self.of.moments.mean()
    }

    fn sd(&self) -> f64 {
        self.of.moments.sd()
    }

    fn at_rank(&self, rank: u64) -> f64 {
        let bucket = self.ranks.partition_point(|&(_, upto)| upto < rank);
        self.ranks
            .get(bucket)
            .map_or(self.max(), |&(value, _)| value) as f64
    }

    fn known_at_rank(&self, rank: u64) -> (f64, f64) {
        let value = self.at_rank(rank) as u64;
        let histogram = &self.of.histogram;
        (
            histogram.lowest_equivalent(value).max(self.min()) as f64,
            histogram.highest_equivalent(value).min(self.max()) as f64,
        )
    }

    /// Exact at bucket edges; within a bucket the samples are taken to lie evenly.
    fn below(&self, limit: u64) -> u64 {
        if limit > self.max() {
            return self.n();
        }
        if limit <= self.min() {
            return 0;
        }
        let histogram = &self.of.histogram;
        let edge = histogram.lowest_equivalent(limit);
        let width = histogram
            .next_non_equivalent(limit)
            .saturating_sub(edge)
            .max(1);
        let bucket = self.ranks.partition_point(|&(value, _)| value < edge);
        let before = bucket.checked_sub(1).map_or(0, |b| self.ranks[b].1);
        let part = (limit - edge) as f64 / width as f64;
        before + (histogram.count_at(limit) as f64 * part).round() as u64
    }

    fn dependence(&self) -> Dependence {
        self.of.blocks.dependence(self.sd().powi(2))
    }

    fn dependence_of_most(&self) -> Dependence {
        // Blocks are long enough that a single outlier counts for little.
        self.dependence()
    }

    fn dependence_at(&self, rank: u64) -> Dependence {
        self.of.blocks.dependence_at(rank as f64 / self.n() as f64)
    }

    fn wander(&self) -> Option<f64> {
        self.of.blocks.wander()
    }

    fn wander_at(&self, rank: u64) -> Option<f64> {
        self.of.blocks.wander_at(rank as f64 / self.n() as f64)
    }

    fn resolution(&self) -> f64 {
        1.0 / 1024.0
    }
}
