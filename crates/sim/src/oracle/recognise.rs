//! What the received bytes amount to, found from all bytes of a link at once, without any state of a parser: the
//! rules of docs/protocol.md and of the engine's description, in their simplest form.

use super::bytes::{HEADER, Header, header, named_by, pattern};
use super::exchanges::Exchanges;
use crate::queries::{END, check};
use crate::scenario::{Cell, Protocols};

/// A line that reaches this is cut there.
const LONGEST_LINE: usize = 64 << 10;

/// A number of an earlier point is at most this far before those of the point.
const OLDEST: u64 = 2 << 16;

/// A message that nobody asked for is not kept beyond so many bytes.
const MOST_UNASKED: usize = 64 << 10;

/// What stands at the front.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// It is open until more has come.
    Wait,
    /// Bytes of nothing.
    Stray(usize),
    /// Bytes that stand behind each echo.
    Behind(usize),
    /// An answer.
    Answer(Found),
}

/// An answer.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// Bytes of nothing before it.
    pub skipped: usize,
    /// Its size.
    pub bytes: usize,
    /// Bytes that are done with; fewer where the next answer may begin within a damaged one.
    pub consumed: usize,
    /// The exchange of this point.
    pub sequence: Option<u64>,
    /// What it is worth.
    pub worth: Worth,
    /// Device clock.
    pub ticks: (u64, u64),
}

/// What an answer is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worth {
    /// Every byte is right.
    Whole,
    /// Not what was expected.
    Unexpected,
    /// Bytes of it are wrong.
    Damaged,
    /// The device says that the request was damaged.
    RequestDamaged,
    /// The device refuses the request.
    Refused(u16),
}

/// The rules of one protocol at one point.
#[derive(Clone, Debug)]
pub struct Rules {
    /// What both ends say.
    pub protocol: Protocols,
    /// The sizes.
    pub cell: Cell,
    /// Messages are datagrams.
    pub datagram: bool,
    /// Number on the wire of exchange 0.
    pub base: u64,
    /// Echoes of 4 bytes and more: where the next one begins is not known.
    pub out_of_step: bool,
    /// Of those, so many were reported with a damaged one.
    pub reported: usize,
    /// What the device sends behind each echo.
    pub behind: Behind,
    /// The line was silent for so long that a reply has ended.
    pub is_silent: bool,
}

/// What stands behind each echo, as far as that is known.
#[derive(Clone, Debug, Default)]
pub struct Behind {
    /// The first echo has come, and the line must become quiet.
    pub is_open: bool,
    /// What stood behind the first echo until then; nothing if there is no rule.
    rule: Vec<u8>,
    /// Echoes that the rule held for, and those for which it did not; the first is its source.
    held: u64,
    broken: u64,
    /// The last whole echo was not followed by anything yet.
    is_next: bool,
    /// The rule was none: its bytes were stray.
    refuted: u64,
}

/// More bytes are no rule.
const LONGEST_RULE: usize = 16;

impl Behind {
    /// Nothing has come for so long that these bytes are all that stands behind the first echo. Gives those that
    /// are left.
    pub fn close(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        if !std::mem::take(&mut self.is_open) {
            return bytes;
        }
        self.rule = bytes;
        self.is_next = false;
        Vec::new()
    }

    /// The link is another, or was drained.
    pub fn begin_anew(&mut self) {
        self.is_open = false;
        self.is_next = false;
    }

    /// Bytes of the rule that may be there without being an echo.
    pub fn awaited(&self) -> usize {
        match self.is_next {
            true => self.rule.len(),
            false => 0,
        }
    }

    /// Bytes behind the first echo that are stray after all.
    pub fn stray(&self) -> u64 {
        match self.held {
            0 => self.refuted + self.rule.len() as u64,
            _ => 0,
        }
    }

    /// The rule, the echoes that it held for, and those for which it did not.
    pub fn found(&self) -> Option<(&[u8], u64, u64)> {
        (self.held > 0).then_some((&self.rule, 1 + self.held, self.broken))
    }

