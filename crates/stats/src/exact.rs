//! All samples at hand: sorted once for ranks, kept in time order for dependence.

use crate::dependence::{Dependence, wander};
use crate::distribution::Samples;
use crate::interval::rank;

/// At least this many samples (or a quarter of them) must lie on either side of a threshold before
/// its crossings say anything about dependence; nearer the ends the threshold is moved inwards.
const SIDE: usize = 30;

/// Percentiles between which most samples lie.
const MOST: [f64; 2] = [0.1, 0.9];

/// A sorted copy beside the samples. Building it costs a sort and 8 B a sample.
pub(crate) struct Exact<'a> {
    in_time: &'a [u64],
    sorted: Vec<u64>,
    mean: f64,
}

impl<'a> Exact<'a> {
    pub(crate) fn new(in_time: &'a [u64]) -> Exact<'a> {
        let mut sorted = in_time.to_vec();
        sorted.sort_unstable();
        let sum: u128 = in_time.iter().map(|&v| u128::from(v)).sum();
        let mean = if in_time.is_empty() {
            0.0
        } else {
            sum as f64 / in_time.len() as f64
        };
        Exact {
            in_time,
            sorted,
            mean,
        }
    }

    pub(crate) fn sorted(&self) -> &[u64] {
        &self.sorted
    }

    /// What divides the samples at about this rank, so that crossings tell of dependence.
    fn threshold(&self, rank: u64) -> u64 {
        let n = self.sorted.len();
        let side = SIDE.min(n / 4).max(1);
        let rank = (rank as usize).clamp(side, (n - side).max(side));
        let threshold = self.sorted[rank - 1];
        // With a step at the very top, only "below it" still divides the samples.
        if threshold == self.max() {
            threshold.saturating_sub(1)
        } else {
            threshold
        }
    }

    fn is_below(&self, i: usize, threshold: u64) -> f64 {
        f64::from(u8::from(self.in_time[i] <= threshold))
    }

    fn largest(&self, place: usize) -> u64 {
        self.sorted
            .len()
            .checked_sub(place)
            .map_or(self.min(), |i| self.sorted[i])
    }
}

impl Samples for Exact<'_> {
    fn n(&self) -> u64 {
        self.sorted.len() as u64
    }

    fn min(&self) -> u64 {
        self.sorted.first().copied().unwrap_or(0)
    }

    fn max(&self) -> u64 {
        self.largest(1)
    }

    fn max3(&self) -> u64 {
        self.largest(3)
    }

    fn mean(&self) -> f64 {
        self.mean
    }

    fn sd(&self) -> f64 {
        if self.in_time.len() < 2 {
            return 0.0;
        }
        let squares: f64 = self
            .in_time
            .iter()
            .map(|&v| (v as f64 - self.mean).powi(2))
            .sum();
        (squares / (self.in_time.len() - 1) as f64).sqrt()
    }

    fn at_rank(&self, rank: u64) -> f64 {
        self.sorted[rank as usize - 1] as f64
    }

    fn known_at_rank(&self, rank: u64) -> (f64, f64) {
        (self.at_rank(rank), self.at_rank(rank))
    }

    fn below(&self, limit: u64) -> u64 {
        self.sorted.partition_point(|&v| v < limit) as u64
    }

    fn dependence(&self) -> Dependence {
        Dependence::of(self.in_time.len(), |i| self.in_time[i] as f64)
    }

    fn dependence_of_most(&self) -> Dependence {
        let n = self.in_time.len();
        let [least, most] = MOST.map(|p| self.sorted[rank(n as u64, p) as usize - 1]);
        Dependence::at_least_of_neighbours(n, |i| self.in_time[i].clamp(least, most) as f64)
    }

    fn dependence_at(&self, rank: u64) -> Dependence {
        let threshold = self.threshold(rank);
        Dependence::of(self.in_time.len(), |i| self.is_below(i, threshold))
    }

    fn wander(&self) -> Option<f64> {
        wander(self.in_time.len(), |i| self.in_time[i] as f64)
    }

    fn wander_at(&self, rank: u64) -> Option<f64> {
        let n = self.in_time.len();
        let threshold = self.threshold(rank);
        let below = self.sorted.partition_point(|&v| v <= threshold);
        let share = below as f64 / n as f64;
        let apart = wander(n, |i| self.is_below(i, threshold))?;
        Some(apart / (share * (1.0 - share)).sqrt())
    }

    fn resolution(&self) -> f64 {
        0.0
    }
}
