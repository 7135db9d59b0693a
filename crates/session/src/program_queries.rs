//! The queries of a program to a device that knows nothing of wiregauge: text, SCPI, Modbus. What `Query` and `Modbus`
//! know from a plan is known here from each request.

use crate::codec::{Codec, Matching, Parsed};
use crate::modbus::{self, Frames, LONGEST, LONGEST_REQUEST};
use crate::replies::Replies;
use crate::window::Window;
use wiregauge_record::{ModbusLine, ReplyEnd};

/// Requests whose replies may still come; more than a window of [`ModbusQueries::MOST`] spans.
const KEPT: usize = 1024;

/// Text, and the messages of an instrument.
#[derive(Debug)]
pub struct TextQueries {
    replies: Replies,
    is_scpi: bool,
}

impl TextQueries {
    /// For replies that end so; an error says what is wrong with it.
    pub fn new(end: &ReplyEnd, datagram: bool) -> Result<TextQueries, String> {
        Ok(TextQueries {
            replies: Replies::new(end, datagram)?,
            is_scpi: *end == ReplyEnd::Scpi,
        })
    }

    /// True if a newline is sent behind each message.
    pub fn is_scpi(&self) -> bool {
        self.is_scpi
    }

    /// The replies.
    pub fn replies(&self) -> &Replies {
        &self.replies
    }

    /// Appends a query as it goes over the link.
    #[inline]
    pub fn write(&self, query: &[u8], to: &mut Vec<u8>) {
        to.extend_from_slice(query);
        if self.is_scpi && !query.ends_with(b"\n") {
            to.push(b'\n');
        }
    }
}

impl Codec for TextQueries {
    fn matching(&self) -> Matching {
        Matching::Order
    }

    #[inline]
    fn parse(&mut self, bytes: &[u8], window: &Window) -> Parsed {
        self.replies.parse(bytes, window, |_| true)
    }

    fn reset(&mut self) {
        self.replies.restart();
    }

    fn idle_ns(&self) -> Option<u64> {
        self.replies.idle_ns()
    }

    fn parse_idle(&mut self, bytes: &[u8], window: &Window) -> Parsed {
        self.replies.parse_idle(bytes, window, |_| true)
    }
}

/// Modbus requests, each with its unit.
#[derive(Debug)]
pub struct ModbusQueries {
    frames: Frames,
    /// A ring by number.
    kept: Vec<Kept>,
}

/// A request until its reply comes.
#[derive(Clone, Debug)]
struct Kept {
    sequence: u64,
    size: usize,
    request: [u8; LONGEST_REQUEST],
}

impl ModbusQueries {
    /// Requests outstanding at most, over TCP.
    pub const MOST: u32 = 256;

    /// For one kind of line.
    pub fn new(line: ModbusLine, datagram: bool) -> ModbusQueries {
        let empty = Kept {
            sequence: u64::MAX,
            size: 0,
            request: [0; LONGEST_REQUEST],
        };
        ModbusQueries {
            frames: Frames {
                base: 0,
                line,
                datagram,
            },
            kept: vec![empty; KEPT],
        }
    }

    /// The kind of line.
    pub fn line(&self) -> ModbusLine {
        self.frames.line
    }

    /// Bytes of a frame beside unit, function and data.
    pub fn overhead(&self) -> usize {
        self.frames.overhead()
    }

    /// Bytes of a frame at most.
    pub fn longest(&self) -> usize {
        LONGEST
    }

    /// What is wrong with a request, if anything.
    pub fn check_request(&self, request: &[u8]) -> Result<(), String> {
        let is_rtu = matches!(self.frames.line, ModbusLine::Rtu { .. });
        match request {
            [_, function, ..] if request.len() > LONGEST_REQUEST => Err(format!(
                "a request to function {function} of {} B exceeds the maximum of {LONGEST_REQUEST} B",
                request.len()
            )),
            [_, function, ..] if is_rtu && !modbus::has_known_length(*function) => Err(format!(
                "the length of a reply to function {function} is not known on a serial line"
            )),
            [_, _, ..] => Ok(()),
            _ => Err("a request has a unit and a function at least".into()),
        }
    }

    /// Appends a request that was checked, in its frame.
    #[inline]
    pub fn write(&mut self, sequence: u64, request: &[u8], to: &mut Vec<u8>) {
        let kept = &mut self.kept[sequence as usize % KEPT];
        kept.sequence = sequence;
        kept.size = request.len();
        kept.request[..request.len()].copy_from_slice(request);
        let begin = to.len();
        to.resize(begin + request.len() + self.frames.overhead(), 0);
        self.frames.write(sequence, request, &mut to[begin..]);
    }

    fn request_of(kept: &[Kept], sequence: u64) -> Option<&[u8]> {
        let kept = &kept[sequence as usize % KEPT];
        (kept.sequence == sequence).then(|| &kept.request[..kept.size])
    }

    /// What an unexpected or damaged reply says, in words, and the exception that it is.
    pub fn describe(&self, sequence: u64, reply: &[u8]) -> (String, Option<u8>) {
        let line = self.frames.line;
        let Some(request) = ModbusQueries::request_of(&self.kept, sequence) else {
            return ("a reply to an unknown request".into(), None);
        };
        if matches!(line, ModbusLine::Rtu { .. }) && !modbus::has_right_crc(reply) {
            return ("the reply is corrupted: its CRC is wrong".into(), None);
        }
        (
            modbus::describe(line, request, reply),
            modbus::exception_of(line, request, reply),
        )
    }
}

impl Codec for ModbusQueries {
    fn matching(&self) -> Matching {
        self.frames.matching()
    }

    #[inline]
    fn parse(&mut self, bytes: &[u8], window: &Window) -> Parsed {
        let kept = &self.kept;
        let request_of = |sequence| ModbusQueries::request_of(kept, sequence);
        self.frames.parse(bytes, window, request_of)
    }

    fn gap_ns(&self) -> u64 {
        self.frames.gap_ns()
    }
}
