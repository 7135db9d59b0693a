//! The exchanges of a run as the cycles of a control loop see them: in the order of the requests, each with its response
//! time. `wiregauge deadline` and `wiregauge control` read them.

use super::points::TIMED;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use wiregauge_record::{Connect, Phase, Plan, Sample, Schedule};
use wiregauge_run::{Exchange, Run, RunError};

/// A schedule of nearly the loop's period is the loop's: a rate need not be a whole number of
/// nanoseconds.
const SAME_PERIOD: f64 = 1e-3;

/// Answers that wait for one before them. More than any engine leaves out of order.
const MOST_WAITING: usize = 1 << 20;

/// How the run's exchanges became cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "how")]
pub enum Taken {
    /// It was measured with the loop's period: each exchange is a cycle, from its intended start.
    AsScheduled,
    /// It was measured as fast as possible: the responses are replayed on the loop's ticks.
    Replayed,
    /// It was measured with another period; replayed as well.
    ReplayedFrom {
        /// That period.
        every_ns: u64,
    },
}

impl Taken {
    /// How those of a run with this schedule become cycles of this period.
    pub fn of(schedule: Schedule, period_ns: u64) -> Taken {
        let period = period_ns as f64;
        match schedule {
            Schedule::AsFastAsPossible => Taken::Replayed,
            Schedule::EveryNs(every_ns)
                if (every_ns as f64 - period).abs() <= SAME_PERIOD * period =>
            {
                Taken::AsScheduled
            }
            Schedule::EveryNs(every_ns) => Taken::ReplayedFrom { every_ns },
        }
    }
}

/// What came of a request, as a cycle sees it.
#[derive(Clone, Copy)]
pub(super) struct Answer {
    pub(super) response_ns: u64,
    pub(super) is_right: bool,
    /// When it should have been sent.
    pub(super) intended_ns: u64,
    /// When it was sent.
    pub(super) start_ns: u64,
    pub(super) rtt_ns: u64,
}

impl Answer {
    fn of(sample: &Sample, taken: Taken, connect: Connect) -> Answer {
        let response_ns = match (taken, connect) {
            (Taken::AsScheduled, _) => {
                let end_ns = sample.start_ns.saturating_add(sample.rtt_ns);
                end_ns.saturating_sub(sample.intended_ns)
            }
            (_, Connect::Once) => sample.rtt_ns,
            // A loop that opens the link each time waits for that too.
            (_, Connect::Each) => sample.connect_ns.saturating_add(sample.rtt_ns),
        };
        Answer {
            response_ns,
            is_right: sample.status.is_timed(),
            intended_ns: sample.intended_ns,
            start_ns: sample.start_ns,
            rtt_ns: sample.rtt_ns,
        }
    }
}

/// Puts the measured exchanges of a point, which come in the order in which they ended, into the order of their
/// requests.
pub(super) struct InOrder {
    taken: Taken,
    connect: Connect,
    waiting: BTreeMap<u64, Answer>,
    next: u64,
}

impl InOrder {
    pub(super) fn new(plan: &Plan, taken: Taken) -> InOrder {
        InOrder {
            taken,
            connect: plan.connect,
            waiting: BTreeMap::new(),
            next: plan.warmup.saturating_add(1),
        }
    }

    /// Hands over what now follows on what was handed over before.
    pub(super) fn push(&mut self, sample: &Sample, mut take: impl FnMut(Answer)) {
        if sample.phase != Phase::Measured || !sample.status.is_first_row() {
            return;
        }
        let answer = Answer::of(sample, self.taken, self.connect);
        if sample.sequence != self.next {
            self.waiting.insert(sample.sequence, answer);
            if self.waiting.len() <= MOST_WAITING {
                return;
            }
        } else {
            take(answer);
            self.next += 1;
        }
        while let Some((&sequence, &answer)) = self.waiting.first_key_value()
            && (sequence <= self.next || self.waiting.len() > MOST_WAITING)
        {
            self.waiting.pop_first();
            take(answer);
            self.next = sequence.saturating_add(1);
        }
    }

    /// Hands over the rest: what an interruption cut off left gaps.
    pub(super) fn finish(self, take: impl FnMut(Answer)) {
        self.waiting.into_values().for_each(take);
    }
}

/// Reads the exchanges of a point, with the columns that [`InOrder`] needs, until `take` says that it has enough.
pub(super) fn each_sample(
    run: &Run<Exchange>,
    at: usize,
    mut take: impl FnMut(&Sample) -> ControlFlow<()>,
) -> Result<(), RunError> {
    let columns = [&TIMED[..], &["intended_ns", "connect_ns"]].concat();
    let mut reader = run.samples_of(at, &columns)?;
    while let Some(samples) = reader.next_rows() {
        if samples?.iter().try_for_each(&mut take).is_break() {
            break;
        }
    }
    Ok(())
}

/// Hands over the measured exchanges of a point in the order of their requests.
pub(super) fn each(
    run: &Run<Exchange>,
    at: usize,
    taken: Taken,
    mut take: impl FnMut(Answer),
) -> Result<(), RunError> {
    let mut in_order = InOrder::new(&run.file.plan, taken);
    each_sample(run, at, |sample| {
        in_order.push(sample, &mut take);
        ControlFlow::Continue(())
    })?;
    in_order.finish(take);
    Ok(())
}
