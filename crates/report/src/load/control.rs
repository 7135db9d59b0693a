//! What the delays of a run do to a control loop, point by point: what `wiregauge control` prints.

use super::cycle_answers::Taken;
use super::cycle_delays::{CycleDelays, cycle_delays};
use crate::tables::Places;
use serde::{Serialize, Serializer};
use wiregauge_control::{Assessment, ControlError, Loop, Rules, assess};
use wiregauge_record::Point;
use wiregauge_run::{Exchange, Run, RunError};

/// What a run means for a loop.
#[derive(Clone, Debug, Serialize)]
pub struct Controls {
    /// Period of the loop.
    pub period_ns: u64,
    /// Which responses become commands.
    pub rules: Rules,
    /// How exchanges became cycles.
    pub taken: Taken,
    /// One entry a chosen point, in the order of the sweep.
    pub points: Vec<ControlPoint>,
    /// Index (`point.index`) of the point with the lowest cost, if several can be compared.
    pub lowest_cost: Option<u32>,
    /// The names of all points of the run.
    #[serde(skip)]
    pub places: Places,
}

impl Controls {
    /// The points with an assessment: the lowest cost first, then those that did not hold, the slowest growth first.
    pub(crate) fn ranked(&self) -> Vec<(&ControlPoint, &Assessment)> {
        let points = self.points.iter();
        let mut points: Vec<_> = points
            .filter_map(|point| Some((point, point.assessment.as_ref()?)))
            .collect();
        let rank = |assessment: &Assessment| match assessment.on_trace.cost {
            Some(cost) => (0, cost),
            None => (1, assessment.on_trace.growth),
        };
        points.sort_by(|(_, a), (_, b)| {
            let (a, b) = (rank(a), rank(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        points
    }
}

/// One point.
#[derive(Clone, Debug, Serialize)]
pub struct ControlPoint {
    /// Which.
    pub point: Point,
    /// Its cycles.
    #[serde(flatten)]
    pub cycles: CycleDelays,
    /// What its delays do to the loop; `None` if that could not be computed.
    pub assessment: Option<Assessment>,
    /// Why not: no response in time, or too many outstanding together.
    #[serde(serialize_with = "as_text")]
    pub reason: Option<ControlError>,
}

/// Why a run cannot be held against a loop.
#[derive(Debug, thiserror::Error)]
pub enum ControlsError {
    /// The samples cannot be read.
    #[error(transparent)]
    Run(RunError),
    /// The loop, or the delays of a point.
    #[error(transparent)]
    Control(ControlError),
}

/// Reads the chosen points (by their place in `run.file.points`) and computes what their delays do to the loop.
/// `progress` gets the part done, 0 to 1.
///
/// # Errors
/// The samples cannot be read, or the loop is unstable without any delay. A point without a response, or with too many
/// outstanding together, has no assessment.
pub fn controls(
    run: &Run<Exchange>,
    chosen: &[usize],
    model: &Loop,
    rules: Rules,
    progress: &mut dyn FnMut(f64),
) -> Result<Controls, ControlsError> {
    let period_ns = model.period_ns();
    let mut points = Vec::new();
    for (done, &at) in chosen.iter().enumerate() {
        let mut cycles = cycle_delays(run, at, period_ns).map_err(ControlsError::Run)?;
        let (assessment, reason) = match assess(model, &cycles.delays, rules) {
            Ok(assessment) => (Some(assessment), None),
            Err(reason @ (ControlError::NoAnswer | ControlError::TooLong { .. })) => {
                (None, Some(reason))
            }
            Err(error) => return Err(ControlsError::Control(error)),
        };
        // The delays of a long sweep would fill the memory.
        cycles.delays = Vec::new();
        points.push(ControlPoint {
            point: run.file.points[at].point,
            cycles,
            assessment,
            reason,
        });
        progress((done + 1) as f64 / chosen.len() as f64);
    }
    points.sort_by_key(|point| point.point.index);
    let mut found = Controls {
        places: Places::of_run(&run.file.plan, &run.file.points),
        period_ns,
        rules,
        taken: Taken::of(run.file.plan.schedule, period_ns),
        lowest_cost: None,
        points,
    };
    found.lowest_cost = lowest_cost(&found);
    Ok(found)
}

fn as_text<S: Serializer>(reason: &Option<ControlError>, to: S) -> Result<S::Ok, S::Error> {
    reason.as_ref().map(ToString::to_string).serialize(to)
}

/// The index of the point with the lowest cost, where there are several with one.
fn lowest_cost(found: &Controls) -> Option<u32> {
    let ranked = found.ranked().into_iter();
    let mut costs = ranked.filter(|(_, of)| of.on_trace.cost.is_some());
    let lowest = costs.next()?.0.point.index;
    costs.next().map(|_| lowest)
}
