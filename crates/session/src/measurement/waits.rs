//! What a point does while no exchange may start: it listens behind the first answer, proves this host's address, and
//! awaits stragglers at the end.

use super::Measurement;
use crate::address_proof::Progress;
use crate::codec::Generator;
use crate::event::{Ended, Outcome};
use crate::next::{End, Failure, Next};
use crate::quiet::{Listening, Stragglers};

impl<C: Generator> Measurement<C> {
    // --- behind the first answer ---

    /// Waits until the line is quiet behind the first answer.
    #[inline]
    pub(super) fn listen(&mut self, now_ns: u64) -> Option<Next> {
        let listening = self.listening?;
        if let Some(next) = listening.next(now_ns)
            && self.engine.is_listening()
        {
            return Some(next);
        }
        self.listening = None;
        self.engine.on_quiet();
        self.schedule.first_ended(now_ns);
        None
    }

    /// The first exchange has ended: the schedule begins, or the line must be quiet before.
    pub(super) fn first_ended(&mut self, ended: &Ended) {
        let took_ns = ended.end_ns - ended.start_ns;
        if let Some(trial) = &mut self.trial {
            trial.first_ended(took_ns);
        }
        let listens = ended.outcome == Outcome::Answered && !self.connect_each;
        if listens && self.engine.listen() {
            self.listening = Some(Listening::new(ended.end_ns, took_ns));
        } else {
            self.schedule.first_ended(ended.end_ns);
        }
    }

    // --- after the last answer ---

    pub(super) fn begin_stragglers(&mut self, now_ns: u64) -> Next {
        if self.connect_each {
            self.end = Some(End::Complete);
            return match self.open {
                true => self.disconnect(),
                false => Next::Done,
            };
        }
        let stragglers = Stragglers::new(now_ns);
        self.stragglers = Some(stragglers);
        self.await_stragglers(stragglers, now_ns)
    }

    pub(super) fn await_stragglers(&mut self, stragglers: Stragglers, now_ns: u64) -> Next {
        let missing = self.engine.window().missing();
        if let Some(next) = stragglers.next(now_ns, missing, self.timeout_ns) {
            return next;
        }
        self.engine.discard();
        self.end = Some(End::Complete);
        Next::Done
    }

    // --- the proof of address ---

    /// When the proof of address should be renewed, if answers need one.
    pub(super) fn renew_ns(&self) -> Option<u64> {
        self.proof.renew_ns(self.engine.heard_ns())
    }

    #[inline]
    pub(super) fn needs_new_proof(&self, now_ns: u64) -> bool {
        self.engine.window().under_way() == 0 && self.renew_ns().is_some_and(|at| now_ns >= at)
    }

    pub(super) fn begin_proof(&mut self, now_ns: u64) {
        self.send_blocked = false;
        self.proof.begin(now_ns);
    }

    pub(super) fn next_of_proof(&mut self, now_ns: u64) -> Next {
        let wake_ns = self.engine.wake_ns();
        match self.proof.next(now_ns, self.send_blocked, wake_ns) {
            Progress::Goes(next) => next,
            Progress::Proved => self.next(now_ns),
            Progress::Failed => {
                self.fail(Failure::NoProof);
                Next::Done
            }
        }
    }

    /// A datagram that came while the address is being proved: of HELLO, or an answer.
    pub(super) fn received_in_proof(&mut self, now_ns: u64, count: usize) {
        let is_hello = self.proof.received(&self.engine.space()[..count], now_ns);
        if !is_hello {
            self.engine.received(now_ns, count);
        }
    }
}
