//! What the measured delays do to the loop, in the order in which they were measured: exact, and about this trace only.

use crate::constant::{ConstantDelay, constant_delay, without_delay};
use crate::delays::Delays;
use crate::model::Loop;
use crate::pattern::Flows;
use crate::schedule::{Rules, Schedule, schedule};
use crate::step::{Step, StepPlan, step};
use crate::trace::Maps;
use crate::trace_cost::{Interval, TraceCost, check_constant, check_outstanding};
use crate::{ControlError, Matrix};
use nalgebra::DVector;
use serde::Serialize;

/// Steps that are simulated, evenly spread over the trace.
const STEPS: usize = 40;

/// Longest simulated step, in cycles.
const LONGEST_STEP: usize = 400;

/// Outputs a period of a simulated step.
const SAMPLES: u32 = 8;

/// Points of the curve of cost against constant delay, at equal distances.
const CURVE: u64 = 48;

/// Neighbours of that curve whose costs differ by more than this factor get a point between them, if there is room.
const STEEP: f64 = 1.1;

/// The verdict on one trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OnTrace {
    /// Growth per cycle of the loop without noise; below 1 it held.
    pub growth: f64,
    /// Cost rate; `None` if the loop did not hold.
    pub cost: Option<f64>,
    /// Its interval, by blocks; `None` if the trace is too short for one, or a few moments cost more than all the rest.
    pub interval: Option<Interval>,
    /// Without any delay.
    pub no_delay: ConstantDelay,
    /// With the median delay in each cycle.
    pub median_delay: ConstantDelay,
    /// The constant delay that costs as much as this trace, in nanoseconds; `None` if none of the curve does.
    pub equal_delay_ns: Option<u64>,
    /// Cost against constant delay, up to where the loop becomes unstable or twice the longest delay.
    pub curve: Vec<ConstantDelay>,
    /// The cycle at which the output varies most.
    pub worst_cycle: usize,
    /// Standard deviation of the output there, as a multiple of that without delay.
    pub worst_ratio: f64,
    /// Steps; `None` if the first output does not follow its reference, or the loop did not hold.
    pub step: Option<Steps>,
}

/// Step responses that begin at different cycles.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Steps {
    /// The final value of the first output for a reference of 1.
    pub target: f64,
    /// Without delay.
    pub no_delay: StepFigures,
    /// Median over the starting moments.
    pub median: StepFigures,
    /// The largest of each figure.
    pub worst: StepFigures,
    /// Starting moments.
    pub starts: usize,
    /// A command reached a limit of the model.
    pub is_limited: bool,
    /// From one value of the outputs below to the next, in seconds.
    pub sample_s: f64,
    /// The output without delay.
    #[serde(skip)]
    pub output: Vec<f64>,
    /// Lowest, median and highest output over the starting moments.
    #[serde(skip)]
    pub band: Vec<[f64; 3]>,
}

/// What a step is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StepFigures {
    /// Largest value above the final one, as a share of it.
    pub overshoot: f64,
    /// Seconds until it stays within 2 %; `None`: not within the simulated time.
    pub settling_s: Option<f64>,
    /// Integral of the squared control error.
    pub squared_error: f64,
}

impl StepFigures {
    fn of(step: &Step) -> StepFigures {
        StepFigures {
            overshoot: step.overshoot,
            settling_s: step.settling_s,
            squared_error: step.squared_error,
        }
    }
}

/// The verdict on these delays (`None`: lost), in the order in which they were measured.
///
/// # Errors
/// [`ControlError::Unstable`] if the loop is unstable without any delay, [`ControlError::NoAnswer`] if no answer counts,
/// [`ControlError::TooLong`] if too many are outstanding together.
pub fn on_trace(
    model: &Loop,
    flows: &mut Flows,
    delays: &[Option<u64>],
    period_ns: u64,
    rules: Rules,
) -> Result<OnTrace, ControlError> {
    let no_delay = without_delay(model, flows)?;
    let found = Delays::of(delays, period_ns, rules.deadline_ns).ok_or(ControlError::NoAnswer)?;
    let made = schedule(delays, period_ns, flows.ticks(), rules);
    check_outstanding(&made)?;
    check_constant(found.median_ns / period_ns)?;
    let maps = Maps::new(model, flows, &made);
    let run = maps.usual_noise();
    let TraceCost {
        growth,
        cost,
        interval,
    } = TraceCost::of(model, &maps, &run);
    let mut verdict = OnTrace {
        growth,
        cost,
        interval,
        no_delay,
        median_delay: constant_delay(model, flows, period_ns, found.median_ns),
        equal_delay_ns: None,
        curve: curve(model, flows, period_ns, found.max_ns),
        worst_cycle: 0,
        worst_ratio: 1.0,
        step: None,
    };
    (verdict.worst_cycle, verdict.worst_ratio) =
        worst(&run.variance, no_delay.variance.unwrap_or(0.0));
    if let (Some(cost), Some(cost_without)) = (cost, no_delay.cost) {
        verdict.equal_delay_ns = equal_delay(&verdict.curve, cost, cost_without);
        verdict.step = steps(model, flows, &made, period_ns, growth);
    }
    Ok(verdict)
}

fn worst(variance: &[f64], usual: f64) -> (usize, f64) {
    let largest = variance
        .iter()
        .enumerate()
        .max_by(|a, b| a.1.total_cmp(b.1));
    let (cycle, value) = largest.map_or((0, usual), |(cycle, value)| (cycle, *value));
    match usual > 0.0 {
        true => (cycle, (value / usual).sqrt()),
        false => (cycle, 1.0),
    }
}

