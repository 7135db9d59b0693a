//! From ordered samples to a `Distribution` and a `Share`: the same formulas whether every sample is
//! held or only a histogram of them.

use crate::dependence::{Dependence, FEW, FEWEST};
use crate::interval;
use crate::types::{Confidence, Distribution, Estimate, Share};

/// Independent samples that a run must be worth before it is compared, at least, however short it is; set
/// by simulation.
const FEWEST_COMPARED: f64 = 50.0;

/// Independent samples that a run must be worth before the interval of a figure is shown; set by
/// simulation (docs/statistics.md, *Measured coverage*). Batches of n/30 samples never find fewer than
/// some 30 independent ones, and too many for as long as these are not many batches' worth. Short series
/// are asked for an autoregression as well, which finds fewer.
pub const FEWEST_SHOWN: f64 = 100.0;
const FEWEST_SHOWN_OF_FEW: f64 = 50.0;

/// The part of the samples that must be independent in very short series.
const INDEPENDENT_PART: f64 = 0.6;

/// What the formulas need to know of the samples.
pub(crate) trait Samples {
    fn n(&self) -> u64;
    fn min(&self) -> u64;
    fn max(&self) -> u64;
    fn max3(&self) -> u64;
    fn mean(&self) -> f64;
    fn sd(&self) -> f64;
    /// The sample of this rank, 1 to n.
    fn at_rank(&self, rank: u64) -> f64;
    /// The interval that the sample of this rank is known to lie in.
    fn known_at_rank(&self, rank: u64) -> (f64, f64);
    /// How many are strictly below `limit`.
    fn below(&self, limit: u64) -> u64;
    /// Dependence of the samples themselves, for the mean.
    fn dependence(&self) -> Dependence;
    /// The same where samples beyond the 10th and 90th percentiles count as these: an outlier neither
    /// hides how the others depend on each other nor looks like dependence. At least that of an
    /// autoregression of first order, whatever the length.
    fn dependence_of_most(&self) -> Dependence;
    /// Dependence of the series that is 1 where a sample is among the `rank` smallest, else 0.
    fn dependence_at(&self, rank: u64) -> Dependence;
    /// How far stretches of the run lie apart; see `dependence::wander`.
    fn wander(&self) -> Option<f64>;
    /// The same of the shares of the stretches that are among the `rank` smallest, in parts of the
    /// SD of that series.
    fn wander_at(&self, rank: u64) -> Option<f64>;
    /// Relative resolution of `at_rank`.
    fn resolution(&self) -> f64;
}

/// At least one sample.
pub(crate) fn distribution(samples: &impl Samples) -> Distribution {
    let sure = Confidence::NINETY_FIVE;
    let n = samples.n();
    let (mean, sd) = (samples.mean(), samples.sd());
    let quartile = |p: f64| samples.at_rank(interval::rank(n, p));
    let dependence = samples.dependence();
    let of_most = samples.dependence_of_most();
    let fewest = fewest_shown(n);
    let shown =
        |estimate: Estimate, at: Dependence| enough(estimate, n, at.tau.max(of_most.tau), fewest);
    let dependence_at = |p: f64| samples.dependence_at(interval::rank(n, p));
    let percentile_at = |p: f64, dependence: Dependence| {
        let of_clusters = dependence.cautious(n, fewest).of_clusters(n, p);
        let estimate = shown(at_percentile(samples, p, of_clusters, sure), dependence);
        steady(estimate, samples.wander_at(interval::rank(n, p)))
    };
    let percentile = |p: f64| percentile_at(p, dependence_at(p));
    let at_p99 = dependence_at(0.99);
    let [p50, p90, p99, p999] = consistent([
        percentile(0.5),
        percentile(0.9),
        percentile_at(0.99, at_p99),
        percentile(0.999),
    ]);
    let (min, max) = (samples.min() as f64, samples.max() as f64);
    let cautious = dependence.cautious(n, fewest);
    let of_mean = shown(interval::of_mean(n, mean, sd, cautious, sure), dependence);
    let of_mean = steady(of_mean, samples.wander());
    Distribution {
        n,
        min,
        mean: within(of_mean, min, max),
        sd,
        mean_plus_sd: mean + sd,
        p50,
        p90,
        p99,
        p999,
        iqr: quartile(0.75) - quartile(0.25),
        p99_minus_p50: p99.value - p50.value,
        max3: samples.max3() as f64,
        max,
        effective_n: n as f64 / dependence.tau,
        p99_effective_n: (n >= FEWEST as u64).then_some(n as f64 / at_p99.tau),
        resolution: samples.resolution(),
    }
}

