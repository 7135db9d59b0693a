//! What is handed to tables, figures and files: plain numbers in the unit of the samples.

use serde::{Deserialize, Serialize};

/// How sure an interval is: the probability that it misses the truth, both sides together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confidence {
    missed: f64,
}

impl Confidence {
    /// 95 %.
    pub const NINETY_FIVE: Confidence = Confidence { missed: 0.05 };

    /// So sure that this many intervals hold together with this confidence, however they depend on
    /// each other (Bonferroni's inequality; Dunn 1961).
    pub fn shared_by(self, intervals: usize) -> Confidence {
        Confidence {
            missed: self.missed / intervals.max(1) as f64,
        }
    }

    /// The probability that an interval misses the truth.
    pub fn missed(self) -> f64 {
        self.missed
    }
}

/// A value with confidence bounds, at 95 % where nothing else is said. A bound is `None` on a side that the samples cannot bound,
/// such as above the p99.9 of 50 samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The value found.
    pub value: f64,
    /// Lower confidence bound.
    pub low: Option<f64>,
    /// Upper confidence bound.
    pub high: Option<f64>,
}

/// What many samples amount to. All but `n`, `effective_n` and `resolution` are in the unit of the
/// samples.
///
/// Percentiles are nearest-rank (inverted CDF): the smallest sample with at least that share of all
/// samples at or below it. Never interpolated; `numpy.quantile(..., method="inverted_cdf")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Number of samples.
    pub n: u64,
    /// Smallest.
    pub min: f64,
    /// Arithmetic mean.
    pub mean: Estimate,
    /// Standard deviation with n - 1 in the denominator; 0 for a single sample.
    pub sd: f64,
    /// `mean` + `sd`.
    pub mean_plus_sd: f64,
    /// Median.
    pub p50: Estimate,
    /// 90th percentile.
    pub p90: Estimate,
    /// 99th percentile.
    pub p99: Estimate,
    /// 99.9th percentile.
    pub p999: Estimate,
    /// Interquartile range, p75 - p25.
    pub iqr: f64,
    /// p99 - p50.
    pub p99_minus_p50: f64,
    /// Third-largest; with fewer than three samples the smallest of those there are.
    pub max3: f64,
    /// Largest.
    pub max: f64,
    /// How many independent samples these are worth for the mean: n over the integrated
    /// autocorrelation time. At most n; equal to n below 8 samples, where nothing can be said.
    pub effective_n: f64,
    /// How many independent samples these are worth for p99; `None` below 8 samples and in summaries made
    /// before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_effective_n: Option<f64>,
    /// Relative resolution of the percentiles, `iqr` and `p99_minus_p50`: 0 where exact, else that
    /// of the histogram (1/1024). Everything else is exact at any n.
    pub resolution: f64,
}

/// Share of the samples strictly below a limit, with a 95 % interval (Clopper and Pearson) at the number of
/// independent samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// The limit, in the unit of the samples.
    pub limit: u64,
    /// Share below it, 0 to 1; 0 where there is nothing to count.
    pub share: f64,
    /// Lower 95 % confidence bound.
    pub low: f64,
    /// Upper 95 % confidence bound.
    pub high: f64,
}

impl Share {
    /// The 95 % interval; `None` where the samples exclude nothing.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let (low, high) = (self.low, self.high);
        (low > 0.0 || high < 1.0).then_some((low, high))
    }
}

/// One peak of a distribution, in the unit of the samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mode {
    /// Smallest sample that belongs to it: the valley before it, or the minimum.
    pub low: f64,
    /// Where samples are densest on the logarithmic axis.
    pub peak: f64,
    /// Largest sample that belongs to it: the valley after it, or the maximum.
    pub high: f64,
    /// Share of the samples from `low` to `high`, 0 to 1.
    pub share: f64,
}
