//! `--protocol modbus`: requests of the Modbus application protocol (V1.1b3), over TCP with transaction numbers, or
//! over a serial line with a CRC (Modbus over Serial Line V1.02).

use crate::codec::{Answer, Codec, Generator, Matching, Parsed, Verdict, nearest};
use crate::window::Window;
use crc::{CRC_16_MODBUS, Crc};
use wiregauge_record::{ModbusLine, Queries, ReplyEnd};

/// Bytes of a serial frame at most, and of a frame over TCP.
pub(crate) const LONGEST: usize = 260;

/// Unit and PDU of the longest request.
pub(crate) const LONGEST_REQUEST: usize = 254;

/// Transaction number, protocol and length.
const MBAP: usize = 6;

/// The check of serial frames.
const CRC: Crc<u16> = Crc::<u16>::new(&CRC_16_MODBUS);

/// Exceptions are answered with the function and this bit.
const EXCEPTION: u8 = 0x80;

/// The frames of one link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frames {
    pub(crate) base: u64,
    pub(crate) line: ModbusLine,
    pub(crate) datagram: bool,
}

/// What a reply to this request is worth: unit, function and what follows.
fn verdict_of(request: &[u8], reply: &[u8]) -> Verdict {
    let echoes = match request[1] {
        // Writes are answered with what was written where.
        5 | 6 | 15 | 16 => reply.get(..6) == request.get(..6),
        22 => reply == request,
        _ => reply.get(..2) == request.get(..2),
    };
    match reply.len() == reply_bytes(request, request[1]).unwrap_or(reply.len()) {
        true if echoes => Verdict::Intact,
        _ => Verdict::Unexpected,
    }
}

impl Frames {
    /// Bytes that a frame adds to a request.
    pub(crate) fn overhead(&self) -> usize {
        match self.line {
            ModbusLine::Tcp => MBAP,
            ModbusLine::Rtu { .. } => 2,
        }
    }

    pub(crate) fn matching(&self) -> Matching {
        match self.line {
            ModbusLine::Tcp => Matching::Number,
            ModbusLine::Rtu { .. } => Matching::Order,
        }
    }

    pub(crate) fn gap_ns(&self) -> u64 {
        match self.line {
            ModbusLine::Tcp => 0,
            ModbusLine::Rtu { silence_ns } => silence_ns,
        }
    }

    /// Writes a request, unit and PDU, in its frame; `to` is exactly its size.
    pub(crate) fn write(&self, sequence: u64, request: &[u8], to: &mut [u8]) {
        match self.line {
            ModbusLine::Tcp => {
                let number = (self.base + sequence) as u16;
                to[..2].copy_from_slice(&number.to_be_bytes());
                to[2..MBAP].copy_from_slice(&[0, 0, 0, request.len() as u8]);
                to[MBAP..].copy_from_slice(request);
            }
            ModbusLine::Rtu { .. } => {
                to[..request.len()].copy_from_slice(request);
                to[request.len()..].copy_from_slice(&CRC.checksum(request).to_le_bytes());
            }
        }
    }

