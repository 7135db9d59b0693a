//! What a protocol has to say to the engine: the bytes of a request, and what received bytes begin with.

use crate::framing::Malformed;
use crate::window::Window;
use std::ops::Range;
use wiregauge_record::Surplus;
use wiregauge_wire as wire;

/// A message that nobody asked for is kept until it is complete, but not beyond this many bytes.
pub(crate) const MOST_UNASKED: usize = 64 << 10;

/// How an answer is matched with its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matching {
    /// The answer says which request it answers. Nothing else is ever taken for it.
    Number,
    /// Answers come in the order of the requests, and are distinguished by their content as far as they can.
    /// After a lost or damaged answer the line must be quiet before the next request.
    Content,
    /// Answers come in the order of the requests. After a lost answer the rest cannot be matched.
    Order,
}

/// What received bytes begin with.
#[derive(Clone, Debug)]
pub enum Parsed {
    /// The beginning of an answer: more must come.
    Incomplete,
    /// Bytes that belong to no answer.
    Stray(usize),
    /// Bytes of a damaged answer that was reported before.
    Rest(usize),
    /// Bytes that the device sends behind each answer.
    Surplus(usize),
    /// An answer.
    Answer(Answer),
    /// No answer, and where the next one begins is unknown.
    Malformed(Malformed),
}

/// An answer found in the received bytes.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Bytes before it that belong to nothing.
    pub skip: usize,
    /// Where it ends.
    pub end: usize,
    /// Bytes to drop; fewer than `end` where the next answer may have begun within a damaged one.
    pub consumed: usize,
    /// The exchange that it answers; `None` if it is none of this engine's.
    pub sequence: Option<u64>,
    /// Where the bytes lie that are meant for the program.
    pub payload: Range<usize>,
    /// Whether it is what it should be.
    pub verdict: Verdict,
    /// Device clock when the request had arrived, in ticks; 0 where the protocol has no clock.
    pub rx_ticks: u64,
    /// Device clock when the answer was handed over, in ticks.
    pub tx_ticks: u64,
}

impl Answer {
    /// An answer of `bytes[..end]`, all of it payload, from a device without a clock.
    pub fn plain(sequence: u64, end: usize, verdict: Verdict) -> Answer {
        Answer {
            skip: 0,
            end,
            consumed: end,
            sequence: Some(sequence),
            payload: 0..end,
            verdict,
            rx_ticks: 0,
            tx_ticks: 0,
        }
    }
}

/// Whether an answer is what it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every byte is right.
    Intact,
    /// Bytes of the answer are wrong.
    Damaged,
    /// A whole answer, but not the expected one.
    Unexpected,
    /// Bytes of the request were wrong when it arrived; the device says so.
    RequestDamaged,
    /// The device refuses the request.
    Refused(wire::Status),
}

/// A protocol, as the engine sees it.
pub trait Codec {
    /// How its answers are matched with their requests.
    fn matching(&self) -> Matching;

    /// What the received bytes begin with; they are never empty. After [`Parsed::Incomplete`] it is asked
    /// again with the same bytes and more, after anything else with those that follow.
    fn parse(&mut self, bytes: &[u8], window: &Window) -> Parsed;

    /// The bytes before are gone: the link was opened anew, or the line was drained.
    fn reset(&mut self) {}

    /// An exchange was given up while this many received bytes belong to no whole answer yet.
    fn abandon_partial(&mut self, _bytes: usize) {}

    /// The first answer has come and nothing is under way: learns what follows it, where the protocol can.
    /// True if so; then the line must be quiet before the next request.
    fn listen(&mut self) -> bool {
        false
    }

    /// True while what follows the first answer is awaited.
    fn is_listening(&self) -> bool {
        false
    }

    /// The line was quiet behind the first answer after these bytes; true if they are done with.
    fn on_quiet(&mut self, _bytes: &[u8]) -> bool {
        false
    }

    /// Bytes that it had taken, and that belong to no answer.
    fn stray_bytes(&self) -> u64 {
        0
    }

    /// How long the line must be silent for an answer to have ended, in nanoseconds; `None` where its bytes say
    /// where it ends.
    fn idle_ns(&self) -> Option<u64> {
        None
    }

    /// The line was silent for that long behind these bytes, which are never empty.
    fn parse_idle(&mut self, bytes: &[u8], _window: &Window) -> Parsed {
        Parsed::Stray(bytes.len())
    }

    /// How long the line must be silent before a request begins, in nanoseconds.
    fn gap_ns(&self) -> u64 {
        0
    }

    /// What the device sends behind each answer.
    fn surplus(&self) -> Option<Surplus> {
        None
    }
}

/// A protocol whose requests are made for measuring.
pub trait Generator: Codec {
    /// Bytes of a request, of the longest one if they differ.
    fn request_bytes(&self) -> usize;

    /// Bytes of the request `sequence`.
    #[inline]
    fn bytes_of(&self, _sequence: u64) -> usize {
        self.request_bytes()
    }

    /// Bytes of an answer, as far as that is known beforehand.
    fn answer_bytes(&self) -> usize;

    /// Bytes that an answer may have before it counts as unsolicited data.
    fn longest_answer(&self) -> usize {
        self.answer_bytes()
    }

    /// Writes the request `sequence`; `to` is exactly its size.
    fn request(&mut self, sequence: u64, to: &mut [u8]);

    /// True if the device answers more than it was sent only to an address that was proved with HELLO.
    fn needs_proof(&self) -> bool {
        false
    }
}

/// The number nearest to `near` that ends in the given lowest `bits`.
pub(crate) fn nearest(ending: u64, bits: u32, near: u64) -> Option<u64> {
    let span = 1_u64 << bits;
    let forward = ending.wrapping_sub(near) & (span - 1);
    if forward < span / 2 {
        near.checked_add(forward)
    } else {
        (near + forward).checked_sub(span)
    }
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_number_is_found_on_both_sides() {
        assert_eq!(nearest(0x05, 8, 0x1fe), Some(0x205));
        assert_eq!(nearest(0xfe, 8, 0x205), Some(0x1fe));
        assert_eq!(nearest(0xff, 8, 0), None);
    }
}
