//! How much less than n independent samples a time series is worth. Neighbouring exchanges share
//! queues, frames and interrupts; an interval that ignores this is too narrow.
//!
//! Overlapping batch means (Meketon & Schmeiser 1984; Law & Kelton, "Simulation Modeling and
//! Analysis", ch. 9) at two batch sizes, the larger variance wins, never below the independent one.

use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor};

/// Below this many values nothing is said about confidence.
pub(crate) const FEWEST: usize = 8;

/// Below this many values batches are too short to see slow dependence, and an autoregression of
/// first order is asked as well (at 900, the two batch sizes sqrt(n) and n/30 meet).
pub(crate) const FEW: usize = 900;

/// Values whose time is longer come in clusters.
const CLUSTERED: f64 = 2.0;

/// ExceedanceRuns of a run that are held against each other.
const STRETCHES: usize = 8;

/// How seldom stretches of a steady run may seem to differ.
const SEEMS_UNSTEADY: f64 = 0.01;

/// How seldom the dependence of a series is larger than the upper bound of `cautious`.
const SEEMS_LESS: f64 = 0.05;

/// The verdict on one series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Dependence {
    /// Integrated autocorrelation time in samples, at least 1: variance of the mean over what it
    /// would be if the samples were independent.
    pub(crate) tau: f64,
    /// Degrees of freedom of the estimate of that variance.
    pub(crate) dof: f64,
}

/// The two batch sizes of `n` values.
fn batches(n: usize) -> (usize, usize) {
    let short = (n.isqrt()).min(n / 8);
    (short, (n / 30).max(short))
}

fn dof(n: usize, batch: usize) -> f64 {
    1.5 * (n as f64 / batch.max(1) as f64 - 1.0)
}

impl Dependence {
    /// What is to be expected of `n` samples of a series with this autocorrelation time.
    pub(crate) fn expected(n: u64, tau: f64) -> Dependence {
        if tau <= 1.0 {
            return Dependence::none(n);
        }
        let n = usize::try_from(n).unwrap_or(usize::MAX);
        let dof = dof(n, batches(n).1);
        Dependence { tau, dof }
    }

    /// Independent samples.
    pub(crate) fn none(n: u64) -> Dependence {
        Dependence {
            tau: 1.0,
            dof: (n.max(2) - 1) as f64,
        }
    }

    /// Of the series that is 1 for this share of `n` values and else 0, where they come in clusters: what is
    /// known of the clusters comes from those that are in it.
    pub(crate) fn of_clusters(self, n: u64, share: f64) -> Dependence {
        if self.tau < CLUSTERED {
            return self;
        }
        let clusters = n as f64 / self.tau * share.min(1.0 - share);
        Dependence {
            dof: self.dof.min(clusters).max(1.0),
            ..self
        }
    }

    /// The same for an interval that is shown only where `n` samples are worth at least `fewest`
    /// independent ones. Of series that are worth fewer, those are shown whose dependence was found too
    /// small. Near that limit, what tau has over 1 is therefore taken at its upper bound; from twice the
    /// limit on it is less and less of that (set by simulation; docs/statistics.md, *Measured coverage*).
    pub(crate) fn cautious(self, n: u64, fewest: f64) -> Dependence {
        let near = (2.0 * fewest * self.tau / n.max(1) as f64).powi(2).min(1.0);
        if self.tau <= 1.0 || near < 1e-3 {
            return self;
        }
        let larger = ChiSquared::new(self.dof.max(1.0))
            .map_or(1.0, |chi2| self.dof.max(1.0) / chi2.inverse_cdf(SEEMS_LESS));
        let tau = 1.0 + (self.tau - 1.0) * (1.0 + (larger - 1.0) * near);
        Dependence {
            tau: tau.min(n as f64 / 2.0).max(self.tau),
            ..self
        }
    }

    /// Of `n` values in time order. Three passes over them, about 5 ns a value; allocates nothing.
    pub(crate) fn of(n: usize, value: impl Fn(usize) -> f64) -> Dependence {
        Dependence::estimate(n, value, n < FEW)
    }

    /// The same, and at least that of an autoregression of first order: one that is strong enough to make
    /// batches too short is found by it, whatever the length.
    pub(crate) fn at_least_of_neighbours(n: usize, value: impl Fn(usize) -> f64) -> Dependence {
        Dependence::estimate(n, value, true)
    }

    fn estimate(n: usize, value: impl Fn(usize) -> f64, asks_neighbours: bool) -> Dependence {
        let independent = Dependence::none(n as u64);
        if n < FEWEST {
            return independent;
        }
        // Counted from the first value, so that equal values leave no rounding behind.
        let origin = value(0);
        let mean = (0..n).map(|i| value(i) - origin).sum::<f64>() / n as f64;
        let centred = |i: usize| value(i) - origin - mean;
        let variance = (0..n).map(|i| centred(i).powi(2)).sum::<f64>() / (n - 1) as f64;
        if variance <= 0.0 {
            return independent;
        }
        let (short, long) = batches(n);
        let dof = |batch: usize| dof(n, batch);
        let mut worst = independent;
        let mut hear = |tau: f64, dof: f64| {
            if tau > worst.tau {
                worst = Dependence { tau, dof };
            }
        };
        hear(batch_tau(n, &centred, variance, short), dof(short));
        if long > short {
            hear(batch_tau(n, &centred, variance, long), dof(long));
        }
        if asks_neighbours {
            let products = (1..n).map(|i| centred(i) * centred(i - 1)).sum::<f64>();
            let r = (products / (variance * (n - 1) as f64)).min(0.999);
            hear((1.0 + r) / (1.0 - r), dof(short));
        }
        worst.tau = worst.tau.min(n as f64 / 2.0);
        worst
    }
}

