//! What a control loop would cost at other periods, sizes and depths than those that were measured: predicted from the
//! requests of the run, and from the link's model. Nothing here was measured, and every use of it must say so.

use super::control::{ControlPoint, Controls};
use super::predicted_rtt::{Candidate, candidates};
use super::requests::{Changed, Requests};
use serde::Serialize;
use wiregauge_control::{
    ControlError, Flows, Interval, Loop, Pid, Rules, TICKS, trace_cost, without_delay,
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
    /// Other settings at the period of the loop.
    pub settings: Vec<PredictedSetting>,
    /// Why settings are missing.
    pub no_settings: Option<String>,
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

/// A setting that was not measured, at the period of the loop.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PredictedSetting {
    /// Index of the measured point whose requests are replayed with other round-trip times.
    pub point: u32,
    /// Bytes of a request.
    pub out_bytes: u32,
    /// Bytes of a response.
    pub in_bytes: u32,
    /// Requests outstanding.
    pub depth: u32,
    /// Mean RTT that the link's model predicts, in nanoseconds, with its prediction interval.
    pub rtt_ns: f64,
    /// Lower end.
    pub rtt_low_ns: f64,
    /// Upper end.
    pub rtt_high_ns: f64,
    /// Confidence of the interval, 0 to 1.
    pub share: f64,
    /// Cost rate at the predicted RTT; `None`: unbounded.
    pub cost: Option<f64>,
    /// The lowest cost within the interval of the RTT.
    pub cost_low: Option<f64>,
    /// The highest; `None`: unbounded.
    pub cost_high: Option<f64>,
    /// The cost as a multiple of that of the same requests as they were measured.
    pub to_measured: Option<f64>,
}

/// The prediction that is worth measuring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Promising<'a> {
    /// Another period.
    Period(&'a PredictedPeriod),
    /// Another setting.
    Setting(&'a PredictedSetting),
}

impl Promising<'_> {
    /// Its cost.
    pub fn cost(&self) -> Option<f64> {
        match self {
            Promising::Period(one) => one.cost,
            Promising::Setting(one) => one.cost,
        }
    }

    /// The cost that it has at most; `None` where the trace is too short for an interval, or a few moments dominate it.
    fn at_most(&self) -> Option<f64> {
        match self {
            Promising::Period(one) => one.interval.map(|interval| interval.high),
            Promising::Setting(one) => one.cost_high,
        }
    }
}

impl Predictions {
    /// The prediction with the lowest cost, if even the upper end of its interval is below the lowest measured cost. Nothing
    /// is better than a cost that a few moments dominate.
    pub fn promising(&self, controls: &Controls) -> Option<Promising<'_>> {
        let measured = controls.points.iter();
        let measured = measured.filter_map(|point| Some(&point.assessment.as_ref()?.on_trace));
        let measured = measured.filter_map(|found| Some((found.cost?, found.interval)));
        let (lowest, interval) = measured.min_by(|a, b| a.0.total_cmp(&b.0))?;
        interval?;
        let periods = self.periods.iter().map(Promising::Period);
        let all = periods.chain(self.settings.iter().map(Promising::Setting));
        all.filter(|one| {
            one.at_most()
                .is_some_and(|cost| cost < (1.0 - WORTH_IT) * lowest)
        })
        .min_by(|a, b| {
            let cost = |one: &Promising<'_>| one.cost().unwrap_or(f64::INFINITY);
            cost(a).total_cmp(&cost(b))
        })
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
    let answered = || controls.points.iter().filter(|p| p.assessment.is_some());
    let most = (ENOUGH / answered().count().max(1)).clamp(FEWEST, MOST);
    let (wanted, why_not) = candidates(&run.file, controls);
    found.no_settings = why_not;
    let mut are_left_out = false;
    for point in answered() {
        let at = (run.file.points.iter()).position(|other| other.point.index == point.point.index);
        let Some(at) = at else { continue };
        let requests = Requests::read(run, at, controls.taken, most)?;
        let of_point = OfPoint {
            point,
            requests: &requests,
            rules: controls.rules,
        };
        let measured = of_point.cost(model, of_point.unchanged(controls.period_ns));
        let mut flows = Flows::new(model, TICKS);
        for candidate in wanted.iter().filter(|one| one.from == point.point.index) {
            let predicted = of_point.setting(model, &mut flows, candidate, measured);
            found.settings.push(predicted);
        }
        let Some(pid) = pid else { continue };
        let from_ns = of_point.shortest_period(run.file.plan.schedule);
        let least_ns = controls.period_ns.saturating_mul(PERIODS[0].0) / PERIODS[0].1;
        are_left_out |= from_ns > least_ns;
        for (times, of) in PERIODS {
            let period_ns = controls.period_ns.saturating_mul(times) / of;
            let is_shorter = period_ns < controls.period_ns;
            if (is_shorter && period_ns < from_ns) || period_ns == 0 {
                continue;
            }
            found
                .periods
                .extend(of_point.period(model, pid, period_ns, measured));
        }
    }
    found.no_periods = match pid {
        None => Some(
            "Other periods are not predicted: the controller is in discrete time, so it cannot be discretised for another \
             period (a PID controller can)."
                .into(),
        ),
        Some(_) if are_left_out => Some(
            "Periods below that of the loop are predicted down to the p99 of the responses: below it, more of them would \
             overlap than did in this run."
                .into(),
        ),
        Some(_) => None,
    };
    Ok(found)
}

