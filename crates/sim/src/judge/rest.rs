//! When a request may be sent while none is outstanding: what has come before it must have been read, and a message that
//! has begun must be over.

use super::rules::{Ends, Rules};
use super::{Judge, Kind};
use crate::oracle::Fault;
use crate::world::{Byte, World};

/// The least time for which a line must be quiet before it is trusted again.
const QUIET_NS: u64 = 20_000_000;

/// What is known of the line between two requests.
#[derive(Debug, Default)]
pub struct Rest {
    /// When a byte could be read last.
    heard_ns: Option<u64>,
    /// The last bytes, as many as may end a message.
    last: Vec<u8>,
    /// Exchanges that were lost since a request was sent while none was outstanding, without those that came late.
    lost: u64,
    /// When the last one was lost.
    lost_ns: u64,
}

impl Rest {
    /// Bytes came.
    pub fn heard(&mut self, rules: &Rules, at_ns: u64, bytes: &[Byte]) {
        if at_ns.saturating_sub(self.heard_ns.unwrap_or(0).max(self.lost_ns)) >= QUIET_NS {
            self.lost = 0;
        }
        self.heard_ns = Some(at_ns);
        if let Ends::With(end) = rules.ends {
            self.last.extend(bytes.iter().map(|byte| byte.value));
            let surplus = self.last.len().saturating_sub(end.len());
            self.last.drain(..surplus);
        }
    }

    /// A request is sent while none is outstanding.
    pub fn begins(&mut self) {
        self.lost = 0;
    }

    /// An exchange was lost because of its time.
    pub fn lost(&mut self, now_ns: u64) {
        self.lost += 1;
        self.lost_ns = now_ns;
    }

    /// True if one was lost at this time.
    pub fn was_lost_at(&self, now_ns: u64) -> bool {
        self.lost > 0 && self.lost_ns == now_ns
    }

    /// An answer to one of those came.
    pub fn came_late(&mut self) {
        self.lost = self.lost.saturating_sub(1);
    }
}

impl Judge {
    /// Whether a request may be sent now that none is outstanding.
    pub(super) fn may_begin(&mut self, now_ns: u64, world: &World) -> Result<(), Fault> {
        let rules = self.rules;
        if !rules.is_line() || rules.ends == Ends::Unknown {
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
        if self.rest.lost > 0 && quiet_ns < QUIET_NS {
            return wrong(format!("{quiet_ns} ns after a loss"));
        }
        let silent_ns = now_ns - heard_ns;
        let (is_begun, least_ns) = match rules.ends {
            _ if self.rest.heard_ns.is_none() => (false, 0),
            Ends::With(end) => (self.rest.last != end, QUIET_NS),
            Ends::Silence(silence_ns) | Ends::Gap(silence_ns) => (true, silence_ns),
            // Nothing in the bytes shows where an echo begins that nobody asked for.
            Ends::Size | Ends::Numbered | Ends::Unknown => (false, 0),
        };
        match is_begun && silent_ns < least_ns {
            true => wrong(format!("{silent_ns} ns after the beginning of a message")),
            false => Ok(()),
        }
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
