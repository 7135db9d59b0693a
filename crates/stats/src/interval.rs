//! Confidence intervals from an estimate and its dependence: of a mean, of a rank, of a share.

use crate::dependence::{Dependence, FEWEST};
use crate::types::{Confidence, Estimate};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::beta::beta_reg;

/// From so many degrees of freedom on, two terms of an expansion tell more digits of Student's t than
/// the inverse of the incomplete beta function does.
const MANY: f64 = 1e3;

/// What Student's t exceeds on one side with half the probability that an interval may miss. For
/// many degrees of freedom: Cornish & Fisher's expansion, Abramowitz & Stegun 26.7.5.
pub(crate) fn student(dof: f64, confidence: Confidence) -> f64 {
    let one_side = confidence.missed() / 2.0;
    if dof < MANY {
        return StudentsT::new(0.0, 1.0, dof.max(1.0))
            .map_or(f64::INFINITY, |student| -student.inverse_cdf(one_side));
    }
    let z = -Normal::standard().inverse_cdf(one_side);
    let z2 = z * z;
    let g1 = (z2 + 1.0) / 4.0;
    let g2 = ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    z * (1.0 + (g1 + g2 / dof) / dof)
}

/// Of a mean of non-negative values: mean -+ t sd sqrt(tau / n). No bounds below 8 values.
pub(crate) fn of_mean(
    n: u64,
    mean: f64,
    sd: f64,
    dependence: Dependence,
    confidence: Confidence,
) -> Estimate {
    if n < FEWEST as u64 {
        return Estimate {
            value: mean,
            low: None,
            high: None,
        };
    }
    let half = student(dependence.dof, confidence) * sd * (dependence.tau / n as f64).sqrt();
    Estimate {
        value: mean,
        low: Some((mean - half).max(0.0)),
        high: Some(mean + half),
    }
}

/// Rank, from 1, of the nearest-rank percentile `p`. The arithmetic is numpy's, rounding included.
pub(crate) fn rank(n: u64, p: f64) -> u64 {
    let index = (n as f64 * p - 1.0).ceil();
    (index.max(0.0) as u64 + 1).min(n)
}

/// Ranks between which the true percentile `p` lies with that confidence (distribution-free; David
/// & Nagaraja, "Order Statistics", 7.1). How many of n values lie below the true percentile is
/// binomial; here with n / tau trials, and by the normal approximation corrected for skewness.
///
/// No upper rank where even the largest of n / tau values lies below the percentile with more than
/// the probability of missing on one side (at 95 % below 3,688 for p99.9), and likewise at the lower end.
pub(crate) fn ranks(
    n: u64,
    p: f64,
    dependence: Dependence,
    confidence: Confidence,
) -> (Option<u64>, Option<u64>) {
    if n < FEWEST as u64 {
        return (None, None);
    }
    let trials = n as f64 / dependence.tau;
    let t = student(dependence.dof, confidence);
    let half = t * (p * (1.0 - p) / trials).sqrt();
    let skew = (t * t - 1.0) * (1.0 - 2.0 * p) / (6.0 * trials);
    let here = rank(n, p);
    let low = (n as f64 * (p - half + skew)).floor();
    let high = (n as f64 * (p + half + skew)).ceil() + 1.0;
    let can_bound = |p: f64| p.powf(trials) <= confidence.missed() / 2.0;
    (
        (can_bound(1.0 - p) && low >= 1.0).then_some((low as u64).min(here)),
        (can_bound(p) && high <= n as f64).then_some((high as u64).max(here)),
    )
}

/// The number of samples with which percentile `p` has an upper bound at 95 %, where each `tau` samples are
/// worth one independent one.
pub fn samples_to_bound(p: f64, tau: f64) -> u64 {
    let sure = Confidence::NINETY_FIVE;
    let is_bound = |&n: &u64| {
        let (_, high) = ranks(n, p, Dependence::expected(n, tau), sure);
        high.is_some()
    };
    let steps = std::iter::successors(Some(FEWEST as u64), |n| n.checked_add((n / 1024).max(1)));
    let enough = steps.into_iter().find(is_bound).unwrap_or(u64::MAX);
    // The last step may have been over the first that is enough.
    let before = (FEWEST as u64..enough).rev().take_while(is_bound);
    before.last().unwrap_or(enough)
}

