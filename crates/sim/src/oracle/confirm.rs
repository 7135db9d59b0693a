//! The first exchange after a loss, where replies come in order: which reply is whose is only known when its time is
//! over, or when all that can come has come.

use super::exchanges::Kept;
use super::{Oracle, QUIET_NS};
use wiregauge_record::Sample;

impl Oracle<'_> {
    /// The line is quiet.
    pub(super) fn begin_confirm(&mut self) {
        self.confirms = self.scenario.protocol.is_ordered() && self.exchanges.missing() > 0;
        if !self.confirms {
            self.exchanges.close_missing();
        }
    }

    /// True while nothing else may start.
    pub(super) fn is_confirming(&self) -> bool {
        self.confirms && self.exchanges.outstanding() > 0
    }

    pub(super) fn drop_kept(&mut self) {
        for kept in self.kept.drain(..) {
            self.stray += kept.bytes.len() as u64;
        }
    }

    /// Keeps what was recognised; true if all that can come has come.
    pub(super) fn keep(&mut self, bytes: &[u8], is_reply: bool) -> bool {
        self.kept.push(Kept {
            bytes: bytes.to_vec(),
            received_ns: self.received_ns,
            is_reply,
        });
        self.replies() > self.exchanges.missing()
    }

    /// When no further reply is expected, once there is one.
    pub(super) fn confirmed_ns(&self) -> Option<u64> {
        let waits = self.exchanges.oldest_waiting()?;
        let last = self.kept.iter().rfind(|kept| kept.is_reply)?.received_ns;
        let took = last - self.exchanges.of(waits).start_ns;
        Some(last + (2 * took.max(self.longest_ns)).max(QUIET_NS))
    }

    pub(super) fn replies(&self) -> usize {
        self.kept.iter().filter(|kept| kept.is_reply).count()
    }

    /// The last reply is the one that is awaited; those before are late ones, of the newest that were given up.
    pub(super) fn settle(&mut self, rows: &mut Vec<Sample>) {
        let late = self.replies() - 1;
        while self.exchanges.missing() > late {
            self.exchanges.close_oldest_missing();
        }
        self.confirms = false;
        let (input, received_ns) = (std::mem::take(&mut self.input), self.received_ns);
        let was_silent = self.rules.is_silent;
        for kept in std::mem::take(&mut self.kept) {
            self.input = kept.bytes;
            self.received_ns = kept.received_ns;
            self.rules.is_silent = true;
            self.read(rows);
        }
        self.rules.is_silent = was_silent;
        (self.input, self.received_ns) = (input, received_ns);
        self.exchanges.close_missing();
    }
}