/// Percentiles in ascending order with bounds that ascend as well. Each interval is computed with the
/// dependence found at its percentile, so the bounds may cross; but a lower bound holds for every higher
/// percentile, and an upper bound for every lower one. A missing upper bound stays missing: it marks a
/// percentile that the samples do not support.
fn consistent<const N: usize>(mut percentiles: [Estimate; N]) -> [Estimate; N] {
    let mut low: Option<f64> = None;
    for estimate in &mut percentiles {
        low = match (estimate.low, low) {
            (Some(own), Some(below)) => Some(own.max(below)),
            (own, below) => own.or(below),
        };
        estimate.low = low.map(|low| low.min(estimate.value));
    }
    let mut high = f64::INFINITY;
    for estimate in percentiles.iter_mut().rev() {
        high = estimate.high.map_or(high, |own| own.min(high));
        estimate.high = estimate.high.map(|_| high.max(estimate.value));
    }
    percentiles
}

/// The interval of a mean, not beyond the smallest and the largest sample.
fn within(mean: Estimate, min: f64, max: f64) -> Estimate {
    Estimate {
        low: mean.low.map(|low| low.max(min).min(mean.value)),
        high: mean.high.map(|high| high.min(max).max(mean.value)),
        ..mean
    }
}

/// The percentile that this share exceeds, and the number of independent samples at it, where
/// `together` of the largest samples are known to be worth one at best.
pub(crate) fn upper_tail(
    samples: &impl Samples,
    share: f64,
    together: f64,
    sure: Confidence,
) -> (Estimate, f64) {
    let n = samples.n();
    let p = (1.0 - share).clamp(0.0, 1.0);
    let mut dependence = samples.dependence_at(interval::rank(n, p));
    dependence.tau = dependence.tau.max(together);
    (
        at_percentile(samples, p, dependence, sure),
        n as f64 / dependence.tau,
    )
}

/// At least one sample.
pub(crate) fn mean(samples: &(impl Samples + ?Sized), confidence: Confidence) -> Estimate {
    let (n, sd) = (samples.n(), samples.sd());
    let dependence = samples.dependence();
    let wander = samples.wander().map(|wander| wander / sd);
    let wide = reaching(dependence, wander, n, confidence);
    let estimate = interval::of_mean(n, samples.mean(), sd, wide, confidence);
    let tau = dependence.tau.max(samples.dependence_of_most().tau);
    enough(estimate, n, tau, fewest_compared(n))
}

/// At least one sample.
pub(crate) fn percentile(
    samples: &(impl Samples + ?Sized),
    p: f64,
    confidence: Confidence,
) -> Estimate {
    let rank = interval::rank(samples.n(), p);
    let dependence = samples.dependence_at(rank);
    let wander = samples.wander_at(rank);
    let wide = reaching(dependence, wander, samples.n(), confidence);
    let estimate = at_percentile(samples, p, wide, confidence);
    let tau = dependence.tau.max(samples.dependence_of_most().tau);
    enough(estimate, samples.n(), tau, fewest_compared(samples.n()))
}

/// See `FEWEST_SHOWN`.
fn fewest_shown(n: u64) -> f64 {
    if n < FEW as u64 {
        FEWEST_SHOWN_OF_FEW.min(INDEPENDENT_PART * n as f64)
    } else {
        FEWEST_SHOWN
    }
}

/// See `FEWEST_COMPARED`.
fn fewest_compared(n: u64) -> f64 {
    fewest_shown(n).max(FEWEST_COMPARED)
}

/// No bounds where the samples are worth fewer independent ones than these: dependence itself is then
/// not known well enough to rely on it.
fn enough(estimate: Estimate, n: u64, tau: f64, fewest: f64) -> Estimate {
    if n as f64 / tau >= fewest {
        return estimate;
    }
    Estimate {
        low: None,
        high: None,
        ..estimate
    }
}

/// No bounds where stretches of the run lie apart: a longer run could have another value.
fn steady(estimate: Estimate, wander: Option<f64>) -> Estimate {
    match wander {
        None => estimate,
        Some(_) => Estimate {
            low: None,
            high: None,
            ..estimate
        },
    }
}

/// Dependence with which an interval reaches as far to either side as stretches of the run lie
/// apart, in parts of the SD: a run that wanders is known no better than its parts agree.
fn reaching(
    dependence: Dependence,
    wander: Option<f64>,
    n: u64,
    confidence: Confidence,
) -> Dependence {
    let t = interval::student(dependence.dof, confidence);
    let tau = wander.map_or(0.0, |wander| (wander / t).powi(2) * n as f64);
    Dependence {
        tau: dependence.tau.max(tau),
        ..dependence
    }
}

