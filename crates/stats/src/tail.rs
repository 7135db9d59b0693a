//! What lies beyond the samples: peaks over a threshold, and the generalised Pareto distribution
//! that they approach whatever the samples follow (Coles, "An Introduction to Statistical Modeling of
//! Extreme Values", 2001, ch. 4 and 5).

use crate::tested_fit::{FEWEST, REACH, THRESHOLDS, tested_fit};
use crate::types::{Confidence, Estimate};

/// Values held before the lower half of them is let go: 16 B each.
const MOST: usize = 1 << 13;

/// Peaks that a distribution is fitted to: a tenth of all values, but no more than the first of
/// these where they are worth enough independent ones, and no more than the second in any case.
const FITTED: usize = 1000;
const MOST_FITTED: usize = MOST / 2;
const ENOUGH: f64 = 150.0;

/// Peaks that are asked about dependence, at least.
const SIDE: usize = 30;

/// Peaks are clustered where a cluster has more than this in the mean. One long gap then fills the buffer
/// for many transfers, and the few clusters of a run do not show how large the next may be: there must be
/// more of them, and with a heavy tail no number is enough: the shape plus its standard error must not be
/// heavy, because few clusters of a heavy tail often look light. Set by simulation (docs/statistics.md).
const CLUSTERED: f64 = 1.5;
const FEWEST_BUSY: f64 = 100.0;
const HEAVY_BUSY: f64 = 0.1;

/// A value over the floor.
#[derive(Clone, Copy, Debug)]
struct Peak {
    value: u64,
    /// The number of its cluster.
    cluster: u64,
}

/// The largest values of a series in bounded memory: 128 KiB.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tail {
    n: u64,
    /// Every value above it is in `peaks`.
    floor: u64,
    peaks: Vec<Peak>,
}

impl Tail {
    /// Takes the next value; values of one cluster are one event.
    pub(crate) fn push(&mut self, value: u64, cluster: u64) {
        self.n += 1;
        if value <= self.floor {
            return;
        }
        if self.peaks.len() == MOST {
            self.peaks.sort_unstable_by_key(|peak| peak.value);
            self.floor = self.peaks[MOST / 2].value;
            self.peaks.retain(|peak| peak.value > self.floor);
            if value <= self.floor {
                return;
            }
        }
        self.peaks.push(Peak { value, cluster });
    }

    /// The peaks, the largest first.
    pub(crate) fn peaks(&self) -> Peaks {
        let mut largest = self.peaks.clone();
        largest.sort_unstable_by_key(|peak| std::cmp::Reverse(peak.value));
        Peaks {
            n: self.n,
            floor: self.floor,
            largest,
        }
    }
}

/// The peaks of a `Tail` in order.
pub(crate) struct Peaks {
    n: u64,
    floor: u64,
    largest: Vec<Peak>,
}

impl Peaks {
    /// How many values there were.
    pub(crate) fn n(&self) -> u64 {
        self.n
    }

    /// How many of the largest are held.
    pub(crate) fn len(&self) -> usize {
        self.largest.len()
    }

    /// So many of the largest, or fewer where several are equal to the next, with their clusters,
    /// descending; and the value that all of them exceed.
    pub(crate) fn over(&self, count: usize) -> (u64, Vec<(u64, u64)>) {
        let (threshold, above) = self.above(count);
        let over = above.iter().map(|peak| (peak.value, peak.cluster));
        (threshold, over.collect())
    }

    fn above(&self, count: usize) -> (u64, &[Peak]) {
        let threshold = self
            .largest
            .get(count)
            .map_or(self.floor, |peak| peak.value);
        let above = self.largest.partition_point(|peak| peak.value > threshold);
        (threshold, &self.largest[..above])
    }

    /// How many values are worth one independent value among this share of them, the largest, as
    /// far as their clusters tell; at least 1.
    pub(crate) fn together(&self, share: f64) -> f64 {
        let wanted = (self.n as f64 * share).ceil() as usize;
        let largest = &self.largest[..wanted.max(SIDE).min(self.largest.len())];
        largest.len().max(1) as f64 / effective(largest).max(1.0)
    }

    /// Whether this share of all values, the largest, stand several in a cluster.
    pub(crate) fn is_clustered(&self, share: f64) -> bool {
        self.together(share) > CLUSTERED
    }

    /// How many of the largest a distribution is fitted to.
    fn fitted(&self) -> usize {
        let tenth = usize::try_from(self.n / 10).unwrap_or(MOST_FITTED);
        let most = tenth.min(MOST_FITTED).min(self.largest.len());
        let mut count = FITTED.min(most);
        while count < most && effective(&self.largest[..count]) < ENOUGH {
            count = (count * 2).min(most);
        }
        count
    }

    /// The share of all values that a distribution is fitted to.
    pub(crate) fn fitted_share(&self) -> f64 {
        self.fitted() as f64 / self.n.max(1) as f64
    }

