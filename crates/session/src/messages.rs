//! What an open device speaks: MESSAGE frames of the wiregauge protocol, a foreign framing, or a foreign protocol.

use crate::codec::{Codec, Matching, Parsed};
use crate::framing::{Framing, Splitter};
use crate::message::{ANSWER_OVERHEAD, Message, REQUEST_OVERHEAD};
use crate::program_queries::{ModbusQueries, TextQueries};
use crate::window::Window;

/// The codec of an open device.
#[derive(Debug)]
pub enum Messages {
    /// The wiregauge protocol.
    Wiregauge(Message),
    /// A framing that knows nothing of wiregauge.
    Foreign(Splitter),
    /// Text or SCPI.
    Text(TextQueries),
    /// Modbus.
    Modbus(ModbusQueries),
}

/// Calls the same method of whichever codec it is.
macro_rules! each {
    ($messages:expr, $codec:ident => $call:expr) => {
        match $messages {
            Messages::Wiregauge($codec) => $call,
            Messages::Foreign($codec) => $call,
            Messages::Text($codec) => $call,
            Messages::Modbus($codec) => $call,
        }
    };
}

impl Messages {
    /// True if it is the wiregauge protocol.
    #[inline]
    pub fn is_wiregauge(&self) -> bool {
        matches!(self, Messages::Wiregauge(_))
    }

    /// True if an answer says which request it answers.
    #[inline]
    pub fn is_numbered(&self) -> bool {
        self.matching() == Matching::Number
    }

    /// True if the size of a reply is asked for or awaited, and not said by the reply itself.
    #[inline]
    pub fn asks_for_size(&self) -> bool {
        matches!(self, Messages::Wiregauge(_) | Messages::Foreign(_))
    }

    /// Appends the request `sequence`, which asks for `awaited` bytes.
    #[inline]
    pub fn write(&mut self, sequence: u64, payload: &[u8], awaited: usize, to: &mut Vec<u8>) {
        match self {
            Messages::Wiregauge(message) => message.write(sequence, payload, awaited, to),
            Messages::Foreign(splitter) => splitter.frame(payload, to),
            Messages::Text(queries) => queries.write(payload, to),
            Messages::Modbus(queries) => queries.write(sequence, payload, to),
        }
    }

    /// Bytes of a request on the link beside the program's.
    pub fn request_overhead(&self) -> usize {
        match self {
            Messages::Wiregauge(_) => REQUEST_OVERHEAD,
            Messages::Foreign(splitter) => splitter.framing().overhead(),
            Messages::Text(queries) => usize::from(queries.is_scpi()),
            Messages::Modbus(queries) => queries.overhead(),
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
            Messages::Text(queries) => queries.replies().usual(),
            Messages::Modbus(queries) => queries.longest(),
        }
    }

    /// Bytes that an answer may have on the link before it counts as unsolicited data, where a payload has up to
    /// `largest`.
    pub fn longest_answer(&self, largest: usize) -> usize {
        match self {
            Messages::Text(queries) => queries.replies().longest(),
            codec => codec.answer_bytes(largest),
        }
    }
}

impl Codec for Messages {
    #[inline]
    fn matching(&self) -> Matching {
        each!(self, codec => codec.matching())
    }

    #[inline]
    fn parse(&mut self, bytes: &[u8], window: &Window) -> Parsed {
        each!(self, codec => codec.parse(bytes, window))
    }

    fn reset(&mut self) {
        each!(self, codec => codec.reset());
    }

    fn abandon_partial(&mut self, bytes: usize) {
        each!(self, codec => codec.abandon_partial(bytes));
    }

    #[inline]
    fn idle_ns(&self) -> Option<u64> {
        each!(self, codec => codec.idle_ns())
    }

    fn parse_idle(&mut self, bytes: &[u8], window: &Window) -> Parsed {
        each!(self, codec => codec.parse_idle(bytes, window))
    }

    #[inline]
    fn gap_ns(&self) -> u64 {
        each!(self, codec => codec.gap_ns())
    }
}
