//! The requests of a point apart from the ticks at which they were sent, and the cycles that they would make at another
//! period.

use super::cycle_answers::{OF_RESPONSE, Taken, each_measured};
use super::cycle_delays::Cycles;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use wiregauge_run::{Exchange, Run, RunError};
use wiregauge_stats::Replay;

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// From when it could be sent until it was.
    late_ns: u64,
    /// From then on.
    took_ns: u64,
    is_right: bool,
}

/// The first requests of a point, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Requests {
    all: Vec<Request>,
    depth: u32,
    /// They were sent on the loop's schedule: one that is held up is sent late, and its cycle is not lost.
    has_schedule: bool,
}

impl Requests {
    /// Reads at most so many of a point (by its place in `run.file.points`), which become cycles in this way.
    pub(super) fn read(
        run: &Run<Exchange>,
        at: usize,
        taken: Taken,
        most: usize,
    ) -> Result<Requests, RunError> {
        let connect = run.file.plan.connect;
        let has_schedule = taken == Taken::AsScheduled;
        let depth = run.file.points[at].point.depth;
        let mut slots = Slots::new(depth);
        let mut all = Vec::new();
        each_measured(run, at, &OF_RESPONSE, most, |sample| {
            let could_ns = slots.free(sample.intended_ns);
            slots.hold(sample.start_ns.saturating_add(sample.rtt_ns));
            let (late_ns, took_ns) = match has_schedule {
                true => (sample.start_ns.saturating_sub(could_ns), sample.rtt_ns),
                false => (0, taken.response_ns(sample, connect)),
            };
            all.push(Request {
                late_ns,
                took_ns,
                is_right: sample.status.is_timed(),
            });
        })?;
        Ok(Requests {
            all,
            depth,
            has_schedule,
        })
    }

    /// The delay of each cycle of this period (`None`: no right response, or none could be sent).
    pub(super) fn cycles(&self, period_ns: u64) -> Vec<Option<u64>> {
        match self.has_schedule {
            true => self.on_schedule(period_ns),
            false => self.replayed(period_ns),
        }
    }

    fn on_schedule(&self, period_ns: u64) -> Vec<Option<u64>> {
        let mut slots = Slots::new(self.depth);
        let mut intended_ns: u64 = 0;
        let of_each = self.all.iter().map(|request| {
            let start_ns = slots.free(intended_ns).saturating_add(request.late_ns);
            let end_ns = start_ns.saturating_add(request.took_ns);
            slots.hold(end_ns);
            let delay = request
                .is_right
                .then_some(end_ns.saturating_sub(intended_ns));
            intended_ns = intended_ns.saturating_add(period_ns);
            delay
        });
        of_each.collect()
    }

    fn replayed(&self, period_ns: u64) -> Vec<Option<u64>> {
        let replay = Replay::new(period_ns, self.depth);
        // A request that waits for years fills no memory.
        let mut cycles = Cycles::new(Some(replay), self.all.len().saturating_mul(64));
        let all = self.all.iter();
        all.for_each(|request| cycles.push(request.took_ns, request.is_right));
        cycles.finish().delays
    }
}

/// As many requests as may be outstanding.
struct Slots {
    depth: usize,
    ends: BinaryHeap<Reverse<u64>>,
}

impl Slots {
    fn new(depth: u32) -> Slots {
        Slots {
            depth: depth.max(1) as usize,
            ends: BinaryHeap::new(),
        }
    }

    /// When a request that is intended for this moment can be sent; it takes the slot that is free then.
    fn free(&mut self, intended_ns: u64) -> u64 {
        if self.ends.len() < self.depth {
            return intended_ns;
        }
        let Reverse(end_ns) = self.ends.pop().unwrap_or(Reverse(0));
        intended_ns.max(end_ns)
    }

    fn hold(&mut self, end_ns: u64) {
        self.ends.push(Reverse(end_ns));
    }
}
