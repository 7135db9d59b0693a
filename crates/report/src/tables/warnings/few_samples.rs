//! Points whose p99 has no upper confidence bound, and how many exchanges would give it one.

use crate::units::grouped;
use std::fmt;
use wiregauge_record::{Limit, PointSummary};
use wiregauge_run::RunFile;
use wiregauge_stats::{Distribution, FEWEST_SHOWN, samples_to_bound};

/// Points without an upper bound of p99.
pub(super) struct FewSamples {
    /// Which.
    pub(super) points: Vec<u32>,
    /// Exchanges of the point that needs most.
    pub(super) exchanges: u64,
    /// How many independent samples these are worth.
    pub(super) worth: f64,
    /// What would be enough.
    pub(super) needed: Needed,
    /// Only the percentile from the intended start has no bound.
    pub(super) intended: bool,
}

/// What would be enough, in the flag that limits the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::tables) enum Needed {
    /// So many exchanges at each point.
    Count(u64),
    /// So many seconds for each point.
    Seconds(u64),
}

impl fmt::Display for Needed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Needed::Count(count) => write!(
                f,
                "{} exchanges are required (--count {count})",
                grouped(count)
            ),
            Needed::Seconds(seconds) => write!(f, "{0} s are required (--duration {0}s)", seconds),
        }
    }
}

/// The times, if their p99 has no upper bound.
fn open(times: &Option<Distribution>) -> Option<&Distribution> {
    times.as_ref().filter(|times| times.p99.high.is_none())
}

/// The times of a point whose p99 has no upper bound.
fn scarce(point: &PointSummary) -> Option<&Distribution> {
    open(&point.rtt).or_else(|| open(&point.from_intended))
}

/// The warning, if a point deserves it.
pub(super) fn of(file: &RunFile) -> Option<FewSamples> {
    let points: Vec<&PointSummary> = file.points.iter().filter(|p| scarce(p).is_some()).collect();
    let most = points
        .iter()
        .filter_map(|point| {
            let times = scarce(point)?;
            Some((needed(file.plan.limit, point, times), times.n, worth(times)))
        })
        .max_by(|a, b| amount(a.0).cmp(&amount(b.0)))?;
    let (needed, exchanges, worth) = most;
    Some(FewSamples {
        points: points.iter().map(|point| point.point.index).collect(),
        exchanges,
        worth,
        needed,
        intended: points.iter().all(|point| open(&point.rtt).is_none()),
    })
}

/// Independent samples at p99; those of the whole where these alone are too few.
fn worth(times: &Distribution) -> f64 {
    match times.p99_effective_n {
        Some(worth) if times.effective_n >= FEWEST_SHOWN => worth,
        Some(worth) => worth.min(times.effective_n),
        None => times.effective_n,
    }
}

/// With the dependence that was found.
fn needed(limit: Limit, point: &PointSummary, times: &Distribution) -> Needed {
    let n = times.n.max(1) as f64;
    let tau = |worth: f64| n / worth.max(1.0);
    let bound = samples_to_bound(
        0.99,
        tau(times.p99_effective_n.unwrap_or(times.effective_n)),
    );
    let samples = (bound as f64).max(FEWEST_SHOWN * tau(times.effective_n));
    match limit {
        Limit::Count(_) => Needed::Count(rounded_up(samples)),
        Limit::DurationNs(_) => {
            let seconds = samples / n * point.elapsed_ns as f64 / 1e9;
            Needed::Seconds(rounded_up(seconds.max(1.0)))
        }
    }
}

fn amount(needed: Needed) -> u64 {
    match needed {
        Needed::Count(amount) | Needed::Seconds(amount) => amount,
    }
}

/// Two digits, so that "about" is true.
pub(in crate::tables) fn rounded_up(value: f64) -> u64 {
    let step = 10_f64.powf((value.log10().floor() - 1.0).max(0.0));
    ((value / step).ceil() * step) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_digits_are_kept_and_nothing_is_promised_that_is_too_few() {
        for (value, rounded) in [(3.2, 4), (44.1, 45), (483.0, 490), (5_801.0, 5_900)] {
            assert_eq!(rounded_up(value), rounded);
        }
    }
}
