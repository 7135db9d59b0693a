//! The delay of the command in every cycle of a control loop, from the exchanges of a point: what `wiregauge control`
//! computes with.

use super::cycle_answers::{Answer, InOrder, Taken, each_sample};
use serde::Serialize;
use std::ops::ControlFlow;
use wiregauge_record::{Plan, Sample};
use wiregauge_run::{Exchange, Run, RunError};
use wiregauge_stats::Replay;

/// 256 MiB of delays; of a longer run the first cycles are used.
const MOST_CYCLES: usize = 1 << 24;

/// The cycles of a point, in time order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CycleDelays {
    /// For each cycle the nanoseconds from its tick to its response; `None`: no right response came, or no request could be
    /// sent. Empty in [`Controls`](super::Controls).
    #[serde(skip)]
    pub delays: Vec<Option<u64>>,
    /// How many there are.
    pub cycles: u64,
    /// Requests among them without a right response.
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

/// Makes cycles of the exchanges of a point. A run without the loop's schedule is
/// replayed: each request is sent at the next tick at which the loop can send it.
struct CycleRecorder {
    in_order: InOrder,
    cycles: Cycles,
}

/// Where the answers go.
struct Cycles {
    /// `None`: each exchange is a cycle.
    replay: Option<Replay>,
    found: CycleDelays,
}

impl Cycles {
    fn push(&mut self, answer: Answer) {
        if let Some(replay) = &mut self.replay {
            self.found.skip(replay.request(answer.response_ns));
        }
        self.found
            .push(answer.is_right.then_some(answer.response_ns));
    }
}

impl CycleRecorder {
    /// Of a point of this plan with this depth, for a loop with this period.
    fn new(plan: &Plan, depth: u32, period_ns: u64) -> CycleRecorder {
        let taken = Taken::of(plan.schedule, period_ns);
        let replay = match taken {
            Taken::AsScheduled => None,
            Taken::Replayed | Taken::ReplayedFrom { .. } => Some(Replay::new(period_ns, depth)),
        };
        CycleRecorder {
            in_order: InOrder::new(plan, taken),
            cycles: Cycles {
                replay,
                found: CycleDelays::default(),
            },
        }
    }

    /// Takes a sample, in the order in which the exchanges ended.
    fn push(&mut self, sample: &Sample) {
        let CycleRecorder { in_order, cycles } = self;
        in_order.push(sample, |answer| cycles.push(answer));
    }

    /// All cycles.
    fn finish(self) -> CycleDelays {
        let CycleRecorder {
            in_order,
            mut cycles,
        } = self;
        in_order.finish(|answer| cycles.push(answer));
        let Cycles { replay, mut found } = cycles;
        // The ticks that the last answer holds up belong to it.
        found.skip(replay.map_or(0, |mut replay| replay.wait()));
        found
    }
}

/// Reads the cycles of a point (by its place in `run.file.points`) for a loop with this period.
///
/// # Errors
/// The samples cannot be read.
pub fn cycle_delays(
    run: &Run<Exchange>,
    at: usize,
    period_ns: u64,
) -> Result<CycleDelays, RunError> {
    let depth = run.file.points[at].point.depth;
    let mut recorder = CycleRecorder::new(&run.file.plan, depth, period_ns);
    each_sample(run, at, |sample| {
        recorder.push(sample);
        ControlFlow::Continue(())
    })?;
    Ok(recorder.finish())
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