    /// What received bytes begin with; `request_of` returns the request of an exchange, if it is still known.
    pub(crate) fn parse<'a>(
        &self,
        bytes: &[u8],
        window: &Window,
        request_of: impl Fn(u64) -> Option<&'a [u8]>,
    ) -> Parsed {
        match self.line {
            ModbusLine::Tcp => self.parse_tcp(bytes, window, request_of),
            ModbusLine::Rtu { .. } => self.parse_rtu(bytes, window, request_of),
        }
    }

    fn parse_tcp<'a>(
        &self,
        bytes: &[u8],
        window: &Window,
        request_of: impl Fn(u64) -> Option<&'a [u8]>,
    ) -> Parsed {
        let (Some(&[high, low, 0, 0, 0, length]), true) =
            (bytes.first_chunk::<MBAP>(), bytes.len() >= MBAP)
        else {
            let may_begin = |at: usize, byte: &u8| at < 2 || at == 5 || *byte == 0;
            let is_begun = bytes
                .iter()
                .take(MBAP)
                .enumerate()
                .all(|(at, byte)| may_begin(at, byte));
            return match is_begun && !self.datagram && bytes.len() < MBAP {
                true => Parsed::Incomplete,
                false => Parsed::Stray(if self.datagram { bytes.len() } else { 1 }),
            };
        };
        let end = MBAP + usize::from(length);
        if length < 3 {
            return Parsed::Stray(if self.datagram { bytes.len() } else { 1 });
        }
        let number = u64::from(u16::from_be_bytes([high, low]));
        let sequence = nearest(number, 16, self.base + window.oldest())
            .and_then(|number| number.checked_sub(self.base));
        let is_whole = bytes.len() >= end && (!self.datagram || bytes.len() == end);
        let verdict = match (is_whole, sequence) {
            (false, _) if !self.datagram => return Parsed::Incomplete,
            (false, _) => Verdict::Damaged,
            (true, Some(sequence)) => match request_of(sequence) {
                Some(request) => verdict_of(request, &bytes[MBAP..end]),
                None => Verdict::Unexpected,
            },
            (true, None) => Verdict::Intact,
        };
        let end = if self.datagram { bytes.len() } else { end };
        Parsed::Answer(Answer {
            sequence,
            payload: MBAP.min(end)..end,
            ..Answer::plain(0, end, verdict)
        })
    }

    fn parse_rtu<'a>(
        &self,
        bytes: &[u8],
        window: &Window,
        request_of: impl Fn(u64) -> Option<&'a [u8]>,
    ) -> Parsed {
        // What was given up is answered first, if at all.
        let Some(slot) = window.oldest_missing().or_else(|| window.oldest_waiting()) else {
            return Parsed::Stray(bytes.len());
        };
        let Some(&function) = bytes.get(1) else {
            return match self.datagram {
                true => Parsed::Stray(bytes.len()),
                false => Parsed::Incomplete,
            };
        };
        let answer = |end: usize, payload, verdict| {
            Parsed::Answer(Answer {
                payload,
                ..Answer::plain(slot.sequence, end, verdict)
            })
        };
        let Some(request) = request_of(slot.sequence) else {
            return answer(bytes.len(), 0..0, Verdict::Damaged);
        };
        // A reply to another function or of another size ends where it says itself, if its CRC is right there.
        let stated = stated_bytes(bytes, function);
        let whole = stated.filter(|size| bytes.get(..size + 2).is_some_and(has_right_crc));
        let asked = reply_bytes(request, function);
        // Where that is not known, its bytes are those that have come.
        let Some(size) = whole.or(asked).or(stated) else {
            return answer(bytes.len(), 0..0, Verdict::Damaged);
        };
        if bytes.len() < size + 2 {
            return match self.datagram {
                true => answer(bytes.len(), 0..0, Verdict::Damaged),
                false => Parsed::Incomplete,
            };
        }
        let (reply, check) = (&bytes[..size], [bytes[size], bytes[size + 1]]);
        let verdict = match CRC.checksum(reply).to_le_bytes() == check {
            true => verdict_of(request, reply),
            false => Verdict::Damaged,
        };
        match verdict {
            // The next reply begins behind a silence, not behind these bytes.
            Verdict::Damaged => answer(bytes.len(), 0..0, verdict),
            _ => answer(size + 2, 0..size, verdict),
        }
    }
}

/// Modbus at one point of a sweep.
#[derive(Debug)]
pub struct Modbus {
    frames: Frames,
    queries: Queries,
    longest: usize,
}

impl Modbus {
    /// The queries of a plan: each has a unit, a function and what the function needs.
    pub fn new(base: u64, queries: &Queries, datagram: bool) -> Result<Modbus, String> {
        let ReplyEnd::Modbus(line) = queries.reply else {
            return Err("Modbus replies end where Modbus says".into());
        };
        let longest = queries.list.iter().map(|query| query.bytes.len()).max();
        let longest = longest.ok_or("there is no query")?;
        for query in &queries.list {
            if !(2..=LONGEST_REQUEST).contains(&query.bytes.len()) {
                return Err(format!(
                    "a request of {} bytes is not valid",
                    query.bytes.len()
                ));
            }
        }
        Ok(Modbus {
            frames: Frames {
                base,
                line,
                datagram,
            },
            queries: queries.clone(),
            longest,
        })
    }
}

impl Codec for Modbus {
    fn matching(&self) -> Matching {
        self.frames.matching()
    }

    fn parse(&mut self, bytes: &[u8], window: &Window) -> Parsed {
        let queries = &self.queries;
        let request_of = |sequence| Some(&queries.of(sequence).bytes[..]);
        self.frames.parse(bytes, window, request_of)
    }

    fn gap_ns(&self) -> u64 {
        self.frames.gap_ns()
    }
}

impl Generator for Modbus {
    fn request_bytes(&self) -> usize {
        self.longest + self.frames.overhead()
    }

    fn bytes_of(&self, sequence: u64) -> usize {
        self.queries.of(sequence).bytes.len() + self.frames.overhead()
    }

    fn answer_bytes(&self) -> usize {
        LONGEST
    }

