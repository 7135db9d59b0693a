//! Replies that end as the user said, matched with their requests by their order: of measured queries, and of those
//! that a program sends.

use crate::codec::{Answer, MOST_UNASKED, Parsed, Verdict};
use crate::reply::{Reply, ReplyReader};
use crate::window::{Slot, Window};
use wiregauge_record::ReplyEnd;

/// Replies up to this size are laid out beforehand.
const USUAL: usize = 64 << 10;

/// The replies on one link.
#[derive(Debug)]
pub struct Replies {
    reader: ReplyReader,
    usual: usize,
}

impl Replies {
    /// For replies that end so; an error says what is wrong with it.
    pub fn new(end: &ReplyEnd, datagram: bool) -> Result<Replies, String> {
        Ok(Replies {
            reader: ReplyReader::new(end, datagram)?,
            usual: match end {
                ReplyEnd::Bytes(bytes) => *bytes as usize,
                _ => USUAL,
            },
        })
    }

    /// Bytes of a reply, as far as that is known beforehand.
    pub fn usual(&self) -> usize {
        self.usual
    }

    /// Bytes of a reply at most.
    pub fn longest(&self) -> usize {
        self.reader.longest()
    }

    /// The silence that ends a reply, if it is that.
    pub fn idle_ns(&self) -> Option<u64> {
        self.reader.idle_ns()
    }

    /// The bytes before are gone, whatever they were.
    pub fn restart(&mut self) {
        self.reader.restart();
    }

    /// What received bytes begin with; whether a reply, without its end, is the expected one, `is_expected` says.
    pub fn parse(
        &mut self,
        bytes: &[u8],
        window: &Window,
        is_expected: impl Fn(&[u8]) -> bool,
    ) -> Parsed {
        let verdict = |payload: &[u8]| match is_expected(payload) {
            true => Verdict::Intact,
            false => Verdict::Unexpected,
        };
        match self.reader.next(bytes) {
            Reply::More if bytes.len() >= MOST_UNASKED && answered_next(window).is_none() => {
                self.reader.restart();
                Parsed::Stray(bytes.len())
            }
            Reply::More => Parsed::Incomplete,
            Reply::Whole(end, mark) => {
                answer(&bytes[..end], mark, verdict(&bytes[..end - mark]), window)
            }
            Reply::Cut(end) => answer(&bytes[..end], 0, Verdict::Damaged, window),
            // Nobody asked for it, so nothing waits for its end.
            Reply::Malformed(_) if answered_next(window).is_none() => Parsed::Stray(bytes.len()),
            Reply::Malformed(malformed) => Parsed::Malformed(malformed),
        }
    }

    /// The line was silent for long enough behind these bytes, which are never empty.
    pub fn parse_idle(
        &mut self,
        bytes: &[u8],
        window: &Window,
        is_expected: impl Fn(&[u8]) -> bool,
    ) -> Parsed {
        let verdict = match is_expected(bytes) {
            true => Verdict::Intact,
            false => Verdict::Unexpected,
        };
        answer(bytes, 0, verdict, window)
    }
}

/// The answer that these bytes are; the last of them are `mark`, which ends it.
fn answer(bytes: &[u8], mark: usize, verdict: Verdict, window: &Window) -> Parsed {
    let Some(slot) = answered_next(window) else {
        return Parsed::Stray(bytes.len());
    };
    Parsed::Answer(Answer {
        payload: 0..bytes.len() - mark,
        ..Answer::plain(slot.sequence, bytes.len(), verdict)
    })
}

/// The exchange that a reply answers. What was given up is answered first, if at all.
fn answered_next(window: &Window) -> Option<&Slot> {
    window.oldest_missing().or_else(|| window.oldest_waiting())
}