fn at_percentile(
    samples: &(impl Samples + ?Sized),
    p: f64,
    dependence: Dependence,
    confidence: Confidence,
) -> Estimate {
    let n = samples.n();
    let (low, high) = interval::ranks(n, p, dependence, confidence);
    Estimate {
        value: samples.at_rank(interval::rank(n, p)),
        low: low.map(|rank| samples.known_at_rank(rank).0),
        high: high.map(|rank| samples.known_at_rank(rank).1),
    }
}

/// The share below `limit`, where at least `together` of these values are one event. As any other figure it
/// has no bounds where the samples are worth too few independent ones, and wide ones where the run
/// wanders.
pub(crate) fn rare_share_below(
    samples: &(impl Samples + ?Sized),
    limit: u64,
    together: f64,
    confidence: Confidence,
) -> Estimate {
    let (n, below) = (samples.n(), samples.below(limit));
    let mut dependence = samples.dependence_at(below);
    dependence.tau = dependence.tau.max(together);
    let wide = reaching(dependence, samples.wander_at(below), n, confidence);
    let value = below as f64 / n as f64;
    let (low, high) = interval::of_rare_share(n, value, wide, confidence);
    let estimate = Estimate {
        value,
        low: Some(low),
        high: Some(high),
    };
    enough(estimate, n, dependence.tau, FEWEST_COMPARED)
}

/// `missed` more that count as not below. Where they fell in time is not known, so they are taken
/// to depend on their neighbours as the samples do.
pub(crate) fn share_below(
    samples: &(impl Samples + ?Sized),
    limit: u64,
    missed: u64,
    confidence: Confidence,
) -> Share {
    let n = samples.n() + missed;
    let below = samples.below(limit);
    let share = if n == 0 { 0.0 } else { below as f64 / n as f64 };
    let (dependence, is_known) = if samples.n() == 0 {
        (Dependence::none(n), true)
    } else {
        let most = samples.n() as f64 / samples.dependence_of_most().tau;
        let fewest = fewest_shown(samples.n());
        let dependence = samples.dependence_at(below).cautious(n, fewest);
        (dependence, most >= fewest)
    };
    let (low, high) = match is_known {
        true => interval::of_rare_share(n, share, dependence.of_clusters(n, share), confidence),
        false => (0.0, 1.0),
    };
    Share {
        limit,
        share,
        low,
        high,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, low: Option<f64>, high: Option<f64>) -> Estimate {
        Estimate { value, low, high }
    }

    #[test]
    fn a_lower_bound_holds_for_every_higher_percentile() {
        let found = consistent([
            estimate(2.0, Some(1.5), Some(2.5)),
            estimate(8.774, Some(7.78), None),
            estimate(14.27, Some(4.2), None),
            estimate(15.0, None, None),
        ]);
        let low = found.map(|estimate| estimate.low);
        assert_eq!(low, [Some(1.5), Some(7.78), Some(7.78), Some(7.78)]);
        let high = found.map(|estimate| estimate.high);
        assert_eq!(high, [Some(2.5), None, None, None]);
    }

    #[test]
    fn an_upper_bound_holds_for_every_lower_percentile() {
        let found = consistent([
            estimate(2.0, Some(1.5), None),
            estimate(8.0, Some(7.0), Some(12.0)),
            estimate(9.0, None, Some(11.0)),
        ]);
        let high = found.map(|estimate| estimate.high);
        assert_eq!(high, [None, Some(11.0), Some(11.0)]);
    }

    #[test]
    fn no_bound_is_carried_past_an_estimate() {
        // Estimates that a histogram rounds may be below the bound of a lower percentile.
        let found = consistent([
            estimate(5.0, Some(4.9), Some(5.3)),
            estimate(4.8, Some(4.0), Some(4.85)),
        ]);
        assert_eq!(found[1].low, Some(4.8));
        assert_eq!(found[0].high, Some(5.0));
    }

    #[test]
    fn the_interval_of_a_mean_ends_at_the_extremes() {
        let wide = within(estimate(3.0, Some(0.5), Some(9.0)), 1.0, 7.0);
        assert_eq!((wide.low, wide.high), (Some(1.0), Some(7.0)));
        let open = within(estimate(3.0, None, None), 1.0, 7.0);
        assert_eq!((open.low, open.high), (None, None));
        // A sum of floats may round a mean out of the samples.
        let rounded = within(estimate(7.000_001, Some(6.0), Some(7.2)), 1.0, 7.0);
        assert_eq!(rounded.high, Some(7.000_001));
    }
}
