//! What lies beyond the samples: peaks over a threshold, and the generalised Pareto distribution
//! that they approach whatever the samples follow (Coles, "An Introduction to Statistical Modeling of
//! Extreme Values", 2001, ch. 4 and 5).

use crate::interval::student;
use crate::types::{Confidence, Estimate};

/// Values held before the lower half of them is let go: 16 B each.
const MOST: usize = 1 << 13;

/// Peaks that a distribution is fitted to: a tenth of all values, but no more than the first of
/// these where they are worth enough independent ones, and no more than the second in any case.
const FITTED: usize = 1000;
const MOST_FITTED: usize = MOST / 2;
const ENOUGH: f64 = 150.0;

/// Independent peaks that there must be before anything is said.
const FEWEST: f64 = 30.0;

/// Peaks that are asked about dependence, at least.
const SIDE: usize = 30;

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
    /// How many values are worth one independent value among this share of them, the largest, as
    /// far as their clusters tell; at least 1.
    pub(crate) fn together(&self, share: f64) -> f64 {
        let wanted = (self.n as f64 * share).ceil() as usize;
        let largest = &self.largest[..wanted.max(SIDE).min(self.largest.len())];
        largest.len().max(1) as f64 / effective(largest).max(1.0)
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
    /// `together` values near the threshold are worth one independent value. `None` where there are
    /// too few peaks.
    pub(crate) fn beyond(&self, share: f64, together: f64, sure: Confidence) -> Option<Estimate> {
        let threshold = self
            .largest
            .get(self.fitted())
            .map_or(self.floor, |peak| peak.value);
        let above = self.largest.partition_point(|peak| peak.value > threshold);
        let peaks = &self.largest[..above];
        let independent = effective(peaks).min(above as f64 / together);
        if independent < FEWEST || share <= 0.0 {
            return None;
        }
        let excess = |peak: &Peak| (peak.value - threshold) as f64;
        let excesses: Vec<f64> = peaks.iter().map(excess).collect();
        // The share of all values above the threshold over the share asked for.
        let ratio = excesses.len() as f64 / (self.n as f64 * share);
        let fit = Pareto::fit(&excesses)?;
        let (low, high) = fit.interval(&excesses, ratio, independent, sure);
        let level = |excess: f64| threshold as f64 + excess;
        Some(Estimate {
            value: level(fit.level(ratio)),
            low: Some(level(low)),
            high: Some(level(high)),
        })
    }
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

/// A generalised Pareto distribution of excesses: P(X > x) = (1 + shape x / scale)^(-1 / shape).
#[derive(Clone, Copy, Debug)]
struct Pareto {
    shape: f64,
    scale: f64,
}

impl Pareto {
    /// Zhang & Stephens, "A new and efficient estimation method for the generalized Pareto
    /// distribution", Technometrics 51 (2009) 316: the likelihood, in which the shape has been
    /// maximised for each b = -shape / scale, averages b over a grid. It never fails to converge,
    /// as the maximum itself may, and has less bias.
    fn fit(excesses: &[f64]) -> Option<Pareto> {
        // Excesses stand in descending order.
        let n = excesses.len();
        let (largest, quartile) = (*excesses.first()?, excesses[n - n.div_ceil(4)]);
        let shape = |b: f64| excesses.iter().map(|x| (-b * x).ln_1p()).sum::<f64>() / n as f64;
        let count = 20 + n.isqrt();
        let grid: Vec<(f64, f64)> = (0..count)
            .map(|j| {
                let root = (count as f64 / (j as f64 + 0.5)).sqrt();
                let b = 1.0 / largest + (1.0 - root) / (3.0 * quartile);
                let k = shape(b);
                (b, n as f64 * ((-b / k).ln() - k - 1.0))
            })
            .filter(|(_, likelihood)| likelihood.is_finite())
            .collect();
        let best = grid.iter().map(|g| g.1).fold(f64::NEG_INFINITY, f64::max);
        let weight = |likelihood: f64| (likelihood - best).exp();
        let total: f64 = grid.iter().map(|g| weight(g.1)).sum();
        let b = grid.iter().map(|g| g.0 * weight(g.1)).sum::<f64>() / total;
        let k = shape(b);
        let scale = -k / b;
        (scale > 0.0 && scale.is_finite()).then_some(Pareto { shape: k, scale })
    }

    /// The excess that one in `ratio` exceeds.
    fn level(self, ratio: f64) -> f64 {
        self.scale * growth(self.shape, ratio)
    }

    /// Bounds of that excess: all for which the likelihood, maximised over the shape, is not
    /// too far below its maximum (profile likelihood, Coles 4.3.3), counted as if there were only
    /// so many `independent` excesses. The uncertainty of the share above the threshold is added.
    fn interval(
        self,
        excesses: &[f64],
        ratio: f64,
        independent: f64,
        sure: Confidence,
    ) -> (f64, f64) {
        let t = student(independent - 1.0, sure);
        let here = self.level(ratio);
        let best = maximum(
            |level| profile(excesses, ratio, here * level.exp()),
            -1.0,
            1.0,
        );
        let deepest = best - 0.5 * t * t * excesses.len() as f64 / independent;
        let inside = |log: f64| profile(excesses, ratio, here * log.exp()) >= deepest;
        // A change of the share by one part in sqrt(independent).
        let by_share = t / independent.sqrt() * self.scale * (self.shape * ratio.ln()).exp() / here;
        let bound = |sign: f64| {
            let mut step = 0.05;
            while inside(sign * step) && step < 20.0 {
                step *= 2.0;
            }
            let (mut within, mut outside) = (step / 2.0, step);
            for _ in 0..12 {
                let middle = 0.5 * (within + outside);
                if inside(sign * middle) {
                    within = middle;
                } else {
                    outside = middle;
                }
            }
            sign * within.hypot(by_share)
        };
        (here * bound(-1.0).exp(), here * bound(1.0).exp())
    }
}

/// Level over scale: (ratio^shape - 1) / shape.
fn growth(shape: f64, ratio: f64) -> f64 {
    let log = ratio.ln();
    if shape.abs() < 1e-6 {
        log
    } else {
        (shape * log).exp_m1() / shape
    }
}

/// The largest log-likelihood of all distributions with this level.
fn profile(excesses: &[f64], ratio: f64, level: f64) -> f64 {
    maximum(
        |shape| {
            let scale = level / growth(shape, ratio);
            let n = excesses.len() as f64;
            if shape.abs() < 1e-6 {
                return -n * scale.ln() - excesses.iter().sum::<f64>() / scale;
            }
            let b = shape / scale;
            if 1.0 + b * excesses[0] <= 0.0 {
                return f64::NEG_INFINITY;
            }
            let logs: f64 = excesses.iter().map(|x| (b * x).ln_1p()).sum();
            -n * scale.ln() - (1.0 + 1.0 / shape) * logs
        },
        -0.9,
        2.0,
    )
}

/// The largest value of a function with one maximum: golden section.
fn maximum(of: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_895;
    let (mut a, mut b) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
    let (mut at_a, mut at_b) = (of(a), of(b));
    for _ in 0..18 {
        if at_a > at_b {
            high = b;
            (b, at_b) = (a, at_a);
            a = high - GOLDEN * (high - low);
            at_a = of(a);
        } else {
            low = a;
            (a, at_a) = (b, at_b);
            b = low + GOLDEN * (high - low);
            at_b = of(b);
        }
    }
    at_a.max(at_b)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles of a generalised Pareto distribution, descending, as excesses are.
    fn quantiles(shape: f64, scale: f64, n: usize) -> Vec<f64> {
        let p = |i: usize| (i as f64 + 0.5) / n as f64;
        (0..n)
            .map(|i| scale * (p(i).powf(-shape) - 1.0) / shape)
            .collect()
    }

    #[test]
    fn a_fit_finds_what_the_excesses_follow() {
        for shape in [-0.2, 0.01, 0.3, 0.7] {
            let fit = Pareto::fit(&quantiles(shape, 50.0, 2000)).unwrap();
            assert!((fit.shape - shape).abs() < 0.05, "{shape}: {fit:?}");
            assert!((fit.scale / 50.0 - 1.0).abs() < 0.1, "{shape}: {fit:?}");
        }
    }

    #[test]
    fn an_interval_holds_its_value_and_narrows_with_what_is_independent() {
        let excesses = quantiles(0.1, 50.0, 1000);
        let fit = Pareto::fit(&excesses).unwrap();
        let value = fit.level(1000.0);
        let width = |independent: f64| {
            let (low, high) = fit.interval(&excesses, 1000.0, independent, Confidence::NINETY_FIVE);
            assert!(low < value && value < high, "{low} {value} {high}");
            high / low
        };
        assert!(width(1000.0) < width(100.0));
        assert!(width(100.0) < width(40.0));
    }

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
        assert_eq!(
            tail.peaks().beyond(1e-6, 1.0, Confidence::NINETY_FIVE),
            None
        );
    }
}