    fn is_broken(&mut self) {
        self.is_next = false;
        self.broken += 1;
        if self.held == 0 {
            self.refuted = std::mem::take(&mut self.rule).len() as u64;
        }
    }
}

fn found(bytes: usize, sequence: u64, worth: Worth) -> Step {
    Step::Answer(Found {
        skipped: 0,
        bytes,
        consumed: bytes,
        sequence: Some(sequence),
        worth,
        ticks: (0, 0),
    })
}

impl Rules {
    /// What `bytes`, which are not empty, begin with.
    pub fn step(&mut self, bytes: &[u8], exchanges: &Exchanges) -> Step {
        let size = self.cell.out_bytes as usize;
        match (self.protocol, self.datagram) {
            (Protocols::Exchange, _) => self.frame(bytes, exchanges),
            (Protocols::Lines, _) => self.line(bytes, exchanges),
            (Protocols::Text, _) => self.text(bytes, exchanges),
            (Protocols::Silence, _) => self.until_silence(bytes, exchanges),
            (Protocols::Tcp, _) => self.modbus_tcp(bytes, exchanges),
            (Protocols::Rtu, _) => self.modbus_rtu(bytes, exchanges),
            (Protocols::Echo, true) => self.echo_datagram(bytes, exchanges, size),
            (Protocols::Echo, false) if size < 4 => self.short_echo(bytes, exchanges, size),
            (Protocols::Echo, false) => self.echo(bytes, exchanges, size),
        }
    }

    /// The exchange with this number on the wire, if it was started.
    fn sequence(&self, number: u32, exchanges: &Exchanges) -> Option<u64> {
        // 2^32 exchanges are never under way, so that there is only one.
        let ahead = u64::from(number.wrapping_sub(self.base as u32));
        (ahead < exchanges.started()).then_some(ahead)
    }

    /// True if the number is one of an earlier point.
    fn is_earlier(&self, number: u32, exchanges: &Exchanges) -> bool {
        let back = u64::from((self.base as u32).wrapping_sub(number));
        let is_near = back > 0 && back <= OLDEST.min(self.base);
        self.sequence(number, exchanges).is_none() && is_near
    }

    // --- echoes ---

