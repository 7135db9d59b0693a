//! When a request may be sent while none is outstanding: what has come before it must have been read, and a message that
//! has begun must be over.

use super::rest::QUIET_NS;
use super::rules::Ends;
use super::{Judge, Kind};
use crate::oracle::Fault;
use crate::world::World;

impl Judge {
    /// Whether a request may be sent now that none is outstanding.
    pub(super) fn may_begin(&mut self, now_ns: u64, world: &World) -> Result<(), Fault> {
        let rules = self.rules;
        if !rules.is_line() {
            return Ok(());
        }
        let number = self.exchanges.started();
        let wrong = |what: String| {
            let what = format!("request {number} is sent {what}");
            Err(Fault::new(now_ns, what))
        };
        if world.is_readable() && rules.reads_at_once {
            return wrong("before what came earlier is read".into());
        }
        let heard_ns = self.rest.heard_ns.unwrap_or(0);
        let quiet_ns = now_ns - heard_ns.max(self.rest.lost_ns);
        // A damaged datagram counts as the reply to one of them, in no row of a program.
        let is_known = rules.ends != Ends::Answer || !self.ever_damaged;
        if self.rest.lost > 0 && quiet_ns < QUIET_NS && is_known {
            return wrong(format!("{quiet_ns} ns after a loss"));
        }
        let silent_ns = now_ns - heard_ns;
        let (is_begun, least_ns) = match rules.ends {
            _ if self.rest.heard_ns.is_none() => (false, 0),
            Ends::With(end) => (self.rest.last != end, QUIET_NS),
            Ends::Silence(silence_ns) | Ends::Gap(silence_ns) => (true, silence_ns),
            // Nothing in the bytes shows where an echo begins that nobody asked for.
            Ends::Size | Ends::Numbered => (false, 0),
            Ends::Answer => (self.is_within_answer(), QUIET_NS),
        };
        match is_begun && silent_ns < least_ns {
            true => wrong(format!("{silent_ns} ns after the beginning of a message")),
            false => Ok(()),
        }
    }

    /// True if the last bytes began an answer and did not end it. Where a part of one was dropped after a pause in it,
    /// or a link damages bytes, the host may see other ends than the world.
    fn is_within_answer(&self) -> bool {
        self.arrivals.is_begun() && !self.is_torn && !self.ever_damaged
    }

    /// A row of an exchange without an answer, or with one that came late.
    pub(super) fn note_loss(&mut self, kind: Kind, now_ns: u64) {
        match kind {
            Kind::Lost if !self.may_end_early() => self.rest.lost(now_ns),
            Kind::Late => self.rest.came_late(),
            _ => {}
        }
    }
}
