//! The first exchange after a loss, where replies come in the order of the requests: a reply that arrives may still be
//! the late one. Until no further reply is to be expected, or the timeout is over, all replies are kept; the last one is
//! its own, those before it are late.

use super::{Engine, QUIET_NS};
use crate::codec::{Codec, Matching, Parsed};
use crate::event::Event;

/// Replies laid out for beforehand.
const USUAL: usize = 64;

/// A reply, or bytes between replies, that came while an exchange is being confirmed.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    bytes: usize,
    received_ns: u64,
}

/// What came since the first exchange after a loss began.
#[derive(Debug)]
pub(super) struct Confirm {
    /// Replies are missing, so the next exchange must be confirmed.
    due: bool,
    /// All replies that can be awaited have come.
    settled: bool,
    candidates: Vec<Candidate>,
    replies: usize,
    /// Bytes of all candidates, at the front of the input.
    held: usize,
    /// No further reply is to be expected after this.
    until_ns: u64,
}

impl Confirm {
    pub(super) fn new() -> Confirm {
        Confirm {
            due: false,
            settled: false,
            candidates: Vec::with_capacity(USUAL),
            replies: 0,
            held: 0,
            until_ns: 0,
        }
    }

    /// The next exchange must be confirmed, or not.
    pub(super) fn begin(&mut self, due: bool) {
        self.drop_candidates();
        self.due = due;
    }

    /// The bytes that were kept are gone.
    pub(super) fn drop_candidates(&mut self) {
        self.settled = false;
        self.candidates.clear();
        self.replies = 0;
        self.held = 0;
    }

    /// True if the exchange that is outstanding, or the next one, must be confirmed.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.due
    }

    #[inline]
    pub(super) fn is_settled(&self) -> bool {
        self.settled
    }

    #[inline]
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// When no further reply is to be expected, once there is one.
    #[inline]
    pub(super) fn until_ns(&self) -> Option<u64> {
        (self.replies > 0).then_some(self.until_ns)
    }

    fn push(&mut self, bytes: usize, received_ns: u64, is_reply: bool) {
        self.held += bytes;
        self.replies += usize::from(is_reply);
        self.candidates.push(Candidate { bytes, received_ns });
    }
}

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
            self.confirm.until_ns = self.received_ns.saturating_add(next_ns);
        }
        if self.confirm.replies > self.window.missing() {
            self.settle();
        }
    }

    /// Drops what was kept, as bytes of no reply.
    #[cold]
    pub(super) fn drop_kept(&mut self) {
        self.stray_bytes += self.confirm.held as u64;
        self.input.drop_front(self.confirm.held);
        self.confirm.drop_candidates();
    }

    /// The last reply that came is the one to the outstanding exchange. Of the requests that were given up, the
    /// newest are those whose replies came before it.
    pub(super) fn settle(&mut self) {
        let late = self.confirm.replies.saturating_sub(1);
        while self.window.missing() > late {
            self.window.forget_oldest_missing();
        }
        self.confirm.settled = true;
        self.codec.reset();
    }

    /// The next event of what was kept.
    #[cold]
    pub(super) fn poll_settled(&mut self) -> Option<Event> {
        let last_ns = self.received_ns;
        let mut event = None;
        while event.is_none() && !self.confirm.candidates.is_empty() {
            let candidate = self.confirm.candidates.remove(0);
            self.confirm.held -= candidate.bytes;
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
        if self.confirm.candidates.is_empty() {
            self.confirm.begin(false);
            self.window.forget_missing();
            self.codec.reset();
        }
        event
    }
}
