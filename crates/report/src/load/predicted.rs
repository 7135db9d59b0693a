//! What a control loop would cost at other periods than the one that was measured: predicted from the requests of the run.
//! Nothing here was measured, and every use of it must say so.

use super::control::{ControlPoint, Controls};
use super::requests::Requests;
use serde::Serialize;
use wiregauge_control::{
    ControlError, Flows, Interval, Loop, Pid, Rules, TICKS, TraceCost, trace_cost, without_delay,
};
use wiregauge_record::Schedule;
use wiregauge_run::{Exchange, Run, RunError};

/// Requests that are enough to compare costs, of all points together and of each.
const ENOUGH: usize = 20_000;
const MOST: usize = 5_000;
const FEWEST: usize = 500;

/// Periods that are tried, as multiples of that of the loop.
const PERIODS: [(u64, u64); 10] = [
    (1, 4),
    (1, 3),
    (1, 2),
    (2, 3),
    (3, 4),
    (5, 4),
    (3, 2),
    (2, 1),
    (3, 1),
    (4, 1),
];

/// A prediction that would save less than this part of the lowest measured cost is not worth a measurement.
const WORTH_IT: f64 = 0.01;

/// Predictions, or why there are none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Predictions {
    /// The measured settings at other periods.
    pub periods: Vec<PredictedPeriod>,
    /// Why periods are missing.
    pub no_periods: Option<String>,
}

/// A measured setting at another period, the controller discretised for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PredictedPeriod {
    /// Index of the measured point.
    pub point: u32,
    /// The period.
    pub period_ns: u64,
    /// Growth per cycle.
    pub growth: f64,
    /// Cost rate; `None`: unbounded.
    pub cost: Option<f64>,
    /// Its interval by blocks of the trace, as that of a measured cost.
    pub interval: Option<Interval>,
    /// The cost as a multiple of that of the same requests at the period of the loop.
    pub to_measured: Option<f64>,
}

impl Predictions {
    /// The period with the lowest cost, if even the upper end of its interval is below the lowest measured cost. Nothing
    /// is better than a cost that a few moments dominate.
    pub fn promising(&self, controls: &Controls) -> Option<&PredictedPeriod> {
        let measured = controls.points.iter();
        let measured = measured.filter_map(|point| Some(&point.assessment.as_ref()?.on_trace));
        let measured = measured.filter_map(|found| Some((found.cost?, found.interval)));
        let (lowest, interval) = measured.min_by(|a, b| a.0.total_cmp(&b.0))?;
        interval?;
        let at_most = |one: &PredictedPeriod| one.interval.map(|interval| interval.high);
        let cost = |one: &PredictedPeriod| one.cost.unwrap_or(f64::INFINITY);
        let better = self.periods.iter();
        let better =
            better.filter(|one| at_most(one).is_some_and(|cost| cost < (1.0 - WORTH_IT) * lowest));
        better.min_by(|a, b| cost(a).total_cmp(&cost(b)))
    }
}

/// Predicts from the points of `controls`. `pid`: the controller, if it is one that can be discretised for another period.
///
/// # Errors
/// The samples cannot be read.
pub fn predictions(
    run: &Run<Exchange>,
    controls: &Controls,
    model: &Loop,
    pid: Option<Pid>,
) -> Result<Predictions, RunError> {
    let mut found = Predictions::default();
    let Some(pid) = pid else {
        let why = "Other periods are not predicted: the controller is in discrete time, so it cannot be discretised for \
                   another period (a PID controller can).";
        found.no_periods = Some(why.into());
        return Ok(found);
    };
    let answered = || controls.points.iter().filter(|p| p.assessment.is_some());
    let most = (ENOUGH / answered().count().max(1)).clamp(FEWEST, MOST);
    for point in answered() {
        let index = point.point.index;
        let at = (run.file.points.iter()).position(|other| other.point.index == index);
        let Some(at) = at else { continue };
        let requests = Requests::read(run, at, controls.taken, most)?;
        let measured = trace_cost(
            model,
            &mut Flows::new(model, TICKS),
            &requests.cycles(controls.period_ns),
            controls.rules,
        );
        let measured = measured.ok().and_then(|found| found.cost);
        let from_ns = shortest_period(point, run.file.plan.schedule);
        for (times, of) in PERIODS {
            let period_ns = controls.period_ns.saturating_mul(times) / of;
            if period_ns == 0 {
                continue;
            }
            if period_ns < controls.period_ns.min(from_ns) {
                let why = "Periods below that of the loop are predicted down to the p99 of the responses: below it, more \
                           of them would overlap than did in this run.";
                found.no_periods = Some(why.into());
                continue;
            }
            let there = at_period(model, pid, period_ns, &requests, controls.rules);
            found.periods.extend(there.map(|there| PredictedPeriod {
                point: index,
                period_ns,
                growth: there.growth,
                cost: there.cost,
                interval: there.interval,
                to_measured: ratio(there.cost, measured),
            }));
        }
    }
    Ok(found)
}

/// Shorter ones are not predicted. The loop must be able to send at nearly every tick; and requests that are sent
/// more often than they were measured wait for each other longer, unless hardly any is still outstanding when the
/// next one is sent. Those of a run as fast as possible waited as long as they can.
fn shortest_period(point: &ControlPoint, schedule: Schedule) -> u64 {
    let depth = match schedule {
        Schedule::AsFastAsPossible => u64::from(point.point.depth.max(1)),
        Schedule::EveryNs(_) => 1,
    };
    let p99_ns = point.assessment.as_ref().map(|one| one.delays.p99_ns);
    p99_ns.map_or(u64::MAX, |p99_ns| p99_ns / depth)
}

/// What the requests cost at a period; `None`: the controller cannot be discretised for it, or the loop not computed.
fn at_period(
    model: &Loop,
    pid: Pid,
    period_ns: u64,
    requests: &Requests,
    rules: Rules,
) -> Option<TraceCost> {
    let period_s = period_ns as f64 / 1e9;
    let model = Loop {
        controller: pid.state_space(period_s).ok()?,
        period_s,
        ..model.clone()
    };
    let mut flows = Flows::new(&model, TICKS);
    match without_delay(&model, &mut flows) {
        // Without delay it is unstable at this period.
        Err(ControlError::Unstable { growth }) => Some(TraceCost {
            growth,
            cost: None,
            interval: None,
        }),
        _ => trace_cost(&model, &mut flows, &requests.cycles(period_ns), rules).ok(),
    }
}

fn ratio(cost: Option<f64>, measured: Option<f64>) -> Option<f64> {
    let (cost, measured) = cost.zip(measured)?;
    (measured > 0.0).then_some(cost / measured)
}
