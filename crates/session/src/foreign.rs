//! Messages of devices that know nothing of wiregauge: requests and replies in a [`Framing`](crate::Framing),
//! matched by their order.

use crate::codec::{Answer, Codec, Matching, Parsed, Verdict};
use crate::framing::{Split, Splitter};
use crate::window::Window;

impl Codec for Splitter {
    fn matching(&self) -> Matching {
        Matching::Order
    }

    #[inline]
    fn parse(&mut self, bytes: &[u8], window: &Window) -> Parsed {
        // What was given up is answered first, if at all.
        let Some(slot) = window.oldest_missing().or_else(|| window.oldest_waiting()) else {
            return Parsed::Stray(bytes.len());
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
