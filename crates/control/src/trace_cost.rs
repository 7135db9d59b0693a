//! Growth and cost of the loop on a trace of delays, with the interval of the cost.

use crate::ControlError;
use crate::model::Loop;
use crate::schedule::Schedule;
use crate::trace::{Maps, NoiseRun};
use serde::Serialize;

/// Blocks of which the interval of the cost is made.
const BLOCKS: usize = 10;

/// The 97.5 % point of Student's t with 9 degrees of freedom.
const T: f64 = 2.262;

/// A block must last for so many time constants of the loop, or neighbours are not independent.
const TIME_CONSTANTS: f64 = 10.0;

/// The work on a trace, about half a minute: its cycles times the cube of the commands that are outstanding together.
const MOST_WORK: f64 = 1.5e10;

/// The longest constant delay, in periods.
const LONGEST_CONSTANT: u64 = 64;

/// A value with a 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

/// What a trace costs.
pub(crate) struct TraceCost {
    /// Growth per cycle of the loop without noise; below 1 it held.
    pub(crate) growth: f64,
    /// Cost rate; `None` if the loop did not hold.
    pub(crate) cost: Option<f64>,
    /// Its interval, by blocks; `None` if the trace is too short for one, or a few moments cost more than all the rest.
    pub(crate) interval: Option<Interval>,
}

impl TraceCost {
    /// From the maps of a trace and its run of noise.
    pub(crate) fn of(model: &Loop, maps: &Maps<'_>, run: &NoiseRun) -> TraceCost {
        let growth = maps.growth();
        let mut found = TraceCost {
            growth,
            cost: None,
            interval: None,
        };
        if growth < 1.0 && run.cost.len() == maps.cycles() {
            let rate =
                |cost: &[f64]| cost.iter().sum::<f64>() / (cost.len() as f64 * model.period_s);
            let cost = rate(&run.cost);
            found.cost = Some(cost);
            found.interval = interval(&run.cost, growth, cost, rate);
        }
        found
    }
}

/// Refuses what would take minutes: many commands outstanding together in a long trace.
pub(crate) fn check_outstanding(made: &Schedule) -> Result<(), ControlError> {
    let (slots, cycles) = (made.slots as f64, made.cycles.len() as f64);
    match slots.powi(3) * cycles <= MOST_WORK {
        true => Ok(()),
        false => Err(ControlError::TooLong {
            periods: made.slots as u64,
            most: (MOST_WORK / cycles).cbrt() as u64,
        }),
    }
}

/// Refuses a constant delay of so many periods that its maps would take minutes.
pub(crate) fn check_constant(periods: u64) -> Result<(), ControlError> {
    match periods <= LONGEST_CONSTANT {
        true => Ok(()),
        false => Err(ControlError::TooLong {
            periods,
            most: LONGEST_CONSTANT,
        }),
    }
}

fn interval(
    costs: &[f64],
    growth: f64,
    mean: f64,
    rate: impl Fn(&[f64]) -> f64,
) -> Option<Interval> {
    let length = costs.len() / BLOCKS;
    if (length as f64) < TIME_CONSTANTS / -growth.ln() || length < 20 {
        return None;
    }
    let blocks: Vec<f64> = costs.chunks_exact(length).take(BLOCKS).map(rate).collect();
    let squares: f64 = blocks.iter().map(|block| (block - mean).powi(2)).sum();
    let half = T * (squares / (BLOCKS * (BLOCKS - 1)) as f64).sqrt();
    // A few moments that cost more than all the rest say nothing about how often they come.
    (half < mean).then_some(Interval {
        low: mean - half,
        high: mean + half,
    })
}
