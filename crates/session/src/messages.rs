//! What an open device speaks: MESSAGE frames of the wiregauge protocol, or a foreign framing.

use crate::codec::{Codec, Matching, Parsed};
use crate::framing::{Framing, Splitter};
use crate::message::{ANSWER_OVERHEAD, Message, REQUEST_OVERHEAD};
use crate::window::Window;

/// The codec of an open device.
#[derive(Debug)]
pub enum Messages {
    /// The wiregauge protocol.
    Wiregauge(Message),
    /// A protocol that knows nothing of wiregauge.
    Foreign(Splitter),
}

impl Messages {
    /// True if an answer says which request it answers.
    #[inline]
    pub fn is_numbered(&self) -> bool {
        matches!(self, Messages::Wiregauge(_))
    }

    /// Appends the request `sequence`, which asks for `awaited` bytes.
    #[inline]
    pub fn write(&mut self, sequence: u64, payload: &[u8], awaited: usize, to: &mut Vec<u8>) {
        match self {
            Messages::Wiregauge(message) => message.write(sequence, payload, awaited, to),
            Messages::Foreign(splitter) => splitter.frame(payload, to),
        }
    }

    /// Bytes of a request on the link beside the program's.
    pub fn request_overhead(&self) -> usize {
        match self {
            Messages::Wiregauge(_) => REQUEST_OVERHEAD,
            Messages::Foreign(splitter) => splitter.framing().overhead(),
        }
    }

    /// Bytes of an answer on the link whose payload has `awaited` bytes, as far as that is known beforehand.
    pub fn answer_bytes(&self, awaited: usize) -> usize {
        match self {
            Messages::Wiregauge(_) => ANSWER_OVERHEAD + awaited,
            Messages::Foreign(splitter) => match splitter.framing() {
                Framing::Fixed { bytes } => *bytes,
                framing => awaited + framing.overhead(),
            },
        }
    }
}

impl Codec for Messages {
    #[inline]
    fn matching(&self) -> Matching {
        match self {
            Messages::Wiregauge(message) => message.matching(),
            Messages::Foreign(splitter) => splitter.matching(),
        }
    }

    #[inline]
    fn parse(&mut self, bytes: &[u8], window: &Window) -> Parsed {
        match self {
            Messages::Wiregauge(message) => message.parse(bytes, window),
            Messages::Foreign(splitter) => splitter.parse(bytes, window),
        }
    }

    fn reset(&mut self) {
        match self {
            Messages::Wiregauge(message) => message.reset(),
            Messages::Foreign(splitter) => splitter.reset(),
        }
    }

    fn abandon_partial(&mut self, bytes: usize) {
        match self {
            Messages::Wiregauge(message) => message.abandon_partial(bytes),
            Messages::Foreign(splitter) => splitter.abandon_partial(bytes),
        }
    }
}