    /// The value that this share of all exceeds, where that share is too small to have been seen;
    /// `together` values near the threshold are worth one independent value. Over the lowest of a few
    /// thresholds at which the fit passes every test. `None` where there is none, too few peaks, or the
    /// share is too small for them.
    pub(crate) fn beyond(&self, share: f64, together: f64, sure: Confidence) -> Option<Estimate> {
        let most = self.fitted();
        let found = (0..THRESHOLDS).map_while(|halved| {
            let (threshold, peaks) = self.above(most >> halved);
            let independent = effective(peaks).min(peaks.len() as f64 / together);
            let excess = |peak: &Peak| (peak.value - threshold) as f64;
            let excesses: Vec<f64> = peaks.iter().map(excess).collect();
            (independent >= FEWEST).then_some((threshold, excesses, independent))
        });
        let mut tested = found.filter_map(|(threshold, excesses, independent)| {
            let fit = tested_fit(threshold, &excesses, independent).ok()?;
            Some((threshold, excesses, independent, fit))
        });
        let (threshold, excesses, independent, fit) = tested.next()?;
        if self.is_clustered(excesses.len() as f64 / self.n.max(1) as f64)
            && (independent < FEWEST_BUSY || fit.shape + error(fit.shape, independent) > HEAVY_BUSY)
        {
            return None;
        }
        let carried = REACH * self.n as f64 * independent / excesses.len() as f64;
        if share * carried < 1.0 {
            return None;
        }
        // The share of all values above the threshold over the share asked for.
        let ratio = excesses.len() as f64 / (self.n as f64 * share);
        let (low, high) = fit.interval(&excesses, ratio, independent, sure);
        let level = |excess: f64| threshold as f64 + excess;
        Some(Estimate {
            value: level(fit.level(ratio)),
            low: Some(level(low)),
            high: Some(level(high)),
        })
    }
}

/// The standard error of a fitted shape (Coles 4.3; Smith 1987, "Estimating tails of probability
/// distributions").
fn error(shape: f64, independent: f64) -> f64 {
    (1.0 + shape).max(0.0) / independent.sqrt()
}

/// How many clusters of equal size these peaks are worth: (sum of sizes)^2 / sum of squares (Kish
/// 1965). One long cluster among many short ones is one event, however many peaks it has.
fn effective(peaks: &[Peak]) -> f64 {
    let mut clusters: Vec<u64> = peaks.iter().map(|peak| peak.cluster).collect();
    clusters.sort_unstable();
    let sizes = clusters.chunk_by(|a, b| a == b).map(|run| run.len() as f64);
    let squares: f64 = sizes.map(|size| size * size).sum();
    (peaks.len() as f64).powi(2) / squares.max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_are_kept_whatever_the_order_and_the_length() {
        let n = 10 * MOST as u64;
        // An odd factor permutes the numbers below a power of two.
        let scattered = |i: u64| (i * 48_271) % n.next_power_of_two();
        let orders: [&dyn Fn(u64) -> u64; 3] = [&|i| i + 1, &|i| n - i, &scattered];
        for order in orders {
            let mut tail = Tail::default();
            let mut all: Vec<u64> = (0..n).map(order).collect();
            all.iter().for_each(|&value| tail.push(value, value));
            assert!(tail.peaks.len() <= MOST);
            all.sort_unstable_by_key(|&value| std::cmp::Reverse(value));
            let peaks = tail.peaks();
            assert!(peaks.largest.len() >= MOST / 2 - 1);
            let kept: Vec<u64> = peaks.largest.iter().map(|peak| peak.value).collect();
            assert_eq!(kept, all[..kept.len()]);
        }
    }

    #[test]
    fn one_long_cluster_is_one_event() {
        let peaks = |cluster: &dyn Fn(u64) -> u64| -> Vec<Peak> {
            let peak = |i| Peak {
                value: i,
                cluster: cluster(i),
            };
            (0..100).map(peak).collect()
        };
        assert_eq!(effective(&peaks(&|i| i)), 100.0);
        assert_eq!(effective(&peaks(&|_| 0)), 1.0);
        assert_eq!(effective(&peaks(&|i| i / 10)), 10.0);
        // Ninety in one, ten alone.
        let uneven = effective(&peaks(&|i| i.max(89)));
        assert!((uneven - 10_000.0 / 8110.0).abs() < 1e-9, "{uneven}");
        assert_eq!(effective(&[]), 0.0);
    }

    #[test]
    fn equal_values_have_no_tail() {
        let mut tail = Tail::default();
        (0..10_000).for_each(|i| tail.push(5, i));
        let found = tail.peaks().beyond(1e-6, 1.0, Confidence::NINETY_FIVE);
        assert_eq!(found, None);
    }
}
