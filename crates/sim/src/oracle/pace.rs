//! When exchanges are due, and how many belong to a point.

use crate::scenario::Scenario;
use wiregauge_record::{Limit, Phase};

/// The schedule of a point.
#[derive(Debug)]
pub struct Pace {
    interval_ns: Option<u64>,
    duration_ns: Option<u64>,
    warmup: u64,
    total: u64,
    /// Exchanges from 1 to here are those of a trial.
    trial_to: u64,
    /// When the first exchange ended.
    first_end_ns: Option<u64>,
    /// When the measured phase ends.
    deadline_ns: Option<u64>,
}

impl Pace {
    /// The schedule that the scenario asks for.
    pub fn new(scenario: &Scenario, is_trying: bool) -> Pace {
        let (total, duration_ns) = match scenario.limit {
            Limit::Count(count) => (1 + scenario.warmup + count, None),
            Limit::DurationNs(duration) => (u64::MAX, Some(duration)),
        };
        Pace {
            interval_ns: scenario.interval_ns,
            duration_ns,
            warmup: scenario.warmup,
            total,
            trial_to: if is_trying { u64::MAX } else { 0 },
            first_end_ns: None,
            deadline_ns: None,
        }
    }

    /// True until the trial is over.
    pub fn is_trying(&self) -> bool {
        self.trial_to == u64::MAX
    }

    /// The trial had so many exchanges.
    pub fn trial_ended(&mut self, exchanges: u64) {
        self.trial_to = exchanges;
    }

    /// The number in the samples of an exchange; `None` if it is one of the trial.
    pub fn number(&self, sequence: u64) -> Option<u64> {
        match sequence {
            0 => Some(0),
            _ if sequence <= self.trial_to => None,
            _ => Some(sequence - self.trial_to),
        }
    }

    /// True if all exchanges before this one are all of the point, as far as is known.
    pub fn is_over(&self, sequence: u64) -> bool {
        self.number(sequence)
            .is_some_and(|number| number >= self.total)
    }

    /// True until the first exchange is over.
    pub fn is_first(&self) -> bool {
        self.first_end_ns.is_none()
    }

    /// The first exchange is over.
    pub fn first_ended(&mut self, now_ns: u64) {
        self.first_end_ns.get_or_insert(now_ns);
    }

    /// When an exchange is due, if it has a time: interval after interval from the end of the first.
    pub fn due_ns(&self, sequence: u64) -> Option<u64> {
        let sequence = self.number(sequence)?;
        let (first_end, every) = (self.first_end_ns?, self.interval_ns?);
        (sequence > 0).then(|| first_end + sequence * every)
    }

    /// An exchange started.
    pub fn started(&mut self, sequence: u64, now_ns: u64) {
        if let Some(duration) = self.duration_ns
            && self.number(sequence) == Some(self.warmup + 1)
        {
            let begin = self.due_ns(sequence).unwrap_or(now_ns);
            self.deadline_ns = Some(begin + duration);
        }
    }

    /// Whether an exchange may be made ready now. With a duration, the point ends here: what was due before
    /// the end is still sent, but not after twice the duration.
    pub fn may_stage(&mut self, sequence: u64, now_ns: u64) -> bool {
        if self.is_over(sequence) {
            return false;
        }
        let due = self.due_ns(sequence);
        if let (Some(deadline), Some(duration)) = (self.deadline_ns, self.duration_ns)
            && (due.unwrap_or(now_ns) >= deadline || now_ns >= deadline + duration)
        {
            self.total = self.number(sequence).unwrap_or(0);
            return false;
        }
        due.is_none_or(|due| due <= now_ns)
    }

    /// The part of the point that an exchange belongs to.
    pub fn phase(&self, sequence: u64) -> Phase {
        let number = self.number(sequence).unwrap_or(0);
        if number == 0 {
            Phase::First
        } else if number <= self.warmup {
            Phase::WarmUp
        } else {
            Phase::Measured
        }
    }
}
