//! How an engine gets back to a known state: the line becomes quiet after a loss or damage, and what is under way is
//! dropped with its link.

use super::{Engine, QUIET_NS, Resync};
use crate::codec::{Codec, Matching};
use crate::event::Event;

impl<C: Codec> Engine<C> {
    // --- resynchronisation ---

    fn needs_resync(&self) -> bool {
        match self.codec.matching() {
            Matching::Number => false,
            Matching::Content => !self.config.datagram,
            Matching::Order => true,
        }
    }

    /// How long a line must be quiet whose state is not known, where no late reply is waited for.
    #[inline]
    pub(super) fn short_quiet_ns(&self) -> u64 {
        self.config.timeout_ns.clamp(QUIET_NS, 10 * QUIET_NS)
    }

    pub(super) fn begin_resync(&mut self, now_ns: u64, by_loss: bool) {
        if !self.needs_resync() {
            return;
        }
        let quiet = match by_loss {
            true => self.config.timeout_ns.max(QUIET_NS),
            false => self.short_quiet_ns(),
        };
        let resync = self.resync.get_or_insert(Resync {
            began_ns: now_ns,
            until_ns: 0,
            by_loss: true,
        });
        // What was damaged may be known only after more bytes have come.
        resync.until_ns = resync.until_ns.max(now_ns.max(self.heard_ns) + quiet);
        resync.by_loss &= by_loss;
    }

    #[cold]
    pub(super) fn poll_resync(&mut self, now_ns: u64) -> Option<Event> {
        let resync = self.resync?;
        let at_rest = self.window.waiting() == 0 && !self.wants_to_send();
        let all_came =
            resync.by_loss && self.window.missing() == 0 && self.input.bytes().is_empty();
        if at_rest && (all_came || now_ns >= resync.until_ns) {
            self.resync = None;
            self.drop_input();
            self.begin_confirm();
        } else if now_ns.saturating_sub(resync.began_ns) >= self.never_quiet_ns {
            // Whoever goes on begins to wait anew.
            self.resync = Some(Resync {
                began_ns: now_ns,
                ..resync
            });
            self.drop_input();
            return Some(Event::NeverQuiet);
        }
        None
    }

    // --- the link ---

    /// The link is open anew.
    pub fn connected(&mut self) {
        self.disconnected();
    }

    /// The link is closed: what is left of requests goes nowhere, no answer to those before will come, and
    /// there is no line that would have to become quiet. Nothing may be outstanding.
    pub fn disconnected(&mut self) {
        self.drop_input();
        self.output.clear();
        while self.window.unstage().is_some() {}
        self.unparsed = false;
        self.clear = false;
        self.resync = None;
        self.confirm.begin(false);
        self.blocked_since_ns = None;
        self.window.forget_missing();
    }

    /// The link failed: what is staged is dropped, and what is outstanding is lost at the next poll.
    pub fn lose_all(&mut self) {
        self.output.clear();
        while self.window.unstage().is_some() {}
        self.losing_all = self.window.waiting() > 0;
        self.blocked_since_ns = None;
    }

    /// An exchange that could not even be begun: it is lost at the next poll. Nothing may be staged.
    pub fn lose_next(&mut self, start_ns: u64) {
        self.window.stage(0);
        self.window.start(1, start_ns);
        self.losing_all = true;
    }

    /// Gives up all that is under way, without an event: whatever comes of it later answers nothing.
    #[cold]
    pub fn abandon(&mut self, now_ns: u64) {
        self.drop_staged();
        self.blocked_since_ns = None;
        self.losing_all = false;
        let waited = self.window.waiting() > 0;
        self.drop_kept();
        while self.window.give_up_oldest().is_some() {}
        if !self.needs_resync() {
            // The rest of an answer that has begun is noise, and skipped as such.
            self.discard();
            self.window.forget_missing();
        } else if waited && self.resync.is_none() {
            self.begin_resync(now_ns, true);
        }
    }

    /// Drops what was received before and belongs to no answer.
    pub fn discard(&mut self) {
        self.drop_input();
        self.unparsed = false;
    }

    /// Drops all that was received, as bytes of no answer; returns how many.
    pub(super) fn drop_input(&mut self) -> u64 {
        let count = self.input.drop_all();
        self.stray_bytes += count;
        self.confirm.drop_candidates();
        self.codec.reset();
        count
    }

    /// Drops the requests that are staged and not begun.
    pub(super) fn drop_staged(&mut self) {
        self.output.drop_unbegun();
        while self.window.unstage().is_some() {}
    }
}
