//! The delay of the command in every cycle of a control loop, from the exchanges of a point: what `wiregauge control`
//! computes with.

use super::cycle_answers::{InOrder, OF_RESPONSE, Taken};
use super::points::{TIMED, read_rows};
use serde::Serialize;
use std::ops::ControlFlow;
use wiregauge_record::{Connect, Phase, Plan, Sample};
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

/// Makes cycles of responses, in the order of their requests.
pub(super) struct Cycles {
    /// `None`: each response has a cycle of its own.
    replay: Option<Replay>,
    /// Further cycles are left out.
    most: usize,
    found: CycleDelays,
}

impl Cycles {
    pub(super) fn new(replay: Option<Replay>, most: usize) -> Cycles {
        Cycles {
            replay,
            most,
            found: CycleDelays::default(),
        }
    }

    pub(super) fn push(&mut self, response_ns: u64, is_right: bool) {
        let ticks = self.replay.as_mut().map_or(0, |of| of.request(response_ns));
        self.skip(ticks);
        let found = &mut self.found;
        if found.delays.len() == self.most {
            found.left_out = found.left_out.saturating_add(1);
            return;
        }
        found.cycles += 1;
        found.unanswered += u64::from(!is_right);
        found.delays.push(is_right.then_some(response_ns));
    }

    /// So many ticks pass without a request.
    fn skip(&mut self, ticks: u64) {
        let found = &mut self.found;
        let room = self.most - found.delays.len();
        let used = usize::try_from(ticks).map_or(room, |ticks| ticks.min(room));
        found.delays.resize(found.delays.len() + used, None);
        found.cycles += used as u64;
        found.unsent += used as u64;
        found.left_out = found.left_out.saturating_add(ticks - used as u64);
    }

    pub(super) fn finish(mut self) -> CycleDelays {
        // The ticks that the last response holds up belong to it.
        let ticks = self.replay.as_mut().map_or(0, Replay::wait);
        self.skip(ticks);
        self.found
    }
}

/// Makes cycles of the exchanges of a point. A run without the loop's schedule is
/// replayed: each request is sent at the next tick at which the loop can send it.
struct CycleRecorder {
    taken: Taken,
    connect: Connect,
    in_order: InOrder,
    cycles: Cycles,
}

impl CycleRecorder {
    /// Of a point of this plan with this depth, for a loop with this period.
    fn new(plan: &Plan, depth: u32, period_ns: u64) -> CycleRecorder {
        let taken = Taken::of(plan.schedule, period_ns);
        let is_replayed = taken != Taken::AsScheduled;
        let replay = is_replayed.then(|| Replay::new(period_ns, depth));
        CycleRecorder {
            taken,
            connect: plan.connect,
            in_order: InOrder::from_sequence(plan.warmup.saturating_add(1)),
            cycles: Cycles::new(replay, MOST_CYCLES),
        }
    }

    /// Takes a sample, in the order in which the exchanges ended.
    fn push(&mut self, sample: &Sample) {
        if sample.phase == Phase::Measured {
            let (taken, connect, cycles) = (self.taken, self.connect, &mut self.cycles);
            self.in_order.push(sample, |sample| {
                cycles.push(taken.response_ns(sample, connect), sample.status.is_timed());
            });
        }
    }

    /// All cycles.
    pub fn finish(self) -> CycleDelays {
        let (taken, connect, mut cycles) = (self.taken, self.connect, self.cycles);
        self.in_order.finish(|sample| {
            cycles.push(taken.response_ns(sample, connect), sample.status.is_timed());
        });
        cycles.finish()
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
    let columns = [&TIMED[..], &OF_RESPONSE].concat();
    read_rows(run, at, &columns, |rows| {
        rows.iter().for_each(|sample| recorder.push(sample));
        ControlFlow::Continue(())
    })?;
    Ok(recorder.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_waits_for_years_needs_no_more_memory_than_the_limit() {
        let mut cycles = Cycles::new(None, 1000);
        cycles.push(7, true);
        cycles.skip(1 << 60);
        cycles.push(0, false);
        let found = cycles.finish();
        assert_eq!(found.delays.len(), 1000);
        assert_eq!(found.cycles, 1000);
        assert_eq!(found.cycles + found.left_out, (1 << 60) + 2);
        assert_eq!((found.unsent, found.unanswered), (found.cycles - 1, 0));
    }
}
