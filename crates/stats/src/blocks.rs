//! What is remembered of time order once samples are no longer held: sums over consecutive blocks,
//! from which batch means are made. Sums of neighbouring blocks add, so merging loses only detail.

use crate::dependence::{Dependence, wander};

/// Blocks held before neighbours are merged in pairs: the block length doubles, 512 remain.
const MOST: usize = 1024;

/// Number of thresholds whose crossings are followed.
pub(crate) const THRESHOLDS: usize = 13;

/// Percentiles at which the thresholds stand when blocks begin.
pub(crate) const AT: [f64; THRESHOLDS] = [
    0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.997, 0.999, 0.9997,
];

/// Sum of the samples, and how many fell between each pair of thresholds; 128 B.
#[derive(Clone, Debug, Default, PartialEq)]
struct Block {
    sum: u128,
    between: [u64; THRESHOLDS + 1],
}

impl Block {
    /// How many samples lie up to threshold `k`.
    fn upto(&self, k: usize) -> f64 {
        self.between[..=k].iter().sum::<u64>() as f64
    }

    fn add(&mut self, other: &Block) {
        self.sum += other.sum;
        for (mine, theirs) in self.between.iter_mut().zip(other.between) {
            *mine += theirs;
        }
    }
}

/// At most 1024 blocks, 128 KiB, whatever the length of the run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Blocks {
    thresholds: [u64; THRESHOLDS],
    /// Samples a block.
    length: u64,
    whole: Vec<Block>,
    begun: Block,
    /// Samples in `begun`.
    filled: u64,
}

impl Blocks {
    /// `thresholds` ascending, one for each of `AT`.
    pub(crate) fn new(thresholds: [u64; THRESHOLDS], length: u64) -> Blocks {
        let whole = Vec::with_capacity(MOST);
        Blocks {
            thresholds,
            length,
            whole,
            begun: Block::default(),
            filled: 0,
        }
    }

    pub(crate) fn push(&mut self, value: u64) {
        let slot = self
            .thresholds
            .partition_point(|&threshold| threshold < value);
        self.begun.sum += u128::from(value);
        self.begun.between[slot] += 1;
        self.filled += 1;
        if self.filled == self.length {
            self.end_block();
        }
    }

    fn end_block(&mut self) {
        if self.whole.len() == MOST {
            for i in 0..MOST / 2 {
                let mut pair = self.whole[2 * i].clone();
                pair.add(&self.whole[2 * i + 1]);
                self.whole[i] = pair;
            }
            self.whole.truncate(MOST / 2);
            self.length *= 2;
            // The block just filled is now half a block.
            return;
        }
        self.whole.push(std::mem::take(&mut self.begun));
        self.filled = 0;
    }

    /// Dependence of the samples, whose variance is `variance`.
    pub(crate) fn dependence(&self, variance: f64) -> Dependence {
        self.per_sample(|block| block.sum as f64, variance)
    }

    /// Dependence of the series that is 1 where a sample is among the smallest `share` of all: the
    /// larger of those at the thresholds to either side of it.
    pub(crate) fn dependence_at(&self, share: f64) -> Dependence {
        let n = self.length * self.whole.len() as u64;
        self.beside(share)
            .map(|(k, share)| self.per_sample(|block| block.upto(k), share * (1.0 - share)))
            .fold(
                Dependence::none(n),
                |a, b| if b.tau > a.tau { b } else { a },
            )
    }

    /// How far the means of stretches of the run lie apart; see `dependence::wander`.
    pub(crate) fn wander(&self) -> Option<f64> {
        self.apart(|block| block.sum as f64)
    }

    /// The same of the series of `dependence_at`, in parts of its SD: the larger of two.
    pub(crate) fn wander_at(&self, share: f64) -> Option<f64> {
        self.beside(share)
            .filter_map(|(k, share)| {
                let apart = self.apart(|block| block.upto(k))?;
                Some(apart / (share * (1.0 - share)).sqrt())
            })
            .reduce(f64::max)
    }

    /// The thresholds to either side of this share of the samples, with the share of each.
    fn beside(&self, share: f64) -> impl Iterator<Item = (usize, f64)> {
        let total = (self.length * self.whole.len() as u64) as f64;
        let mut below = 0;
        let shares: Vec<(usize, f64)> = (0..THRESHOLDS)
            .map(|k| {
                below += self.whole.iter().map(|block| block.between[k]).sum::<u64>();
                (k, below as f64 / total)
            })
            .filter(|&(_, share)| share > 0.0 && share < 1.0)
            .collect();
        let before = shares.iter().rfind(|s| s.1 <= share).copied();
        let after = shares.iter().find(|s| s.1 >= share).copied();
        before.into_iter().chain(after)
    }

    fn apart(&self, total: impl Fn(&Block) -> f64) -> Option<f64> {
        let length = self.length as f64;
        wander(self.whole.len(), |i| total(&self.whole[i]) / length)
    }

    fn per_sample(&self, total: impl Fn(&Block) -> f64, variance: f64) -> Dependence {
        let total = |block: usize| total(&self.whole[block]);
        per_sample(self.length, self.whole.len(), total, variance)
    }
}

/// Dependence of samples whose variance is `variance`, from their totals over `count` consecutive
/// blocks. Blocks depend on each other less than samples do, but still may: their means are treated
/// as the samples of a shorter series.
pub(crate) fn per_sample(
    length: u64,
    count: usize,
    total: impl Fn(usize) -> f64,
    variance: f64,
) -> Dependence {
    let n = length * count as u64;
    if count < 2 || variance <= 0.0 {
        return Dependence::none(n);
    }
    let length = length as f64;
    let value = |block: usize| total(block) / length;
    let mean = (0..count).map(value).sum::<f64>() / count as f64;
    let between = (0..count).map(|i| (value(i) - mean).powi(2)).sum::<f64>();
    let of_blocks = Dependence::of(count, value);
    let tau = of_blocks.tau * between / (count - 1) as f64 * length / variance;
    if tau > 1.0 {
        Dependence {
            tau: tau.min(n as f64 / 2.0),
            dof: of_blocks.dof,
        }
    } else {
        Dependence::none(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_keeps_every_sample_and_bounds_the_number_of_blocks() {
        let mut blocks = Blocks::new([500; THRESHOLDS], 4);
        let n = 4 * MOST as u64 * 5 + 3;
        for i in 0..n {
            blocks.push(i % 1000);
        }
        assert!(blocks.whole.len() <= MOST);
        assert_eq!(blocks.length, 32);
        let mut all = blocks.begun.clone();
        blocks.whole.iter().for_each(|block| all.add(block));
        assert_eq!(all.between.iter().sum::<u64>(), n);
        assert_eq!(all.sum, (0..n).map(|i| u128::from(i % 1000)).sum::<u128>());
        assert_eq!(blocks.length * blocks.whole.len() as u64 + blocks.filled, n);
    }
}
