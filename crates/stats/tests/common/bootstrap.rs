//! The method that was not chosen, to be held against the one that was: percentile intervals from a
//! circular block bootstrap (Politis & Romano 1992), block length by Politis & White 2004 as
//! corrected by Patton, Politis & White 2009.

use super::Random;

/// Resampled series a run.
const RESAMPLES: usize = 500;

/// The block length that suits the mean of this series.
fn block(values: &[f64]) -> usize {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    let lagged = |lag: usize| -> f64 {
        let pairs = values.iter().zip(&values[lag..]);
        pairs.map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>() / n as f64
    };
    let variance = lagged(0);
    let quiet = ((n as f64).log10().sqrt() as usize).max(5);
    let bound = 2.0 * ((n as f64).log10() / n as f64).sqrt();
    let most = ((n as f64).sqrt().ceil() as usize + quiet).min(n - 1);
    let correlations: Vec<f64> = (1..=most).map(|lag| lagged(lag) / variance).collect();
    let m = (0..correlations.len())
        .find(|&at| {
            correlations[at..]
                .iter()
                .take(quiet)
                .all(|r| r.abs() < bound)
        })
        .unwrap_or(most);
    let reach = (2 * m).clamp(1, most);
    let weight = |lag: usize| (2.0 * (1.0 - lag as f64 / reach as f64)).min(1.0);
    let (mut g, mut spectrum) = (0.0, variance);
    for lag in 1..=reach {
        let covariance = weight(lag) * lagged(lag);
        g += 2.0 * lag as f64 * covariance;
        spectrum += 2.0 * covariance;
    }
    let length = (2.0 * g * g / (4.0 / 3.0 * spectrum * spectrum)).powf(1.0 / 3.0)
        * (n as f64).powf(1.0 / 3.0);
    (length.ceil() as usize).clamp(1, n / 3)
}

/// Mean, p50, p90, p99, p99.9.
fn figures(values: &mut [f64]) -> [f64; 5] {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    values.sort_unstable_by(f64::total_cmp);
    let at = |p: f64| values[((n as f64 * p - 1.0).ceil().max(0.0) as usize).min(n - 1)];
    [mean, at(0.5), at(0.9), at(0.99), at(0.999)]
}

/// Whether any of five figures differs between two series: its difference has an interval that
/// misses 0, so sure that all five hold together with 95 %.
pub fn differs(before: &[u64], after: &[u64], seed: u64) -> bool {
    let random = &mut Random::new(seed ^ 0xB007);
    let mut resampled = |values: &[u64]| -> Vec<[f64; 5]> {
        let values: Vec<f64> = values.iter().map(|&value| value as f64).collect();
        let (n, length) = (values.len(), block(&values));
        (0..RESAMPLES)
            .map(|_| {
                let mut sample = Vec::with_capacity(n + length);
                while sample.len() < n {
                    let from = random.bits() as usize % n;
                    sample.extend((from..from + length).map(|i| values[i % n]));
                }
                sample.truncate(n);
                figures(&mut sample)
            })
            .collect()
    };
    let (before, after) = (resampled(before), resampled(after));
    (0..5).any(|figure| {
        let pairs = before.iter().zip(&after);
        let mut differences: Vec<f64> = pairs.map(|(b, a)| a[figure] - b[figure]).collect();
        differences.sort_unstable_by(f64::total_cmp);
        let outside = (RESAMPLES as f64 * 0.05 / 5.0 / 2.0) as usize;
        differences[outside] > 0.0 || differences[RESAMPLES - 1 - outside] < 0.0
    })
}