/// How far the means of the eighths of a series lie apart, if they do so more than dependence over
/// sqrt(n) values explains (Fisher's F, 1 %): the series drifts, or changed once, and a longer one
/// could have another mean.
pub(crate) fn wander(n: usize, value: impl Fn(usize) -> f64) -> Option<f64> {
    let length = n / STRETCHES;
    if n < FEWEST {
        return None;
    }
    let origin = value(0);
    let mean = (0..n).map(|i| value(i) - origin).sum::<f64>() / n as f64;
    let centred = |i: usize| value(i) - origin - mean;
    let variance = (0..n).map(|i| centred(i).powi(2)).sum::<f64>() / (n - 1) as f64;
    if variance <= 0.0 {
        return None;
    }
    let means: [f64; STRETCHES] = std::array::from_fn(|stretch| {
        let values = stretch * length..(stretch + 1) * length;
        values.map(centred).sum::<f64>() / length as f64
    });
    let short = (n.isqrt()).min(length);
    let tau = batch_tau(n, &centred, variance, short).max(1.0);
    let freedom = (STRETCHES - 1) as f64;
    let found = means.iter().map(|m| m * m).sum::<f64>() / freedom;
    let explained = variance * tau / length as f64;
    let most = FisherSnedecor::new(freedom, 1.5 * (n as f64 / short as f64 - 1.0))
        .map_or(f64::INFINITY, |f| f.inverse_cdf(1.0 - SEEMS_UNSTEADY));
    let least = means.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (found > most * explained).then_some(largest - least)
}

/// Integrated autocorrelation time from the scatter of the means of all windows of `batch` values.
fn batch_tau(n: usize, centred: &impl Fn(usize) -> f64, variance: f64, batch: usize) -> f64 {
    let mut sum: f64 = (0..batch).map(centred).sum();
    let mut squares = sum * sum;
    for i in batch..n {
        sum += centred(i) - centred(i - batch);
        squares += sum * sum;
    }
    let (n, b) = (n as f64, batch as f64);
    let long_run = n / (b * (n - b + 1.0) * (n - b)) * squares;
    long_run / variance
}

#[cfg(test)]
pub(crate) mod testing {
    /// Numbers in (0, 1): xorshift64 (Marsaglia 2003).
    pub(crate) fn uniform(seed: u64) -> impl FnMut() -> f64 {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed);
        move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::uniform;
    use super::*;

    fn noise(n: usize) -> Vec<f64> {
        let mut next = uniform(1);
        (0..n)
            .map(|_| (0..12).map(|_| next()).sum::<f64>() - 6.0)
            .collect()
    }

    #[test]
    fn independent_noise_is_worth_about_its_number() {
        let x = noise(100_000);
        let found = Dependence::of(x.len(), |i| x[i]);
        assert!(found.tau < 1.3, "{found:?}");
    }

    #[test]
    fn a_first_order_autoregression_has_its_textbook_time() {
        let e = noise(200_000);
        let mut x = 0.0;
        let ar: Vec<f64> = e
            .iter()
            .map(|e| {
                x = 0.9 * x + e;
                x
            })
            .collect();
        let tau = Dependence::of(ar.len(), |i| ar[i]).tau;
        assert!((15.0..26.0).contains(&tau), "tau is 19, found {tau}");
    }

    #[test]
    fn alternating_values_are_never_worth_more_than_their_number() {
        assert_eq!(Dependence::of(1000, |i| (i % 2) as f64).tau, 1.0);
    }

    #[test]
    fn near_the_fewest_independent_samples_dependence_is_taken_at_its_upper_bound() {
        let cautious = |n: u64, tau: f64| {
            let found = Dependence { tau, dof: 43.5 };
            found.cautious(n, 100.0).tau
        };
        // Chi-squared of 43.5 degrees of freedom: 5 % are below 29.4.
        assert!((cautious(1000, 9.0) - (1.0 + 8.0 * 1.48)).abs() < 0.1);
        assert!((cautious(1000, 6.0) - (1.0 + 5.0 * 1.48)).abs() < 0.1);
        // Far from it, it is what was found; and independent samples stay so.
        assert!((cautious(100_000, 9.0) - 9.0).abs() < 0.01);
        assert_eq!(cautious(150, 1.0), 1.0);
    }

    #[test]
    fn equal_values_are_independent() {
        assert_eq!(Dependence::of(1000, |_| 0.1), Dependence::none(1000));
    }
}