    fn request(&mut self, sequence: u64, to: &mut [u8]) {
        let request = &self.queries.of(sequence).bytes;
        self.frames.write(sequence, request, to);
    }
}

/// Bytes of the reply to a request, without checksums, where the reply has this function; `None` if it is another
/// one than was requested.
fn reply_bytes(request: &[u8], function: u8) -> Option<usize> {
    let asked = request[1];
    let count = || usize::from(u16::from_be_bytes([request[4], request[5]]));
    if function == asked | EXCEPTION {
        return Some(3);
    }
    if function != asked {
        return None;
    }
    Some(match asked {
        1 | 2 if request.len() == 6 => 3 + count().div_ceil(8),
        3 | 4 if request.len() == 6 => 3 + 2 * count(),
        5 | 6 | 15 | 16 if request.len() >= 6 => 6,
        22 => request.len(),
        23 if request.len() >= 6 => 3 + 2 * count(),
        _ => return None,
    })
}

/// Bytes of a reply without its CRC by its own function, and its own count of bytes if it has one; `None` for a
/// function whose replies have no known length.
fn stated_bytes(reply: &[u8], function: u8) -> Option<usize> {
    Some(match function {
        1..=4 | 23 => 3 + reply.get(2).map_or(0, |count| usize::from(*count)),
        5 | 6 | 15 | 16 => 6,
        22 => 8,
        EXCEPTION.. => 3,
        _ => return None,
    })
}

/// The functions whose replies have a length that is known from their requests.
pub fn has_known_length(function: u8) -> bool {
    matches!(function, 1..=6 | 15 | 16 | 22 | 23)
}

/// The part of a received frame that is unit, function and what follows.
fn without_frame(line: ModbusLine, reply: &[u8]) -> &[u8] {
    match line {
        ModbusLine::Tcp => reply.get(MBAP..).unwrap_or(&[]),
        ModbusLine::Rtu { .. } => reply,
    }
}

/// The exception that a reply is to this request, if it is one.
pub fn exception_of(line: ModbusLine, request: &[u8], reply: &[u8]) -> Option<u8> {
    match (without_frame(line, reply), request) {
        (&[unit, function, code, ..], &[asked_unit, asked, ..])
            if unit == asked_unit && function == asked | EXCEPTION =>
        {
            Some(code)
        }
        _ => None,
    }
}

/// What an unexpected reply says, in words; `reply` as it was received, `request` without what the line adds.
pub fn describe(line: ModbusLine, request: &[u8], reply: &[u8]) -> String {
    let (&[unit, function, ..], &[asked_unit, asked, ..]) = (without_frame(line, reply), request)
    else {
        return "a reply of fewer than 2 bytes".into();
    };
    if unit != asked_unit {
        return format!("a reply of unit {unit}");
    }
    match exception_of(line, request, reply) {
        Some(code) => match exception(code) {
            Some(name) => format!("exception {code} ({name})"),
            None => format!("exception {code}"),
        },
        None if function >= EXCEPTION => {
            format!("an exception to function {}", function & !EXCEPTION)
        }
        None if function != asked => format!("a reply to function {function}"),
        None => "a reply of another size or to other registers".into(),
    }
}

/// True if the last two bytes of a serial frame are its CRC.
pub(crate) fn has_right_crc(frame: &[u8]) -> bool {
    match frame.split_last_chunk::<2>() {
        Some((frame, check)) => CRC.checksum(frame).to_le_bytes() == *check,
        None => false,
    }
}