/// The smallest share at the upper end for which `ranks` gives an upper bound at 95 %, from so many
/// independent values: 1 - 0.025^(1 / m), about 3.7 / m.
pub(crate) fn smallest_share(independent: f64) -> f64 {
    if independent < FEWEST as f64 {
        return 1.0;
    }
    -((0.025_f64).ln() / independent).exp_m1()
}

/// Of a share with many hits and misses (Wilson 1927, "Probable inference, the law of succession, and
/// statistical inference") with n / tau trials and t for z. Of few it is too short: one miss of 50 would
/// exclude that one of 500 misses.
fn of_share(n: u64, share: f64, dependence: Dependence, confidence: Confidence) -> (f64, f64) {
    if n == 0 {
        return (0.0, 1.0);
    }
    let trials = n as f64 / dependence.tau;
    let t = if n < FEWEST as u64 {
        student(f64::INFINITY, confidence)
    } else {
        student(dependence.dof, confidence)
    };
    let shrink = 1.0 / (1.0 + t * t / trials);
    let centre = (share + t * t / (2.0 * trials)) * shrink;
    let half = t * (share * (1.0 - share) / trials + (t / (2.0 * trials)).powi(2)).sqrt() * shrink;
    (
        (centre - half).clamp(0.0, share),
        (centre + half).clamp(share, 1.0),
    )
}

/// Hits and misses from which on Wilson's interval and the exact one are the same to a few percent of
/// their width.
const OFTEN: f64 = 1000.0;

/// Of a share that may be rare: Clopper and Pearson's exact interval (Biometrika 26, 1934) of n / tau
/// trials, made fewer by (z / t)^2 for tau being an estimate (Korn & Graubard, "Confidence intervals
/// for proportions with small expected number of positive counts estimated from survey data",
/// Survey Methodology 24, 1998, 193). Wilson's is too short where few are expected.
pub(crate) fn of_rare_share(
    n: u64,
    share: f64,
    dependence: Dependence,
    confidence: Confidence,
) -> (f64, f64) {
    if n == 0 {
        return (0.0, 1.0);
    }
    let z = student(f64::INFINITY, confidence);
    let t = student(dependence.dof.max(FEWEST as f64), confidence);
    let trials = n as f64 / dependence.tau * (z / t).powi(2);
    let hits = share * trials;
    if hits.min(trials - hits) > OFTEN {
        return of_share(n, share, dependence, confidence);
    }
    let one_side = confidence.missed() / 2.0;
    // A part of an event bounds nothing from below.
    let low = match hits >= 0.5 {
        true => beta_quantile(hits, trials - hits + 1.0, one_side),
        false => 0.0,
    };
    let high = match hits < trials {
        true => beta_quantile(hits + 1.0, trials - hits, 1.0 - one_side),
        false => 1.0,
    };
    (low.min(share), high.max(share))
}

