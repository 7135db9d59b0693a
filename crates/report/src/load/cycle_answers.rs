//! The exchanges of a run as the cycles of a control loop see them: in the order of the requests, each with its response
//! time. `wiregauge deadline` and `wiregauge control` read them.

use super::points::{TIMED, read_rows};
use serde::Serialize;
use std::collections::BTreeMap;
use wiregauge_record::{Connect, Phase, Sample, Schedule};
use wiregauge_run::{Exchange, Run, RunError};

/// A schedule of nearly the loop's period is the loop's: a rate need not be a whole number of
/// nanoseconds.
const SAME_PERIOD: f64 = 1e-3;

/// Exchanges that wait for one before them. More than any engine leaves out of order.
const MOST_WAITING: usize = 1 << 18;

/// The columns from which [`Taken::response_ns`] follows, beside the usual ones.
pub(super) const OF_RESPONSE: [&str; 2] = ["intended_ns", "connect_ns"];

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
    /// How long the cycle of an exchange waits for its response.
    pub(super) fn response_ns(self, sample: &Sample, connect: Connect) -> u64 {
        match (self, connect) {
            (Taken::AsScheduled, _) => {
                let end_ns = sample.start_ns.saturating_add(sample.rtt_ns);
                end_ns.saturating_sub(sample.intended_ns)
            }
            (_, Connect::Once) => sample.rtt_ns,
            // A loop that opens the link each time waits for that too.
            (_, Connect::Each) => sample.connect_ns.saturating_add(sample.rtt_ns),
        }
    }
}

/// Puts exchanges, which come in the order in which they ended, into the order of their requests.
pub(super) struct InOrder {
    waiting: BTreeMap<u64, Sample>,
    next: u64,
}

impl InOrder {
    /// Of the exchanges from this sequence number on.
    pub(super) fn from_sequence(next: u64) -> InOrder {
        InOrder {
            waiting: BTreeMap::new(),
            next,
        }
    }

    /// Hands over what now follows on what was handed over before, the first row of each exchange.
    pub(super) fn push(&mut self, sample: &Sample, mut take: impl FnMut(&Sample)) {
        if !sample.status.is_first_row() {
            return;
        }
        if sample.sequence != self.next {
            self.waiting.insert(sample.sequence, *sample);
            if self.waiting.len() <= MOST_WAITING {
                return;
            }
        } else {
            take(sample);
            self.next += 1;
        }
        while let Some((&sequence, &sample)) = self.waiting.first_key_value()
            && (sequence <= self.next || self.waiting.len() > MOST_WAITING)
        {
            self.waiting.pop_first();
            take(&sample);
            self.next = sequence.saturating_add(1);
        }
    }

    /// Hands over the rest: what an interruption cut off left gaps.
    pub(super) fn finish(self, take: impl FnMut(&Sample)) {
        self.waiting.values().for_each(take);
    }
}

/// Hands over the measured exchanges of a point (by its place in `run.file.points`) in the order of their requests, with
/// these columns beside the usual ones.
pub(super) fn each_measured(
    run: &Run<Exchange>,
    at: usize,
    columns: &[&str],
    mut take: impl FnMut(&Sample),
) -> Result<(), RunError> {
    let mut in_order = InOrder::from_sequence(run.file.plan.warmup.saturating_add(1));
    read_rows(run, at, &[&TIMED[..], columns].concat(), |rows| {
        let measured = rows.iter().filter(|row| row.phase == Phase::Measured);
        measured.for_each(|sample| in_order.push(sample, &mut take));
    })?;
    in_order.finish(take);
    Ok(())
}