/// From no delay on, as long as the loop is stable.
fn curve(model: &Loop, flows: &mut Flows, period_ns: u64, longest_ns: u64) -> Vec<ConstantDelay> {
    // A straggler of many periods says nothing about constant delays; on the grid, so that flows are shared.
    let tick = (period_ns / u64::from(flows.ticks())).max(1);
    let end = longest_ns
        .clamp(period_ns / 4, 4 * period_ns)
        .saturating_mul(2);
    let stride = (end / CURVE).div_ceil(tick).max(1) * tick;
    let mut curve = Vec::new();
    for point in 0..=CURVE {
        let found = constant_delay(model, flows, period_ns, point * stride);
        if found.cost.is_none() {
            break;
        }
        curve.push(found);
    }
    // Where the cost rises steeply, the points between are computed as well.
    let mut spare = CURVE;
    let mut at = 0;
    while let Some((low, high)) = curve.get(at).zip(curve.get(at + 1)) {
        let middle = low.delay_ns.midpoint(high.delay_ns) / tick * tick;
        let is_steep = low
            .cost
            .zip(high.cost)
            .is_some_and(|(low, high)| high > STEEP * low);
        if !is_steep || middle <= low.delay_ns || spare == 0 {
            at += 1;
            continue;
        }
        spare -= 1;
        let found = constant_delay(model, flows, period_ns, middle);
        match found.cost {
            Some(_) => curve.insert(at + 1, found),
            None => at += 1,
        }
    }
    curve
}

/// Where the curve first reaches this cost.
fn equal_delay(curve: &[ConstantDelay], cost: f64, without: f64) -> Option<u64> {
    if cost <= without {
        return None;
    }
    curve.windows(2).find_map(|pair| {
        let (low, high) = (pair[0].cost?, pair[1].cost?);
        (low <= cost && cost <= high).then(|| {
            let share = (cost - low) / (high - low).max(f64::MIN_POSITIVE);
            let width = (pair[1].delay_ns - pair[0].delay_ns) as f64;
            pair[0].delay_ns + (share * width) as u64
        })
    })
}

/// The first output's final value for a reference of 1 without delay; `None` if it does not follow.
pub fn step_target(model: &Loop) -> Option<f64> {
    let none = schedule(&[Some(0)], 1, 1, Rules::default());
    let mut flows = Flows::new(model, 1);
    let maps = Maps::new(model, &mut flows, &none);
    let map = &maps.of_cycle(0).map;
    let (size, length) = (maps.layout().at_reference(), maps.layout().length());
    let mut of_reference = DVector::zeros(length - size);
    of_reference[0] = 1.0;
    let pushed = map.view((0, size), (size, length - size)) * of_reference;
    let left = Matrix::identity(size, size) - map.view((0, 0), (size, size));
    let steady = left.lu().solve(&pushed)?;
    let value = (model.plant.c.row(0) * steady.rows(0, model.plant.states()))[0];
    (value.is_finite() && value.abs() > 1e-9).then_some(value)
}

fn steps(
    model: &Loop,
    flows: &mut Flows,
    made: &Schedule,
    period_ns: u64,
    growth: f64,
) -> Option<Steps> {
    let target = step_target(model)?;
    // Until the slowest mode has fallen to 0.1 %.
    let cycles = ((7.0 / -growth.ln()).ceil() as usize).clamp(20, LONGEST_STEP);
    let cycles = cycles.min(made.cycles.len());
    let plan = |start| StepPlan {
        start,
        cycles,
        samples: SAMPLES,
        target,
    };
    let none = schedule(
        &vec![Some(0); cycles],
        period_ns,
        flows.ticks(),
        Rules::default(),
    );
    let without = step(model, flows, &none, plan(0));
    let room = made.cycles.len() - cycles;
    let count = STEPS.min(room + 1);
    let starts = (0..count).map(|i| i * room / (count - 1).max(1));
    let found: Vec<Step> = starts
        .map(|start| step(model, flows, made, plan(start)))
        .collect();
    let sorted = |figure: &dyn Fn(&Step) -> f64| {
        let mut all: Vec<f64> = found.iter().map(figure).collect();
        all.sort_by(f64::total_cmp);
        all
    };
    let settled = |value: f64| value.is_finite().then_some(value);
    let overshoot = sorted(&|step| step.overshoot);
    let settling = sorted(&|step| step.settling_s.unwrap_or(f64::INFINITY));
    let squared = sorted(&|step| step.squared_error);
    let at = |rank: usize| StepFigures {
        overshoot: overshoot[rank],
        settling_s: settled(settling[rank]),
        squared_error: squared[rank],
    };
    let band = (0..without.output.len()).map(|sample| {
        let all = sorted(&|step| step.output[sample]);
        [all[0], all[all.len() / 2], all[all.len() - 1]]
    });
    let stride = (made.ticks / SAMPLES).max(1);
    Some(Steps {
        target,
        no_delay: StepFigures::of(&without),
        median: at(count / 2),
        worst: at(count - 1),
        starts: count,
        is_limited: found.iter().any(|step| step.is_limited),
        sample_s: model.period_s * f64::from(stride) / f64::from(made.ticks),
        band: band.collect(),
        output: without.output,
    })
}
