//! The delay of the command in every cycle of a control loop, from the exchanges of a point: what `wiregauge control`
//! computes with.

use super::cycle_answers::{Taken, each};
use super::delay_parts::{DelayParts, delay_parts};
use serde::Serialize;
use std::fmt;
use wiregauge_control::{Assessment, ControlError, Loop, Rules, assess};
use wiregauge_record::Point;
use wiregauge_run::{Exchange, Run, RunError};
use wiregauge_stats::Replay;

/// 256 MiB of delays; of a longer run the first cycles are used.
const MOST_CYCLES: usize = 1 << 24;

/// What a run means for a loop.
#[derive(Clone, Debug, Serialize)]
pub struct Controls {
    /// Period of the loop.
    pub period_ns: u64,
    /// Which answers become commands.
    pub rules: Rules,
    /// How exchanges became cycles.
    pub taken: Taken,
    /// One entry a chosen point, in the order of the sweep.
    pub points: Vec<ControlPoint>,
    /// Index (`point.index`) of the point with the lowest cost, if several can be compared.
    pub lowest_cost: Option<u32>,
}

/// One point.
#[derive(Clone, Debug, Serialize)]
pub struct ControlPoint {
    /// Which.
    pub point: Point,
    /// Its cycles.
    #[serde(flatten)]
    pub cycles: CycleDelays,
    /// The parts of its round trips, if the device has a clock.
    pub parts: Option<DelayParts>,
    /// What its delays do to the loop; `None` if no answer arrived in time.
    pub assessment: Option<Assessment>,
}

/// Why a run cannot be held against a loop.
#[derive(Debug)]
pub enum ControlsError {
    /// The samples cannot be read.
    Run(RunError),
    /// The loop, or the delays of a point.
    Control(ControlError),
}

impl fmt::Display for ControlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ControlsError::Run(error) => error.fmt(f),
            ControlsError::Control(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ControlsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ControlsError::Run(error) => error.source(),
            ControlsError::Control(error) => error.source(),
        }
    }
}

/// The cycles of a point, in time order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CycleDelays {
    /// For each cycle the nanoseconds from its tick to its answer; `None`: no right answer came, or no request could be
    /// sent. Empty in [`Controls`] where all points together have more than fit in memory.
    #[serde(skip)]
    pub delays: Vec<Option<u64>>,
    /// How many there are.
    pub cycles: u64,
    /// Requests among them without a right answer.
    pub unanswered: u64,
    /// Cycles among them in which no request could be sent, because as many as the depth were outstanding.
    pub unsent: u64,
    /// Further cycles of the run, which are not used.
    pub left_out: u64,
}

impl CycleDelays {
    fn push(&mut self, delay: Option<u64>) {
        if self.delays.len() == MOST_CYCLES {
            self.left_out = self.left_out.saturating_add(1);
            return;
        }
        self.cycles += 1;
        self.unanswered += u64::from(delay.is_none());
        self.delays.push(delay);
    }

    /// So many ticks pass without a request.
    fn skip(&mut self, ticks: u64) {
        let room = MOST_CYCLES - self.delays.len();
        let used = usize::try_from(ticks).map_or(room, |ticks| ticks.min(room));
        self.delays.resize(self.delays.len() + used, None);
        self.cycles += used as u64;
        self.unsent += used as u64;
        self.left_out = self.left_out.saturating_add(ticks - used as u64);
    }
}

/// Reads the cycles of a point (by its place in `run.file.points`) for a loop with this period. A run without the
/// loop's schedule is replayed: each request is sent at the next tick at which the loop can send it.
///
/// # Errors
/// The samples cannot be read.
pub fn cycle_delays(
    run: &Run<Exchange>,
    at: usize,
    period_ns: u64,
) -> Result<CycleDelays, RunError> {
    let taken = Taken::of(run.file.plan.schedule, period_ns);
    let mut found = CycleDelays::default();
    let mut replay = Replay::new(period_ns, run.file.points[at].point.depth);
    each(run, at, taken, |answer| {
        match taken {
            Taken::AsScheduled => {}
            Taken::Replayed | Taken::ReplayedFrom { .. } => {
                found.skip(replay.request(answer.response_ns));
            }
        }
        found.push(answer.is_right.then_some(answer.response_ns));
    })?;
    // The ticks that the last answer holds up belong to it.
    found.skip(replay.wait());
    Ok(found)
}

/// Reads the chosen points (by their place in `run.file.points`) and computes what their delays do to the loop.
/// `progress` gets the part done, 0 to 1.
///
/// # Errors
/// The samples cannot be read, or the loop is unstable without any delay. A point without an answer has no assessment.
pub fn controls(
    run: &Run<Exchange>,
    chosen: &[usize],
    model: &Loop,
    rules: Rules,
    progress: &mut dyn FnMut(f64),
) -> Result<Controls, ControlsError> {
    let period_ns = model.period_ns();
    // The delays of a long sweep would fill the memory.
    let mut room = MOST_CYCLES;
    let mut points = Vec::new();
    for (done, &at) in chosen.iter().enumerate() {
        let mut cycles = cycle_delays(run, at, period_ns).map_err(ControlsError::Run)?;
        let assessment = match assess(model, &cycles.delays, rules) {
            Ok(assessment) => Some(assessment),
            Err(ControlError::NoAnswer) => None,
            Err(error) => return Err(ControlsError::Control(error)),
        };
        match room.checked_sub(cycles.delays.len()) {
            Some(left) => room = left,
            None => cycles.delays = Vec::new(),
        }
        points.push(ControlPoint {
            point: run.file.points[at].point,
            cycles,
            parts: delay_parts(run, at).map_err(ControlsError::Run)?,
            assessment,
        });
        progress((done + 1) as f64 / chosen.len() as f64);
    }
    points.sort_by_key(|point| point.point.index);
    Ok(Controls {
        period_ns,
        rules,
        taken: Taken::of(run.file.plan.schedule, period_ns),
        lowest_cost: lowest_cost(&points),
        points,
    })
}

/// The index of the point with the lowest cost, where there are several with one.
fn lowest_cost(points: &[ControlPoint]) -> Option<u32> {
    let costs = points.iter().filter_map(|point| {
        let cost = point.assessment.as_ref()?.on_trace.cost?;
        Some((point.point.index, cost))
    });
    let costs: Vec<(u32, f64)> = costs.collect();
    let lowest = costs.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    (costs.len() > 1).then_some(lowest.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_waits_for_years_needs_no_more_memory_than_the_limit() {
        let mut found = CycleDelays::default();
        found.push(Some(7));
        found.skip(1 << 60);
        found.push(None);
        assert_eq!(found.delays.len(), MOST_CYCLES);
        assert_eq!(found.cycles, MOST_CYCLES as u64);
        assert_eq!(found.cycles + found.left_out, (1 << 60) + 2);
        assert_eq!((found.unsent, found.unanswered), (found.cycles - 1, 0));
    }
}