/// A measured point, and the requests that were read of it.
struct OfPoint<'a> {
    point: &'a ControlPoint,
    requests: &'a Requests,
    rules: Rules,
}

/// Growth, cost and interval.
type Found = Result<wiregauge_control::TraceCost, ControlError>;

impl OfPoint<'_> {
    fn unchanged(&self, period_ns: u64) -> Changed {
        Changed {
            period_ns,
            depth: self.point.point.depth,
            longer_ns: 0,
        }
    }

    fn found(&self, model: &Loop, flows: &mut Flows, changed: Changed) -> Found {
        trace_cost(model, flows, &self.requests.cycles(changed), self.rules)
    }

    fn cost(&self, model: &Loop, changed: Changed) -> Option<f64> {
        let found = self.found(model, &mut Flows::new(model, TICKS), changed);
        found.ok()?.cost
    }

    /// Shorter ones are not predicted. The loop must be able to send at nearly every tick; and requests that are sent
    /// more often than they were measured wait for each other longer, unless hardly any is still outstanding when the
    /// next one is sent. Those of a run as fast as possible waited as long as they can.
    fn shortest_period(&self, schedule: Schedule) -> u64 {
        let depth = match schedule {
            Schedule::AsFastAsPossible => u64::from(self.point.point.depth.max(1)),
            Schedule::EveryNs(_) => 1,
        };
        let p99_ns = self.point.assessment.as_ref().map(|one| one.delays.p99_ns);
        p99_ns.map_or(u64::MAX, |p99_ns| p99_ns / depth)
    }

    fn period(
        &self,
        model: &Loop,
        pid: Pid,
        period_ns: u64,
        measured: Option<f64>,
    ) -> Option<PredictedPeriod> {
        let period_s = period_ns as f64 / 1e9;
        let model = Loop {
            controller: pid.state_space(period_s).ok()?,
            period_s,
            ..model.clone()
        };
        let mut flows = Flows::new(&model, TICKS);
        // Without delay it may be unstable at this period.
        let growth = match without_delay(&model, &mut flows) {
            Err(ControlError::Unstable { growth }) => Some(growth),
            _ => None,
        };
        let found = match growth {
            Some(growth) => wiregauge_control::TraceCost {
                growth,
                cost: None,
                interval: None,
            },
            None => (self.found(&model, &mut flows, self.unchanged(period_ns))).ok()?,
        };
        Some(PredictedPeriod {
            point: self.point.point.index,
            period_ns,
            growth: found.growth,
            cost: found.cost,
            interval: found.interval,
            to_measured: ratio(found.cost, measured),
        })
    }

    fn setting(
        &self,
        model: &Loop,
        flows: &mut Flows,
        candidate: &Candidate,
        measured: Option<f64>,
    ) -> PredictedSetting {
        let mut cost = |rtt_ns: f64| {
            let changed = Changed {
                depth: candidate.at.depth,
                longer_ns: (rtt_ns - candidate.from_rtt_ns) as i64,
                ..self.unchanged(model.period_ns())
            };
            self.found(model, flows, changed).ok()?.cost
        };
        let value = cost(candidate.rtt_ns);
        let ends = [candidate.low_ns, candidate.high_ns].map(&mut cost);
        let all = [value, ends[0], ends[1]].map(|cost| cost.unwrap_or(f64::INFINITY));
        let bounded = |cost: f64| cost.is_finite().then_some(cost);
        PredictedSetting {
            point: self.point.point.index,
            out_bytes: candidate.at.out_bytes,
            in_bytes: candidate.at.in_bytes,
            depth: candidate.at.depth,
            rtt_ns: candidate.rtt_ns,
            rtt_low_ns: candidate.low_ns,
            rtt_high_ns: candidate.high_ns,
            share: candidate.share,
            cost: value,
            cost_low: bounded(all.into_iter().fold(f64::INFINITY, f64::min)),
            cost_high: bounded(all.into_iter().fold(0.0, f64::max)),
            to_measured: ratio(value, measured),
        }
    }
}

fn ratio(cost: Option<f64>, measured: Option<f64>) -> Option<f64> {
    let (cost, measured) = cost.zip(measured)?;
    (measured > 0.0).then_some(cost / measured)
}
