//! A generalised Pareto distribution fitted to the largest values, and every test that it must pass before
//! anything is concluded from it.

use crate::dependence::Dependence;
use crate::interval::of_rare_share;
use crate::no_tail::NoTail;
use crate::pareto::Pareto;
use crate::types::Confidence;

/// Independent values over the threshold that there must be.
pub(crate) const FEWEST: f64 = 50.0;

/// Thresholds that are tried, each with half of the values over it that the one before had.
pub(crate) const THRESHOLDS: u32 = 4;

/// How far the tail is continued: to one in so many times the number of independent values. Set by
/// simulation, as the table in docs/deadline.md shows.
pub(crate) const REACH: f64 = 10.0;

/// How often a tail may be refused by a test of it that in truth has no fault.
const BY_CHANCE: f64 = 0.01;

/// How many standard errors the shape may change from a threshold to the next (`BY_CHANCE`).
const SHAPE_CHANGES: f64 = 2.576;

/// Values of which fewer than this share differ stand on levels, such as those of a clock.
const DISTINCT: f64 = 0.5;

/// Fits the excesses, in descending order, over this threshold; they are worth so many independent ones.
pub(crate) fn tested_fit(
    threshold: u64,
    excesses: &[f64],
    independent: f64,
) -> Result<Pareto, NoTail> {
    let over = excesses.len();
    let distinct = excesses.chunk_by(|a, b| a == b).count();
    if (distinct as f64) < DISTINCT * over as f64 {
        return Err(NoTail::Levels {
            distinct: distinct as u64,
            over: over as u64,
        });
    }
    // What cannot be fitted at all.
    let misfit = NoTail::Misfit {
        statistic: f64::MAX,
        by_chance: 0.0,
    };
    let fit = Pareto::fit(excesses).ok_or(misfit)?;
    // Dependent values scatter about their distribution more than independent ones do, squared by
    // as much as there are fewer of them.
    let fewer = independent / over as f64;
    let (apart, gap) = fit.widest_gap(excesses);
    if gap * fewer > (over as f64 / BY_CHANCE).ln() {
        let value = |at: usize| threshold as f64 + excesses[at];
        return Err(NoTail::Gap {
            apart: apart as u64,
            from: value(apart),
            to: value(apart - 1),
        });
    }
    let (statistic, by_chance) = (fit.misfit(excesses) * fewer, fit.misfit_by_chance());
    // What is no number is no fit either.
    if statistic.is_nan() || statistic > by_chance {
        return Err(NoTail::Misfit {
            statistic,
            by_chance,
        });
    }
    check_counts(fit, threshold, excesses, independent)?;
    check_stable(fit, excesses, independent)?;
    Ok(fit)
}

/// Whether the fit agrees with what was counted: the share over every value that half, a quarter, ... of
/// the excesses exceed, down to a single one, lies within the 95 % interval of the count.
fn check_counts(
    fit: Pareto,
    threshold: u64,
    excesses: &[f64],
    independent: f64,
) -> Result<(), NoTail> {
    let over = excesses.len();
    let dependence = Dependence {
        tau: over as f64 / independent,
        dof: independent,
    };
    let mut count = over / 2;
    while count > 0 {
        let counted = count as f64 / over as f64;
        let fitted = fit.exceeded(excesses[count]);
        let (low, high) = of_rare_share(over as u64, counted, dependence, Confidence::NINETY_FIVE);
        if !(low..=high).contains(&fitted) {
            return Err(NoTail::Disagrees {
                value: threshold as f64 + excesses[count],
                counted: count as u64,
                fitted: fitted * over as f64,
            });
        }
        count /= 2;
    }
    Ok(())
}

/// Whether half of them, over a higher threshold, have the same shape.
fn check_stable(fit: Pareto, excesses: &[f64], independent: f64) -> Result<(), NoTail> {
    let half = excesses.len() / 2;
    let next = excesses[half];
    let higher: Vec<f64> = excesses
        .iter()
        .map(|excess| excess - next)
        .take_while(|&excess| excess > 0.0)
        .collect();
    let Some(above) = Pareto::fit(&higher) else {
        return Ok(());
    };
    // The error of a fitted shape is (1 + shape) / sqrt(n) (Smith 1987). The fit of all is part of
    // the fit of the half, so the variance of their difference is that of the half less that of
    // all (Hausman 1978).
    let halves = independent * higher.len() as f64 / excesses.len() as f64;
    let one = (1.0 + fit.shape).max(0.5);
    let error = one * (1.0 / halves - 1.0 / independent).max(0.0).sqrt();
    let by_chance = SHAPE_CHANGES * error;
    if (above.shape - fit.shape).abs() > by_chance {
        return Err(NoTail::Unstable {
            shape: fit.shape,
            higher: above.shape,
            by_chance,
        });
    }
    Ok(())
}
