//! The delay of the command in every cycle of a control loop, from the exchanges of a point: what `wiregauge control`
//! computes with.

use super::cycle_answers::{OF_RESPONSE, Taken, each_measured};
use serde::Serialize;
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
struct Cycles {
    /// `None`: each response has a cycle of its own.
    replay: Option<Replay>,
    /// Further cycles are left out.
    most: usize,
    found: CycleDelays,
}

impl Cycles {
    fn new(replay: Option<Replay>, most: usize) -> Cycles {
        Cycles {
            replay,
            most,
            found: CycleDelays::default(),
        }
    }

    fn push(&mut self, response_ns: u64, is_right: bool) {
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

    fn finish(mut self) -> CycleDelays {
        // The ticks that the last response holds up belong to it.
        let ticks = self.replay.as_mut().map_or(0, Replay::wait);
        self.skip(ticks);
        self.found
    }
}

/// Reads the cycles of a point (by its place in `run.file.points`) for a loop with this period. A run without the loop's
/// schedule is replayed: each request is sent at the next tick at which the loop can send it.
///
/// # Errors
/// The samples cannot be read.
pub fn cycle_delays(
    run: &Run<Exchange>,
    at: usize,
    period_ns: u64,
) -> Result<CycleDelays, RunError> {
    let (plan, depth) = (&run.file.plan, run.file.points[at].point.depth);
    let taken = Taken::of(plan.schedule, period_ns);
    let is_replayed = taken != Taken::AsScheduled;
    let replay = is_replayed.then(|| Replay::new(period_ns, depth));
    let mut cycles = Cycles::new(replay, MOST_CYCLES);
    each_measured(run, at, &OF_RESPONSE, |sample| {
        let response_ns = taken.response_ns(sample, plan.connect);
        cycles.push(response_ns, sample.status.is_timed());
    })?;
    Ok(cycles.finish())
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
