//! The difference of two figures from the interval of each: MOVER, the method of variance estimates
//! recovery (Zou & Donner 2008, Statistics in Medicine 27:1693), and its form for ratios (Donner &
//! Zou 2012, Statistical Methods in Medical Research 21:347).
//!
//! The distance from each figure to its own bound takes the place of the standard error, side by
//! side, so an interval that is lopsided (a percentile of a heavy tail) stays lopsided. Both forms
//! come from one inequality, so they agree on whether there is a difference at all.

use crate::interval::student;
use crate::types::{Confidence, Estimate};
use serde::{Deserialize, Serialize};

/// After compared with before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The figure before: of several runs, their mean.
    pub before: Estimate,
    /// The figure after.
    pub after: Estimate,
    /// After less before, in the figure's own unit.
    pub absolute: Estimate,
    /// The same as a part of before: 0.05 is 5 % more. `None` where before is 0.
    pub relative: Option<Estimate>,
    /// SD of the figure between runs of the same side, as a part of it; `None` with one run a side.
    pub between_runs: Option<f64>,
}

/// The difference of a figure that is not negative between two sides, each of one run or more; the
/// bounds of every run are at the same `confidence`, which is that of the difference too. `None`
/// where a side has no run.
///
/// With several runs on a side, their scatter is a second way to know how far a side can be trusted:
/// the relative SD between runs, pooled over both sides, with Student's t at as many degrees of
/// freedom as there are runs less two (less one if only one side has several). The wider of the two
/// counts. It is the only one that knows of placement, boot and temperature.
pub fn difference(
    before: &[Estimate],
    after: &[Estimate],
    confidence: Confidence,
) -> Option<Difference> {
    let between = Between::of(before, after);
    let before = side(before, between, confidence)?;
    let after = side(after, between, confidence)?;
    Some(Difference {
        before,
        after,
        absolute: absolute(before, after),
        relative: (before.value > 0.0).then(|| relative(before, after)),
        between_runs: between.map(|between| between.relative_sd),
    })
}

/// Scatter between runs of the same side.
#[derive(Clone, Copy)]
struct Between {
    relative_sd: f64,
    dof: f64,
}

impl Between {
    fn of(before: &[Estimate], after: &[Estimate]) -> Option<Between> {
        let (mut squares, mut dof) = (0.0, 0.0);
        for side in [before, after].into_iter().filter(|side| side.len() > 1) {
            let mean = mean(side);
            if mean > 0.0 {
                let off = |run: &Estimate| (run.value / mean - 1.0).powi(2);
                squares += side.iter().map(off).sum::<f64>();
            }
            dof += (side.len() - 1) as f64;
        }
        (dof > 0.0).then(|| Between {
            relative_sd: (squares / dof).sqrt(),
            dof,
        })
    }
}

fn mean(runs: &[Estimate]) -> f64 {
    runs.iter().map(|run| run.value).sum::<f64>() / runs.len() as f64
}

/// The mean of the runs of one side.
fn side(runs: &[Estimate], between: Option<Between>, confidence: Confidence) -> Option<Estimate> {
    if runs.is_empty() {
        return None;
    }
    let value = mean(runs);
    let k = runs.len() as f64;
    let scatter = between.map_or(0.0, |between| {
        student(between.dof, confidence) * between.relative_sd * value / k.sqrt()
    });
    // MOVER for a sum: distances add in squares.
    let reach = |bound: fn(&Estimate) -> Option<f64>| {
        let squares = runs
            .iter()
            .map(|run| bound(run).map(|bound| (run.value - bound).powi(2)))
            .sum::<Option<f64>>()?;
        Some((squares.sqrt() / k).max(scatter))
    };
    Some(Estimate {
        value,
        low: reach(|run| run.low).map(|reach| (value - reach).max(0.0)),
        high: reach(|run| run.high).map(|reach| value + reach),
    })
}

fn absolute(before: Estimate, after: Estimate) -> Estimate {
    let value = after.value - before.value;
    let reach = |of_after: Option<f64>, of_before: Option<f64>| {
        Some((after.value - of_after?).hypot(of_before? - before.value))
    };
    Estimate {
        value,
        low: reach(after.low, before.high).map(|reach| value - reach),
        high: reach(after.high, before.low).map(|reach| value + reach),
    }
}

