//! From ordered samples to a `Distribution` and a `Share`: the same formulas whether every sample is
//! held or only a histogram of them.

use crate::dependence::{Dependence, FEWEST};
use crate::interval;
use crate::types::{Confidence, Distribution, Estimate, Share};

/// Independent samples that a run must be worth before it is compared; set by simulation.
const FEWEST_INDEPENDENT: f64 = 50.0;

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
    let dependence_at = |p: f64| samples.dependence_at(interval::rank(n, p));
    let percentile = |p: f64| at_percentile(samples, p, dependence_at(p), sure);
    let p50 = percentile(0.5);
    let at_p99 = dependence_at(0.99);
    let p99 = at_percentile(samples, 0.99, at_p99, sure);
    Distribution {
        n,
        min: samples.min() as f64,
        mean: interval::of_mean(n, mean, sd, dependence, sure),
        sd,
        mean_plus_sd: mean + sd,
        p50,
        p90: percentile(0.9),
        p99,
        p999: percentile(0.999),
        iqr: quartile(0.75) - quartile(0.25),
        p99_minus_p50: p99.value - p50.value,
        max3: samples.max3() as f64,
        max: samples.max() as f64,
        effective_n: n as f64 / dependence.tau,
        p99_effective_n: (n >= FEWEST as u64).then_some(n as f64 / at_p99.tau),
        resolution: samples.resolution(),
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
    enough(estimate, n, dependence)
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
    enough(estimate, samples.n(), dependence)
}

/// No bounds where the samples are worth too few independent ones: dependence itself is then not
/// known well enough to rely on it.
fn enough(estimate: Estimate, n: u64, dependence: Dependence) -> Estimate {
    if n as f64 / dependence.tau >= FEWEST_INDEPENDENT {
        return estimate;
    }
    Estimate {
        low: None,
        high: None,
        ..estimate
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
    enough(estimate, n, dependence)
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
    let dependence = if samples.n() == 0 {
        Dependence::none(n)
    } else {
        samples.dependence_at(below)
    };
    let (low, high) = interval::of_share(n, share, dependence, confidence);
    Share {
        limit,
        share,
        low,
        high,
    }
}
