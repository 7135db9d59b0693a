//! What is known of the line between two requests.

use super::rules::{Ends, Rules};
use crate::world::Byte;

/// The least time for which a line must be quiet before it is trusted again.
pub const QUIET_NS: u64 = 20_000_000;

/// What is known of the line between two requests.
#[derive(Debug, Default)]
pub struct Rest {
    /// When a byte could be read last.
    pub heard_ns: Option<u64>,
    /// The last bytes, as many as may end a message.
    pub last: Vec<u8>,
    /// Exchanges that were lost since a request was sent while none was outstanding, without those that came late.
    pub lost: u64,
    /// When the last one was lost.
    pub lost_ns: u64,
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
