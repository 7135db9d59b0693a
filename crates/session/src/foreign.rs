//! Messages of devices that know nothing of wiregauge: requests and replies in a [`Framing`](crate::Framing),
//! matched by their order.

use crate::codec::{Answer, Codec, MOST_UNASKED, Matching, Parsed, Verdict};
use crate::framing::{Split, Splitter};
use crate::window::Window;

impl Codec for Splitter {
    fn matching(&self) -> Matching {
        Matching::Order
    }

    #[inline]
    fn parse(&mut self, bytes: &[u8], window: &Window) -> Parsed {
        // What was given up is answered first, if at all.
        let slot = window.oldest_missing().or_else(|| window.oldest_waiting());
        let Some(slot) = slot else {
            return self.parse_unasked(bytes);
        };
        let (sequence, awaited) = (slot.sequence, slot.awaited);
        match self.next(bytes, awaited) {
            Split::More => Parsed::Incomplete,
            Split::Malformed(malformed) => Parsed::Malformed(malformed),
            Split::Message { payload, end } => Parsed::Answer(Answer {
                payload,
                ..Answer::plain(sequence, end, Verdict::Intact)
            }),
        }
    }

    fn reset(&mut self) {
        self.restart();
    }
}

impl Splitter {
    /// A message that nobody asked for is none of these bytes' answers, but its end must be known.
    fn parse_unasked(&mut self, bytes: &[u8]) -> Parsed {
        // Its size is unknown where neither framing nor caller states it: then only a quiet line shows its end.
        match self.next(bytes, usize::MAX) {
            Split::More if bytes.len() < MOST_UNASKED => Parsed::Incomplete,
            Split::More | Split::Malformed(_) => {
                self.restart();
                Parsed::Stray(bytes.len())
            }
            Split::Message { end, .. } => Parsed::Stray(end),
        }
    }
}
