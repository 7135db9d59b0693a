//! The first exchange after a loss, where replies come in the order of the requests: a reply that arrives may still be
//! the late one. Until no further reply is to be expected, or the timeout is over, all replies are kept; the last one is
//! its own, those before it are late.

use super::{Engine, QUIET_NS};
use crate::codec::{Codec, Matching, Parsed};
use crate::event::Event;

impl<C: Codec> Engine<C> {
    /// The line is quiet after a loss. Where only the order says which request a reply answers, and replies are still
    /// missing, the next exchange must be confirmed; else none of them is expected any more.
    pub(super) fn begin_confirm(&mut self) {
        let due = self.codec.matching() == Matching::Order && self.window.missing() > 0;
        self.confirm.begin(due);
        if !due {
            self.window.forget_missing();
        }
    }

    /// True while the outstanding exchange is the one to be confirmed: nothing else may start.
    #[inline]
    pub(super) fn is_confirming(&self) -> bool {
        self.confirm.is_due() && self.window.waiting() > 0
    }

    /// Keeps what was parsed for later; a candidate is parsed again once it is known which request it answers.
    pub(super) fn keep(&mut self, parsed: &Parsed) {
        let (bytes, is_reply) = match parsed {
            Parsed::Incomplete | Parsed::Malformed(_) => return,
            Parsed::Stray(bytes) | Parsed::Rest(bytes) | Parsed::Surplus(bytes) => (*bytes, false),
            Parsed::Answer(answer) => (answer.consumed, true),
        };
        self.confirm.push(bytes.max(1), self.received_ns, is_reply);
        if let (true, Some(slot)) = (is_reply, self.window.oldest_waiting()) {
            let took_ns = self.received_ns.saturating_sub(slot.start_ns);
            let next_ns = (2 * took_ns.max(self.longest_ns)).max(QUIET_NS);
            self.confirm
                .expect_until(self.received_ns.saturating_add(next_ns));
        }
        if self.confirm.replies() > self.window.missing() {
            self.settle();
        }
    }

    /// Drops what was kept, as bytes of no reply.
    #[cold]
    pub(super) fn drop_kept(&mut self) {
        self.stray_bytes += self.confirm.held() as u64;
        self.input.drop_front(self.confirm.held());
        self.confirm.drop_candidates();
    }

    /// The last reply that came is the one to the outstanding exchange. Of the requests that were given up, the
    /// newest are those whose replies came before it.
    pub(super) fn settle(&mut self) {
        let late = self.confirm.replies().saturating_sub(1);
        while self.window.missing() > late {
            self.window.forget_oldest_missing();
        }
        self.confirm.settle();
        self.codec.reset();
    }

    /// The next event of what was kept.
    #[cold]
    pub(super) fn poll_settled(&mut self) -> Option<Event> {
        let last_ns = self.received_ns;
        let mut event = None;
        while event.is_none()
            && let Some(candidate) = self.confirm.pop()
        {
            let bytes = &self.input.bytes()[..candidate.bytes];
            let parsed = match self.codec.idle_ns() {
                Some(_) => self.codec.parse_idle(bytes, &self.window),
                None => self.codec.parse(bytes, &self.window),
            };
            self.received_ns = candidate.received_ns;
            event = match parsed {
                Parsed::Incomplete => self.take(Parsed::Stray(candidate.bytes)),
                parsed => self.take(parsed),
            };
            self.received_ns = last_ns;
        }
        if self.confirm.is_empty() {
            self.confirm.begin(false);
            self.window.forget_missing();
            self.codec.reset();
        }
        event
    }
}