/// The value that a beta distribution stays below with this probability, by bisection on the logit:
/// it may be anywhere between 1e-18 and 1.
fn beta_quantile(a: f64, b: f64, probability: f64) -> f64 {
    let share = |logit: f64| 1.0 / (1.0 + (-logit).exp());
    let (mut low, mut high) = (-45.0, 35.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if beta_reg(a, b, share(middle)) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    share(0.5 * (low + high))
}

/// A share of independent trials, with Clopper and Pearson's interval.
pub fn share_of(trials: u64, share: f64, confidence: Confidence) -> Estimate {
    // Known to be independent, not found to be.
    let independent = Dependence {
        tau: 1.0,
        dof: f64::INFINITY,
    };
    let (low, high) = of_rare_share(trials, share, independent, confidence);
    Estimate {
        value: share,
        low: Some(low),
        high: Some(high),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT_95: Confidence = Confidence::NINETY_FIVE;

    fn of(tau: f64, dof: f64) -> Dependence {
        Dependence { tau, dof }
    }

    #[track_caller]
    fn assert_near((low, high): (f64, f64), expected: (f64, f64), by: f64) {
        let near = (low - expected.0).abs() < by && (high - expected.1).abs() < by;
        assert!(near, "{low} to {high}, not {expected:?}");
    }

    #[test]
    fn student_agrees_with_the_tables() {
        for (dof, t) in [
            (7.0, 2.364_62),
            (10.0, 2.228_14),
            (30.0, 2.042_27),
            (1e6, 1.959_97),
            (1e12, 1.959_964),
        ] {
            let found = student(dof, AT_95);
            assert!((found / t - 1.0).abs() < 1e-5, "dof {dof}: {found}");
        }
        // 99.99 %, as hundreds of intervals together need it.
        let sure = AT_95.shared_by(500);
        for (dof, t) in [(7.0, 7.884_58), (60.0, 4.168_92), (1e9, 3.890_59)] {
            let found = student(dof, sure);
            assert!((found / t - 1.0).abs() < 1e-4, "dof {dof}: {found}");
        }
    }

    #[test]
    fn wilson_agrees_with_a_worked_example() {
        // 15 of 50: 0.1910 to 0.4375 with z = 1.96.
        let found = of_share(50, 0.3, of(1.0, 1e9), AT_95);
        assert_near(found, (0.1910, 0.4375), 1e-4);
    }

    #[test]
    fn a_share_of_all_or_nothing_keeps_a_sensible_interval() {
        let independent = Dependence::none(1000);
        let (low, high) = of_share(1000, 1.0, independent, AT_95);
        assert!(low > 0.99 && low < 1.0 && high == 1.0);
        let (low, high) = of_share(1000, 0.0, independent, AT_95);
        assert!(low == 0.0 && high > 0.0 && high < 0.01);
    }

    #[test]
    fn a_rare_share_has_the_exact_interval() {
        // R: binom.test(k, n)$conf.int
        for (n, hits, low, high) in [
            (100, 0, 0.0, 0.036_216_7),
            (100, 1, 0.000_253_146, 0.054_459_4),
            (1000, 5, 0.001_625_36, 0.011_629_4),
            (20, 20, 0.831_566_5, 1.0),
        ] {
            let share = f64::from(hits) / n as f64;
            let found = of_rare_share(n, share, of(1.0, 1e12), AT_95);
            assert_near(found, (low, high), 1e-5);
        }
        // None of a billion: 3.69 in a billion, and a thousand times that if a thousand are one.
        let (_, high) = of_rare_share(1_000_000_000, 0.0, of(1.0, 1e12), AT_95);
        assert!((high * 1e9 - 3.689).abs() < 0.01, "{high}");
        let (_, high) = of_rare_share(1_000_000_000, 0.0, of(1e3, 1e12), AT_95);
        assert!((high * 1e6 - 3.689).abs() < 0.01, "{high}");
    }

    #[test]
    fn one_miss_of_fifty_does_not_exclude_one_of_five_hundred() {
        let estimate = share_of(50, 0.98, AT_95);
        // R: binom.test(49, 50)$conf.int
        let (low, high) = (estimate.low.unwrap(), estimate.high.unwrap());
        assert!((low - 0.893_5).abs() < 1e-3, "{estimate:?}");
        assert!((high - 0.999_49).abs() < 1e-4, "{estimate:?}");
        let mut series = crate::Series::new();
        // The late one must not look like dependence.
        (0..50).for_each(|i| series.push(if i == 20 { 100 } else { 1 + i * 7 % 5 }));
        let share = series.share_below(100, 0);
        assert!(share.high > 0.998, "{share:?}");
    }

    #[test]
    fn the_median_of_a_hundred_lies_between_the_textbook_ranks() {
        // Binomial(100, 1/2): ranks 40 and 61 cover with 96.5 %.
        let found = ranks(100, 0.5, of(1.0, 1e9), AT_95);
        assert_eq!(found, (Some(40), Some(61)));
    }

    #[test]
    fn the_number_of_samples_that_bound_a_percentile_does_and_fewer_do_not() {
        for p in [0.5, 0.9, 0.99, 0.999] {
            for tau in [1.0, 3.0, 12.0] {
                let n = samples_to_bound(p, tau);
                let bound = |n: u64| ranks(n, p, Dependence::expected(n, tau), AT_95).1;
                assert!(bound(n).is_some(), "{p}, tau {tau}: {n}");
                assert!(bound(n * 99 / 100 - 1).is_none(), "{p}, tau {tau}: {n}");
                // 1 - p of n / tau samples are a few.
                let beyond = (1.0 - p) * n as f64 / tau;
                assert!((1.8..9.0).contains(&beyond), "{p}, tau {tau}: {beyond}");
            }
        }
    }

    #[test]
    fn the_documentation_has_these_numbers_of_independent_samples() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/statistics.md");
        let page = std::fs::read_to_string(path).expect("the page");
        let numbers = [0.5, 0.9, 0.99, 0.999].map(|p| samples_to_bound(p, 1.0).to_string());
        let row = format!("| {} |", numbers.join(" | "));
        assert!(page.contains(&row), "{row}");
    }
}
