//! What the documents say of a protocol: how replies are told apart, and when the line must be quiet.

use crate::queries::END;
use crate::scenario::{Cell, Protocols, Scenario};

/// How replies are told apart, and what else is required where.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Replies to requests whose numbers differ by a multiple of this look alike; 1: all do.
    pub alike: u64,
    /// A reply that is none of these is taken for a damaged one.
    pub takes_any: bool,
    /// When an exchange is lost.
    pub timeout_ns: u64,
    /// Number on the wire of exchange 0.
    pub base: u64,
    /// The bits of a number that the device reads.
    pub number_mask: u64,
    /// Bytes are read as soon as they can be, at rest too.
    pub reads_at_once: bool,
    /// Each received byte is counted.
    pub counts_bytes: bool,
    /// What a message ends with.
    pub ends: Ends,
    /// Every second reply is not the expected one.
    pub second_unexpected: bool,
    /// The content of a reply is checked, of this many bytes.
    pub checked_bytes: Option<u64>,
    /// Replies are echoes.
    pub is_echo: bool,
    /// The numbers are so large that few bytes of anything look like an echo to an earlier point.
    pub looks_earlier: bool,
    /// The device adds bytes to each reply.
    pub has_surplus: bool,
    /// The device may refuse a request, which is then lost at once.
    pub may_refuse: bool,
}

/// What a message ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Nothing that matters between requests: replies have numbers, or are datagrams.
    Numbered,
    /// These bytes.
    With(&'static [u8]),
    /// So much silence, after which the next request may begin.
    Silence(u64),
    /// What it says of itself; so much silence comes before the next request.
    Gap(u64),
    /// Its size.
    Size,
    /// Whatever ends the answer whose bytes they are.
    Answer,
}

impl Rules {
    /// The rules of one point.
    pub fn of_point(scenario: &Scenario, cell: Cell, base: u64) -> Rules {
        let protocol = scenario.protocol;
        let bytes = u64::from(cell.out_bytes);
        let is_short = protocol == Protocols::Echo && bytes < 4;
        let datagram = scenario.datagram;
        Rules {
            alike: match protocol {
                Protocols::Echo if is_short => 1 << (8 * bytes),
                Protocols::Exchange | Protocols::Echo => 1 << 32,
                Protocols::Tcp => 1 << 16,
                _ => 1,
            },
            takes_any: is_short && !datagram,
            timeout_ns: scenario.timeout_ns,
            base,
            number_mask: match protocol {
                Protocols::Exchange => u32::MAX.into(),
                _ => u64::MAX,
            },
            reads_at_once: true,
            // The replies to HELLO are no rows.
            counts_bytes: !(protocol == Protocols::Exchange && datagram),
            ends: match protocol {
                _ if datagram => Ends::Numbered,
                Protocols::Lines => Ends::With(b"\n"),
                Protocols::Text => Ends::With(END),
                Protocols::Silence => Ends::Silence(scenario.silence_ns),
                Protocols::Rtu => Ends::Gap(scenario.silence_ns),
                Protocols::Echo if is_short => Ends::Size,
                _ => Ends::Numbered,
            },
            second_unexpected: matches!(
                protocol,
                Protocols::Text | Protocols::Tcp | Protocols::Rtu
            ),
            checked_bytes: match protocol {
                Protocols::Exchange => Some(cell.in_bytes.into()),
                // An echo of fewer bytes can look like parts of two others: the marks of k and 256 k share three.
                Protocols::Echo if bytes >= 8 => Some(bytes),
                _ => None,
            },
            is_echo: protocol == Protocols::Echo,
            looks_earlier: protocol == Protocols::Echo && bytes < 8 && base > 1 << 24,
            has_surplus: scenario.faults.surplus > 0,
            may_refuse: protocol == Protocols::Exchange && datagram,
        }
    }

    /// True if the order of replies is all that there is, on a line that must be quiet behind a loss.
    pub fn is_line(&self) -> bool {
        self.alike == 1 || self.takes_any
    }

    /// True if an answer is never taken for that of another exchange, but where [`super::Judge`] is in doubt.
    pub fn tells_lost(&self) -> bool {
        self.is_line() || self.has_numbers()
    }

    /// True if replies are told apart by numbers of their own.
    pub fn has_numbers(&self) -> bool {
        self.alike >= 1 << 16 && !self.takes_any
    }

    /// The rules of a program, which reads late. Its messages have numbers, or a foreign framing.
    pub fn of_program(timeout_ns: u64, has_numbers: bool) -> Rules {
        let alike = if has_numbers { 1 << 32 } else { 1 };
        Rules {
            alike,
            takes_any: false,
            timeout_ns,
            base: 0,
            number_mask: u64::MAX,
            reads_at_once: false,
            counts_bytes: false,
            ends: match has_numbers {
                true => Ends::Numbered,
                false => Ends::Answer,
            },
            second_unexpected: false,
            checked_bytes: None,
            is_echo: false,
            looks_earlier: false,
            has_surplus: false,
            may_refuse: false,
        }
    }

    /// True if this is the number on the wire of an exchange of this point.
    pub fn is_of(&self, number: u64, sequence: u64) -> bool {
        number.wrapping_sub(self.base) & self.number_mask == sequence
    }

    /// True if nobody can tell that these bytes do not answer this exchange. `number`: that of the request which they
    /// do answer, if any.
    pub fn may_be_taken(&self, number: Option<u64>, sequence: u64) -> bool {
        let is_alike = match number {
            Some(number) => number % self.alike == (self.base + sequence) % self.alike,
            None => !self.has_numbers(),
        };
        is_alike || self.takes_any
    }
}
