//! When the exchanges of a point are due, and when the point is over.

use wiregauge_record::{Limit, Phase, Plan, Schedule as Pace};

/// The schedule of one point. The first exchange is apart; the schedule begins when that is over.
#[derive(Debug)]
pub struct Schedule {
    pace: Pace,
    limit: Limit,
    warmup: u64,
    /// Exchanges of the point. Falls when a duration is over.
    total: u64,
    /// When the measured phase must end, once it has begun.
    deadline_ns: Option<u64>,
    /// When exchange 1 is due.
    zero_ns: Option<u64>,
    first_done: bool,
}

impl Schedule {
    /// The schedule of any point of this plan.
    pub fn new(plan: &Plan) -> Schedule {
        Schedule {
            pace: plan.schedule,
            limit: plan.limit,
            warmup: plan.warmup,
            total: plan.exchanges_per_point().unwrap_or(u64::MAX),
            deadline_ns: None,
            zero_ns: None,
            first_done: false,
        }
    }

    /// True if it must know the time before each exchange.
    #[inline]
    pub fn needs_time(&self) -> bool {
        self.pace != Pace::AsFastAsPossible || self.deadline_ns.is_some()
    }

    /// Exchanges of the point, as far as is known.
    #[inline]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// True once the first exchange is over, answered or not.
    #[inline]
    pub fn first_done(&self) -> bool {
        self.first_done
    }

    /// The first exchange is over: from here on the pace and the depth hold.
    pub fn first_ended(&mut self, now_ns: u64) {
        self.first_done = true;
        if let Pace::EveryNs(every) = self.pace {
            self.zero_ns = Some(now_ns.saturating_add(every));
        }
    }

    /// When an exchange is due; `None` if it has no time.
    #[inline]
    pub fn due_ns(&self, sequence: u64) -> Option<u64> {
        match (self.pace, self.zero_ns) {
            (Pace::EveryNs(every), Some(zero)) if sequence > 0 => {
                Some(zero.saturating_add((sequence - 1).saturating_mul(every)))
            }
            _ => None,
        }
    }

    /// Whether an exchange may be staged now. With a duration, this is where the point ends.
    #[inline]
    pub fn may_stage(&mut self, sequence: u64, now_ns: u64) -> bool {
        if sequence >= self.total {
            return false;
        }
        if !self.needs_time() {
            return true;
        }
        let due = self.due_ns(sequence).unwrap_or(now_ns);
        if self.is_over(now_ns, due) {
            self.total = sequence;
            return false;
        }
        due <= now_ns
    }

    /// What was due before the end is still sent, or a stall near it would not be seen; a device that cannot
    /// keep up at all is abandoned after twice the duration.
    fn is_over(&self, now_ns: u64, due_ns: u64) -> bool {
        match (self.deadline_ns, self.limit) {
            (Some(deadline), Limit::DurationNs(duration)) => {
                due_ns >= deadline || now_ns >= deadline.saturating_add(duration)
            }
            _ => false,
        }
    }

    /// All exchanges before `next` have started, the last of them at `now_ns`.
    #[inline]
    pub fn started(&mut self, next: u64, now_ns: u64) {
        if self.deadline_ns.is_none()
            && let Limit::DurationNs(duration) = self.limit
            && next > self.warmup + 1
        {
            let begin = self.due_ns(self.warmup + 1).unwrap_or(now_ns);
            self.deadline_ns = Some(begin.saturating_add(duration));
        }
    }

    /// The phase of an exchange.
    #[inline]
    pub fn phase(&self, sequence: u64) -> Phase {
        match sequence {
            0 => Phase::First,
            _ if sequence <= self.warmup => Phase::WarmUp,
            _ => Phase::Measured,
        }
    }
}
