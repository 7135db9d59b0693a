//! An order until it is answered: when it is given again, and when its time is over (docs/protocol.md).

use super::{Answer, Shared};
use wiregauge_wire::Status;

/// How often a datagram's order is given again until it is answered.
const REPEAT_NS: u64 = 100_000_000;

/// How long a stopped point waits for an answer.
pub(super) const SHORT_NS: u64 = 1_000_000_000;

/// Times that an order is given to a device that goes on sending and does not answer. All of them may be
/// repeated (docs/protocol.md, States).
const TRIES: u32 = 3;

/// An order until it is answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    within_ns: u64,
    datagram: bool,
    /// When it was first given, or first wanted to be.
    began_ns: u64,
    tries: u32,
    /// When the last try began.
    tried_ns: u64,
    given_ns: u64,
    /// The last wait was one for its answer.
    looked: bool,
    answer: Option<Answer>,
}

/// What becomes of an order.
pub(super) enum Asked {
    /// Submit it.
    Give,
    /// Wait until it is taken, at most so long.
    Complete { at_most_ns: u64 },
    /// Wait for its answer, at most so long.
    Await { at_most_ns: u64 },
    /// This is its answer.
    Answered(Answer),
    /// There is none.
    Unanswered,
}

impl Ask {
    pub(super) fn new(within_ns: u64, datagram: bool, now_ns: u64) -> Ask {
        Ask {
            within_ns,
            datagram,
            began_ns: now_ns,
            tries: 0,
            tried_ns: now_ns,
            given_ns: now_ns,
            looked: false,
            answer: None,
        }
    }

    /// False while it waits for what was submitted before it.
    pub(super) fn is_given(&self) -> bool {
        self.tries > 0
    }

    pub(super) fn answered(&mut self, answer: Answer) {
        self.answer = Some(answer);
    }

    /// `pending`: what was submitted is not over.
    pub(super) fn next(&mut self, now_ns: u64, shared: &Shared<'_>, pending: bool) -> Asked {
        let answer = self.answer.take();
        if let Some(answer) = answer {
            // The device offers the stream, so it was the order that arrived damaged.
            let damaged = answer.header.status == Status::Unsupported;
            if !damaged || self.tries >= TRIES || shared.is_failed() {
                return Asked::Answered(answer);
            }
        }
        // A device that goes on sending is heard all the time: an order that it lost must not wait for silence.
        // While this end does not receive, its answer cannot come either.
        let since_ns = self.tried_ns.max(shared.held_ns());
        let missed = now_ns.saturating_sub(since_ns) > self.within_ns;
        let is_over = (self.tries > 0 || pending) && self.is_over(now_ns, shared)
            || missed && self.tries >= TRIES;
        if self.tries > 0 && !self.looked && (pending || is_over) {
            // The answer to an earlier try may come while a repeated order does not go out.
            self.looked = true;
            return Asked::Await { at_most_ns: 0 };
        }
        if is_over && answer.is_none() {
            return Asked::Unanswered;
        }
        if pending {
            self.looked = false;
            let at_most_ns = REPEAT_NS;
            return Asked::Complete { at_most_ns };
        }
        if self.tries == 0 {
            self.began_ns = now_ns;
        }
        let again = self.tries == 0 || answer.is_some();
        if again || missed {
            self.tries += 1;
            self.tried_ns = now_ns;
        }
        let since_ns = now_ns.saturating_sub(self.given_ns);
        let repeats = match self.datagram {
            true => since_ns >= REPEAT_NS,
            false => missed,
        };
        self.looked = !again && !repeats;
        if !self.looked {
            self.given_ns = now_ns;
            return Asked::Give;
        }
        let at_most_ns = match self.datagram {
            true => REPEAT_NS - since_ns,
            false => REPEAT_NS,
        };
        Asked::Await { at_most_ns }
    }

    /// True when an answer need not be waited for any longer: time counts from the order, or from
    /// the last sign of life of a device that still has to get there.
    fn is_over(&self, now_ns: u64, shared: &Shared<'_>) -> bool {
        let (since, most) = match shared.is_stopped() {
            true => (self.began_ns, self.within_ns.min(SHORT_NS)),
            false => (shared.heard_ns().max(self.began_ns), self.within_ns),
        };
        shared.is_failed() || now_ns.saturating_sub(since) > most
    }
}