    /// An echo that was asked for, now (its exchange) or at an earlier point (`None`).
    fn whole_echo(&self, bytes: &[u8], exchanges: &Exchanges) -> Option<Option<u64>> {
        let number = named_by([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let sequence = self.sequence(number, exchanges);
        let is_known = sequence.is_some() || self.is_earlier(number, exchanges);
        let mut rest = bytes[4..].iter().enumerate();
        let is_whole = is_known && rest.all(|(at, byte)| *byte == pattern(number, at));
        is_whole.then_some(sequence)
    }

    /// What stands behind a whole echo, if it is not the next one.
    fn behind_echo(&mut self, bytes: &[u8], exchanges: &Exchanges, size: usize) -> Option<Step> {
        let mut echoes = bytes
            .windows(size)
            .map(|echo| self.whole_echo(echo, exchanges));
        let is_echo = bytes.len() >= size && echoes.next().flatten().is_some();
        if self.behind.is_open {
            if !is_echo && !echoes.any(|echo| echo.is_some()) && bytes.len() <= LONGEST_RULE {
                return Some(Step::Wait);
            }
            self.behind.is_open = false;
        }
        let rule = &self.behind.rule;
        if !self.behind.is_next || rule.is_empty() {
            return None;
        }
        if !is_echo && bytes.starts_with(rule) {
            let count = rule.len();
            self.behind.held += 1;
            self.behind.is_next = false;
            return Some(Step::Behind(count));
        }
        if !is_echo && rule.starts_with(bytes) {
            return Some(Step::Wait);
        }
        self.behind.is_broken();
        None
    }

    fn echo(&mut self, bytes: &[u8], exchanges: &Exchanges, size: usize) -> Step {
        if let Some(step) = self.behind_echo(bytes, exchanges, size) {
            return step;
        }
        if bytes.len() < size {
            return Step::Wait;
        }
        let whole = |at: usize| self.whole_echo(&bytes[at..at + size], exchanges);
        if let Some(sequence) = whole(0) {
            self.out_of_step = false;
            self.reported = 0;
            self.behind.is_next = true;
            return match sequence {
                Some(sequence) => found(size, sequence, Worth::Whole),
                None => Step::Stray(size),
            };
        }
        let last = bytes.len() - size;
        let next = (1..=last).find(|at| whole(*at).is_some());
        let foreign = next.unwrap_or(last + 1);
        if self.reported > 0 {
            // The next echo begins where it would have, unless one is found before.
            return Step::Stray(foreign.min(self.reported));
        }
        match exchanges.oldest_waiting() {
            Some(oldest) if !self.out_of_step => {
                self.reported = size + self.behind.rule.len();
                Step::Answer(Found {
                    skipped: 0,
                    bytes: size,
                    consumed: 0,
                    sequence: Some(oldest),
                    worth: Worth::Damaged,
                    ticks: (0, 0),
                })
            }
            _ => {
                self.out_of_step = true;
                Step::Stray(foreign)
            }
        }
    }

    fn short_echo(&self, bytes: &[u8], exchanges: &Exchanges, size: usize) -> Step {
        let Some(front) = bytes.get(..size) else {
            return Step::Wait;
        };
        let is_of = |sequence: &u64| {
            let number = (self.base + sequence).to_le_bytes();
            front.iter().zip(number).all(|(byte, of)| *byte == of)
        };
        if let Some(sequence) = exchanges.waiting().find(is_of) {
            return found(size, sequence, Worth::Whole);
        }
        // A datagram that came twice is likelier than a damaged one.
        let started = if self.datagram {
            exchanges.started()
        } else {
            0
        };
        let latest = || (0..started).rev().find(is_of);
        match (
            exchanges.oldest_missing().filter(is_of).or_else(latest),
            exchanges.oldest_waiting(),
        ) {
            (Some(late), _) => found(size, late, Worth::Whole),
            (None, Some(oldest)) => found(size, oldest, Worth::Damaged),
            (None, None) => Step::Stray(size),
        }
    }

    fn echo_datagram(&self, bytes: &[u8], exchanges: &Exchanges, size: usize) -> Step {
        if size < 4 && bytes.len() == size {
            return self.short_echo(bytes, exchanges, size);
        }
        let mut named = None;
        if size >= 4 && bytes.len() >= 4 {
            match self.whole_echo(bytes, exchanges) {
                Some(None) => return Step::Stray(bytes.len()),
                Some(Some(sequence)) if bytes.len() == size => {
                    return found(size, sequence, Worth::Whole);
                }
                _ => {}
            }
            let number = named_by([bytes[0], bytes[1], bytes[2], bytes[3]]);
            named = self.sequence(number, exchanges);
        }
        let waits = |sequence: &u64| exchanges.waiting().any(|waits| waits == *sequence);
        let only = (exchanges.waiting().count() == 1).then(|| exchanges.oldest_waiting());
        match named.filter(waits).or(only.flatten()) {
            Some(sequence) => found(bytes.len(), sequence, Worth::Damaged),
            None => Step::Stray(bytes.len()),
        }
    }

    // --- lines ---

    fn line(&self, bytes: &[u8], exchanges: &Exchanges) -> Step {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let is_cut = self.datagram || bytes.len() >= LONGEST_LINE;
        let Some(size) = end.map(|at| at + 1).or(is_cut.then_some(bytes.len())) else {
            return Step::Wait;
        };
        let oldest = exchanges.oldest_missing().or(exchanges.oldest_waiting());
        let is_right = end.is_some() && size == self.cell.in_bytes as usize;
        match oldest {
            None => Step::Stray(size),
            Some(oldest) if is_right => found(size, oldest, Worth::Whole),
            Some(oldest) => found(size, oldest, Worth::Damaged),
        }
    }

    // --- queries ---

    fn text(&self, bytes: &[u8], exchanges: &Exchanges) -> Step {
        let end = bytes.windows(END.len()).position(|two| two == END);
        let size = match (end, self.datagram) {
            (_, true) => bytes.len(),
            (Some(at), false) => at + END.len(),
            (None, false) if self.is_unasked(exchanges) && bytes.len() >= MOST_UNASKED => {
                bytes.len()
            }
            (None, false) => return Step::Wait,
        };
        let Some(oldest) = exchanges.oldest_missing().or(exchanges.oldest_waiting()) else {
            return Step::Stray(size);
        };
        match bytes[..size].starts_with(b"a") {
            true => found(size, oldest, Worth::Whole),
            false => found(size, oldest, Worth::Unexpected),
        }
    }

    /// True if no answer is awaited.
    fn is_unasked(&self, exchanges: &Exchanges) -> bool {
        exchanges.outstanding() == 0 && exchanges.missing() == 0
    }

    fn until_silence(&self, bytes: &[u8], exchanges: &Exchanges) -> Step {
        let is_long = self.is_unasked(exchanges) && bytes.len() >= MOST_UNASKED;
        match exchanges.oldest_missing().or(exchanges.oldest_waiting()) {
            _ if !self.is_silent && !self.datagram && !is_long => Step::Wait,
            None => Step::Stray(bytes.len()),
            Some(oldest) => found(bytes.len(), oldest, Worth::Whole),
        }
    }

    /// Unit, function and what follows, as a reply to the request `sequence`.
    fn worth_of(&self, reply: &[u8]) -> Worth {
        let asked = self.cell.in_bytes as usize
            - if self.protocol == Protocols::Tcp {
                6
            } else {
                2
            };
        let is_read = reply[..2] == [1, 3] && reply.len() == asked;
        match is_read {
            true => Worth::Whole,
            false => Worth::Unexpected,
        }
    }

    fn modbus_tcp(&self, bytes: &[u8], exchanges: &Exchanges) -> Step {
        let noise = if self.datagram { bytes.len() } else { 1 };
        let may_begin = bytes.iter().skip(2).take(3).all(|byte| *byte == 0);
        if !may_begin || (bytes.len() >= 6 && bytes[5] < 3) || (self.datagram && bytes.len() < 6) {
            return Step::Stray(noise);
        }
        if bytes.len() < 6 {
            return Step::Wait;
        }
        let end = 6 + usize::from(bytes[5]);
        if !self.datagram && bytes.len() < end {
            return Step::Wait;
        }
        let number = u64::from(u16::from_be_bytes([bytes[0], bytes[1]]));
        let is_of = |sequence: &u64| (self.base + sequence) % 65_536 == number;
        let sequence = (0..exchanges.started()).find(is_of);
        let is_whole = !self.datagram || bytes.len() == end;
        let size = if self.datagram { bytes.len() } else { end };
        Step::Answer(Found {
            skipped: 0,
            bytes: size,
            consumed: size,
            sequence,
            worth: match sequence {
                _ if !is_whole => Worth::Damaged,
                Some(_) => self.worth_of(&bytes[6..end]),
                None => Worth::Whole,
            },
            ticks: (0, 0),
        })
    }

    fn modbus_rtu(&self, bytes: &[u8], exchanges: &Exchanges) -> Step {
        let Some(oldest) = exchanges.oldest_missing().or(exchanges.oldest_waiting()) else {
            return Step::Stray(bytes.len());
        };
        let Some(function) = bytes.get(1) else {
            return Step::Wait;
        };
        // What it says of itself, and what was asked for; each with its CRC.
        let stated = match function {
            1..=4 | 23 => Some(5 + bytes.get(2).map_or(0, |count| usize::from(*count))),
            5 | 6 | 15 | 16 => Some(8),
            22 => Some(10),
            128.. => Some(5),
            _ => None,
        };
        let asked = (*function == 3).then_some(self.cell.in_bytes as usize);
        let is_whole = |size: &usize| {
            let reply = bytes.get(..*size);
            reply.is_some_and(|reply| check(&reply[..size - 2]) == reply[size - 2..])
        };
        let Some(size) = stated.filter(is_whole).or(asked).or(stated) else {
            return found(bytes.len(), oldest, Worth::Damaged);
        };
        let Some(reply) = bytes.get(..size) else {
            return Step::Wait;
        };
        match check(&reply[..size - 2]) == reply[size - 2..] {
            true => found(size, oldest, self.worth_of(&reply[..size - 2])),
            false => found(bytes.len(), oldest, Worth::Damaged),
        }
    }

    // --- EXCHANGE ---

    fn frame(&self, bytes: &[u8], exchanges: &Exchanges) -> Step {
        let asked = self.cell.in_bytes as usize;
        // HELLO has 104 bytes.
        let largest = asked.max(104);
        let begin = (0..bytes.len()).find_map(|at| Some((at, header(&bytes[at..], largest)?)));
        let Some((begin, header)) = begin else {
            // The last bytes may be the beginning of a header.
            let open = if self.datagram { 0 } else { HEADER - 1 };
            return match bytes.len().saturating_sub(open) {
                0 => Step::Wait,
                stray => Step::Stray(stray),
            };
        };
        let (mut end, intact) = match end_of(&bytes[begin..], &header, largest) {
            Some((size, intact)) => (begin + size, intact),
            None if self.datagram => (bytes.len(), false),
            None => return Step::Wait,
        };
        if header.kind != 1 {
            return Step::Stray(end);
        }
        if self.datagram {
            end = bytes.len();
        }
        let whole = intact && end - begin == asked && HEADER + header.payload == asked;
        Step::Answer(Found {
            skipped: begin,
            bytes: end - begin,
            consumed: end,
            sequence: self.sequence(header.number, exchanges),
            worth: match header.status {
                0 if !whole => Worth::Damaged,
                0 if header.flags & 1 != 0 => Worth::RequestDamaged,
                0 => Worth::Whole,
                status => Worth::Refused(status),
            },
            ticks: (header.rx_ticks, header.tx_ticks),
        })
    }
}

/// Where the frame with this header ends, and whether it is intact; `None` if that is open.
pub fn end_of(frame: &[u8], of: &Header, largest: usize) -> Option<(usize, bool)> {
    let end = HEADER + of.payload;
    let come = end.min(frame.len());
    let is_whole = come == end;
    let has_pattern = of.kind == 1;
    let is_right = |at: usize| frame[at] == pattern(of.number, at - HEADER);
    let first = match of.kind {
        1 => match (HEADER..come).find(|at| !is_right(*at)) {
            Some(wrong) => HEADER.max(wrong - 1),
            None => return is_whole.then_some((end, true)),
        },
        4 if of.payload > 0 => {
            let payload = is_whole.then(|| &frame[HEADER..end])?;
            let said = payload.len().saturating_sub(2);
            if crc_is(&payload[..said], &payload[said..]) {
                return Some((end, true));
            }
            HEADER
        }
        _ => HEADER,
    };
    for at in first..come {
        // A payload without pattern may end with bytes that look like the beginning of a header.
        if !has_pattern && of.kind != 4 && at + HEADER > end {
            break;
        }
        if has_pattern && (at..come).all(is_right) {
            break;
        }
        let rest = &frame[at..];
        if header(rest, largest).is_some() {
            return Some((at, false));
        }
        let may_begin =
            rest[0] == 0x7A && rest.get(1).is_none_or(|byte| (0x10..=0x14).contains(byte));
        if rest.len() < HEADER && may_begin {
            return None;
        }
    }
    is_whole.then_some((end, !has_pattern && of.kind != 4))
}

fn crc_is(said: &[u8], check: &[u8]) -> bool {
    super::bytes::crc(said.iter().copied()).to_le_bytes() == check
}