/// The name of an exception in the specification (V1.1b3, section 7).
pub fn exception(code: u8) -> Option<&'static str> {
    Some(match code {
        1 => "illegal function",
        2 => "illegal data address",
        3 => "illegal data value",
        4 => "server device failure",
        5 => "acknowledge",
        6 => "server device busy",
        8 => "memory parity error",
        10 => "gateway path unavailable",
        11 => "gateway target device failed to respond",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_record::Query;

    fn modbus(line: ModbusLine, requests: &[&[u8]]) -> Modbus {
        let query = |bytes: &&[u8]| Query {
            name: String::new(),
            bytes: bytes.to_vec(),
        };
        let queries = Queries {
            list: requests.iter().map(query).collect(),
            reply: ReplyEnd::Modbus(line),
            expect: None,
        };
        Modbus::new(0, &queries, false).unwrap()
    }

    const RTU: ModbusLine = ModbusLine::Rtu { silence_ns: 1 };
    const OTHER_SIZE: &str = "a reply of another size or to other registers";
    const READ_2: &[u8] = &[1, 3, 0, 100, 0, 2];

    fn waiting(requests: usize) -> Window {
        let mut window = Window::new(8);
        for _ in 0..requests {
            window.stage(0);
        }
        window.start(requests, 0);
        window
    }

    fn verdict(parsed: Parsed) -> Option<(Option<u64>, usize, Verdict)> {
        match parsed {
            Parsed::Answer(answer) => Some((answer.sequence, answer.end, answer.verdict)),
            _ => None,
        }
    }

    fn rtu(reply: &[u8]) -> Vec<u8> {
        [reply, &CRC.checksum(reply).to_le_bytes()].concat()
    }

    #[test]
    fn the_crc_is_that_of_the_specification() {
        // The check value of CRC-16/MODBUS, and the example of Modbus over Serial Line V1.02, 6.2.2.
        assert_eq!(CRC.checksum(b"123456789"), 0x4b37);
        assert_eq!(CRC.checksum(&[0x02, 0x07]).to_le_bytes(), [0x41, 0x12]);
    }

    #[test]
    fn a_request_over_tcp_has_a_transaction_number_and_a_length() {
        let mut codec = modbus(ModbusLine::Tcp, &[READ_2]);
        let mut bytes = vec![0; codec.bytes_of(0x1_0203)];
        codec.request(0x1_0203, &mut bytes);
        assert_eq!(bytes, [2, 3, 0, 0, 0, 6, 1, 3, 0, 100, 0, 2]);
    }

    #[test]
    fn bytes_that_are_no_modbus_over_tcp_are_stray() {
        let mut codec = modbus(ModbusLine::Tcp, &[READ_2]);
        for bytes in [&b"HTTP/1.1"[..], &[0, 0, 0, 0, 0, 2, 1, 3], &[0, 0, 9]] {
            assert!(matches!(codec.parse(bytes, &waiting(1)), Parsed::Stray(1)));
        }
    }

    #[test]
    fn a_serial_reply_ends_where_its_function_says() {
        let write: &[u8] = &[1, 16, 0, 40, 0, 2, 4, 0, 1, 0, 2];
        let coils: &[u8] = &[1, 1, 0, 0, 0, 9];
        for (request, reply) in [
            (READ_2, &[1, 3, 4, 0, 1, 0, 2][..]),
            (write, &[1, 16, 0, 40, 0, 2]),
            (coils, &[1, 1, 2, 255, 1]),
        ] {
            let mut codec = modbus(RTU, &[request]);
            let framed = rtu(reply);
            for cut in 1..framed.len() {
                let parsed = codec.parse(&framed[..cut], &waiting(1));
                assert!(matches!(parsed, Parsed::Incomplete), "{cut} of {framed:?}");
            }
            let found = verdict(codec.parse(&framed, &waiting(1)));
            assert_eq!(found, Some((Some(0), framed.len(), Verdict::Intact)));
        }
    }

    #[test]
    fn wrong_serial_replies_are_told_apart() {
        let found = |reply: &[u8]| {
            verdict(modbus(RTU, &[READ_2]).parse(reply, &waiting(1))).map(|found| found.2)
        };
        let right = rtu(&[1, 3, 4, 0, 1, 0, 2]);
        let mut flipped = right.clone();
        flipped[4] ^= 1;
        assert_eq!(found(&right), Some(Verdict::Intact));
        assert_eq!(found(&flipped), Some(Verdict::Damaged), "CRC");
        // Its replies have no known length.
        let other = found(&rtu(&[1, 0x2b, 4, 0, 1, 0, 2]));
        assert_eq!(other, Some(Verdict::Damaged), "function");
        for (reply, said) in [
            (rtu(&[1, 0x83, 6]), "exception 6 (server device busy)"),
            (rtu(&[1, 0x83, 99]), "exception 99"),
            (rtu(&[5, 3, 4, 0, 1, 0, 2]), "a reply of unit 5"),
            (rtu(&[1, 4, 4, 0, 1, 0, 2]), "a reply to function 4"),
            (rtu(&[1, 16, 0, 40, 0, 2]), "a reply to function 16"),
            (rtu(&[1, 0x84, 2]), "an exception to function 4"),
            (rtu(&[1, 3, 2, 0, 1]), OTHER_SIZE),
            (rtu(&[1, 3, 6, 0, 1, 0, 2, 0, 3]), OTHER_SIZE),
        ] {
            for cut in 1..reply.len() {
                // A reply that is longer than what was asked for is damaged where that ends.
                let is_longer = reply.len() > 9 && cut >= 9;
                let holds = found(&reply[..cut]).is_none() || is_longer;
                assert!(holds, "{cut} of {reply:?}");
            }
            assert_eq!(found(&reply), Some(Verdict::Unexpected));
            assert_eq!(describe(RTU, READ_2, &reply), said);
        }
    }
}