/// The bounds are the ratios R at which the bound of (after - R before) is 0; the quadratic equation
/// is solved in the form that does not cancel.
fn relative(before: Estimate, after: Estimate) -> Estimate {
    let (b, a) = (before.value, after.value);
    // b^2 less the square of a distance, and the same of a.
    let less = |value: f64, bound: f64| bound * (2.0 * value - bound);
    let root = |of_b: f64, of_a: f64| ((a * b).powi(2) - of_b * of_a).max(0.0).sqrt();
    let low = |u1: f64, l2: f64| {
        let (of_b, of_a) = (less(b, u1), less(a, l2));
        let sum = a * b + root(of_b, of_a);
        if sum > 0.0 { of_a / sum - 1.0 } else { -1.0 }
    };
    let high = |l1: f64, u2: f64| {
        let (of_b, of_a) = (less(b, l1), less(a, u2));
        // Before may be as low as 0: nothing bounds the ratio.
        (of_b > 0.0).then(|| (a * b + root(of_b, of_a)) / of_b - 1.0)
    };
    Estimate {
        value: a / b - 1.0,
        low: before.high.zip(after.low).map(|(u1, l2)| low(u1, l2)),
        high: before.low.zip(after.high).and_then(|(l1, u2)| high(l1, u2)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(low: f64, value: f64, high: f64) -> Estimate {
        Estimate {
            value,
            low: Some(low),
            high: Some(high),
        }
    }

    fn of(before: &[Estimate], after: &[Estimate]) -> Difference {
        difference(before, after, Confidence::NINETY_FIVE).unwrap()
    }

    #[test]
    fn newcombes_worked_example_comes_out() {
        // 56 of 70 against 48 of 80: 0.0524 to 0.3339 (Newcombe 1998, Statistics in Medicine
        // 17:873, table II, method 10), from Wilson's intervals of each.
        let before = estimate(0.490_5, 0.6, 0.700_4);
        let after = estimate(0.691_8, 0.8, 0.876_9);
        let found = of(&[before], &[after]).absolute;
        assert!((found.low.unwrap() - 0.0524).abs() < 2e-4, "{found:?}");
        assert!((found.high.unwrap() - 0.3339).abs() < 2e-4, "{found:?}");
    }

    #[test]
    fn both_forms_agree_on_whether_there_is_a_difference() {
        for i in 0..400 {
            let before = estimate(95.0 - f64::from(i % 7), 100.0, 104.0 + f64::from(i % 11));
            let value = 80.0 + f64::from(i) / 10.0;
            let after = estimate(value - 3.0 - f64::from(i % 5), value, value + 9.0);
            let found = of(&[before], &[after]);
            let relative = found.relative.unwrap();
            let sign = |bound: Option<f64>| bound.unwrap() > 0.0;
            assert_eq!(sign(found.absolute.low), sign(relative.low), "{found:?}");
            assert_eq!(sign(found.absolute.high), sign(relative.high), "{found:?}");
            assert!(relative.low.unwrap() <= relative.value);
            assert!(relative.high.unwrap() >= relative.value);
        }
    }

    #[test]
    fn a_bound_that_is_missing_bounds_nothing() {
        let open = Estimate {
            high: None,
            ..estimate(90.0, 100.0, 110.0)
        };
        let found = of(&[open], &[estimate(190.0, 200.0, 210.0)]);
        assert_eq!(found.absolute.low, None);
        assert_eq!(found.relative.unwrap().low, None);
        assert!(found.absolute.high.is_some());
        // Before may be nothing at all: the ratio has no upper bound, the difference has.
        let found = of(&[estimate(0.0, 1.0, 2.0)], &[estimate(1.0, 2.0, 3.0)]);
        assert_eq!(found.relative.unwrap().high, None);
        assert!(found.absolute.high.is_some());
        assert!(of(&[estimate(0.0, 0.0, 0.1)], &[open]).relative.is_none());
    }

    #[test]
    fn runs_that_scatter_widen_the_interval_and_runs_that_agree_narrow_it() {
        let run = |value: f64| estimate(value - 1.0, value, value + 1.0);
        let one = of(&[run(100.0)], &[run(105.0)]);
        let agreeing = of(&[run(100.0); 3], &[run(105.0); 3]);
        let scattered = of(
            &[90.0, 100.0, 110.0].map(run),
            &[95.0, 105.0, 115.0].map(run),
        );
        let width = |found: &Difference| found.absolute.high.unwrap() - found.absolute.low.unwrap();
        assert!(width(&agreeing) < width(&one));
        assert!(one.absolute.low.unwrap() > 0.0 && scattered.absolute.low.unwrap() < 0.0);
        // Textbook: t(4 dof) times the pooled SD of 10 times sqrt(2 / 3), nearly.
        let reach = scattered.absolute.value - scattered.absolute.low.unwrap();
        let off = reach / (2.776 * 10.0 * (2.0_f64 / 3.0).sqrt()) - 1.0;
        assert!(off.abs() < 0.05, "{reach}");
        assert!((scattered.between_runs.unwrap() - 0.0977).abs() < 1e-3);
        assert_eq!(one.between_runs, None);
    }
}
