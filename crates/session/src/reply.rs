//! Where the reply of a device ends that knows nothing of wiregauge.

use crate::framing::Malformed;
use memchr::memmem::Finder;
use wiregauge_record::{ModbusLine, ReplyEnd, ReplyLength};

/// Longer replies are not taken. Block data of an instrument may be a whole waveform.
const LONGEST: usize = 1 << 20;
const LONGEST_BLOCK: usize = 16 << 20;

/// Why only one request may be outstanding where replies end so, if that is so.
pub fn only_one_at_a_time(end: &ReplyEnd, datagram: bool) -> Option<&'static str> {
    match end {
        ReplyEnd::Scpi => Some(
            "IEEE 488.2 requires that a reply is read before the next query (error -410, Query INTERRUPTED)",
        ),
        ReplyEnd::Modbus(ModbusLine::Rtu { .. }) => {
            Some("Modbus on a serial line allows one request at a time")
        }
        ReplyEnd::Modbus(ModbusLine::Tcp) => None,
        ReplyEnd::IdleNs(_) => Some("silence cannot separate the replies to several requests"),
        _ if datagram => {
            Some("datagrams may change their order, and text does not say which query it answers")
        }
        _ => None,
    }
}

/// Finds the end of replies in received bytes.
#[derive(Debug)]
pub struct ReplyReader {
    end: End,
    /// Each reply is one datagram.
    datagram: bool,
    /// Bytes at the front that were looked at.
    seen: usize,
}

#[derive(Debug)]
enum End {
    Until(Box<Finder<'static>>),
    Bytes(usize),
    Length(ReplyLength),
    Idle(u64),
    Scpi(Element),
}

/// What received bytes begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The beginning of a reply.
    More,
    /// A reply of this many bytes, of which so many are the end that the protocol adds.
    Whole(usize, usize),
    /// A datagram that is no whole reply.
    Cut(usize),
    /// No reply; where the next one begins is unknown.
    Malformed(Malformed),
}

/// Where in a reply of IEEE 488.2 its last byte lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Element {
    /// At the beginning of a response, or of one of several.
    #[default]
    Begin,
    /// In data that a newline ends.
    Inside,
    /// In a string with this quotation mark.
    Quoted(u8),
}

impl ReplyReader {
    /// For replies that end so. Modbus has a codec of its own.
    pub fn new(end: &ReplyEnd, datagram: bool) -> Result<ReplyReader, String> {
        let end = match end {
            ReplyEnd::Until(mark) if mark.is_empty() => {
                return Err("an empty end of a reply is not valid".into());
            }
            ReplyEnd::Until(mark) => End::Until(Box::new(Finder::new(mark).into_owned())),
            ReplyEnd::Bytes(bytes) if (1..=LONGEST as u32).contains(bytes) => {
                End::Bytes(*bytes as usize)
            }
            ReplyEnd::Bytes(bytes) => {
                return Err(format!(
                    "replies of {bytes} bytes are not valid: 1 to {LONGEST}"
                ));
            }
            ReplyEnd::Length(field) if [1, 2, 4].contains(&field.bytes) => End::Length(*field),
            ReplyEnd::Length(field) => {
                return Err(format!(
                    "a length field has 1, 2 or 4 bytes, not {}",
                    field.bytes
                ));
            }
            ReplyEnd::IdleNs(0) => return Err("a silence of 0 s is not valid".into()),
            ReplyEnd::IdleNs(ns) => End::Idle(*ns),
            ReplyEnd::Scpi => End::Scpi(Element::Begin),
            ReplyEnd::Modbus(_) => return Err("Modbus has a codec of its own".into()),
        };
        Ok(ReplyReader {
            end,
            datagram,
            seen: 0,
        })
    }

    /// The silence that ends a reply, if it is that.
    pub fn idle_ns(&self) -> Option<u64> {
        match self.end {
            End::Idle(ns) if !self.datagram => Some(ns),
            _ => None,
        }
    }

    /// Bytes of a reply at most.
    pub fn longest(&self) -> usize {
        match self.end {
            End::Scpi(_) => LONGEST_BLOCK,
            _ => LONGEST,
        }
    }

    /// What the bytes begin with. After [`Reply::More`] it is asked again with the same bytes and more; after
    /// anything else with those that follow.
    pub fn next(&mut self, bytes: &[u8]) -> Reply {
        let reply = match self.datagram {
            true => self.of_datagram(bytes),
            false => self.of_stream(bytes),
        };
        if reply != Reply::More {
            self.restart();
        } else if bytes.len() >= self.longest() {
            self.restart();
            return Reply::Malformed(Malformed::NoEnd {
                limit: self.longest(),
            });
        }
        reply
    }

    /// The bytes before are gone, whatever they were.
    pub fn restart(&mut self) {
        self.seen = 0;
        if let End::Scpi(element) = &mut self.end {
            *element = Element::Begin;
        }
    }

    fn of_stream(&mut self, bytes: &[u8]) -> Reply {
        match &mut self.end {
            End::Until(mark) => {
                // It may have begun in the last bytes that were looked at.
                let size = mark.needle().len();
                let from = self.seen.saturating_sub(size - 1).min(bytes.len());
                self.seen = bytes.len();
                match mark.find(&bytes[from..]) {
                    Some(at) => Reply::Whole(from + at + size, size),
                    None => Reply::More,
                }
            }
            End::Bytes(size) => match bytes.len() < *size {
                true => Reply::More,
                false => Reply::Whole(*size, 0),
            },
            End::Length(field) => by_length(*field, bytes),
            End::Idle(_) => Reply::More,
            End::Scpi(element) => scpi(element, &mut self.seen, bytes),
        }
    }

    /// A datagram is a reply, and has no continuation.
    fn of_datagram(&mut self, bytes: &[u8]) -> Reply {
        let all = bytes.len();
        match &self.end {
            End::Until(mark) if bytes.ends_with(mark.needle()) => {
                Reply::Whole(all, mark.needle().len())
            }
            End::Until(_) | End::Idle(_) => Reply::Whole(all, 0),
            End::Scpi(_) => Reply::Whole(all, usize::from(bytes.ends_with(b"\n"))),
            End::Bytes(size) if *size == all => Reply::Whole(all, 0),
            End::Length(field) if by_length(*field, bytes) == Reply::Whole(all, 0) => {
                Reply::Whole(all, 0)
            }
            End::Bytes(_) | End::Length(_) => Reply::Cut(all),
        }
    }
}

fn by_length(field: ReplyLength, bytes: &[u8]) -> Reply {
    let (begin, size) = (field.offset as usize, usize::from(field.bytes));
    let Some(digits) = bytes.get(begin..begin + size) else {
        return Reply::More;
    };
    let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
    let value = match field.big_endian {
        true => digits.iter().fold(0, add),
        false => digits.iter().rev().fold(0, add),
    };
    let counted = value as i64 + i64::from(field.added);
    let all = (begin + size) as i64 + counted;
    if counted < -((begin + size) as i64) + 1 {
        return Reply::Malformed(Malformed::TooShort { announced: value });
    }
    if all > LONGEST as i64 {
        return Reply::Malformed(Malformed::TooLong {
            announced: value,
            limit: LONGEST,
        });
    }
    // The field itself is part of the reply.
    let all = (all as usize).max(begin + size);
    match bytes.len() < all {
        true => Reply::More,
        false => Reply::Whole(all, 0),
    }
}

/// IEEE 488.2, 8.7: a response ends with a newline; strings and block data may contain one.
fn scpi(element: &mut Element, seen: &mut usize, bytes: &[u8]) -> Reply {
    while let Some(&byte) = bytes.get(*seen) {
        *element = match (*element, byte) {
            (Element::Quoted(mark), byte) if byte == mark => Element::Inside,
            (Element::Quoted(mark), _) => Element::Quoted(mark),
            (_, b'\n') => return Reply::Whole(*seen + 1, 1),
            (Element::Begin, b'#') => match block(&bytes[*seen..]) {
                Block::Incomplete => return Reply::More,
                Block::TooLong(announced) => {
                    return Reply::Malformed(Malformed::TooLong {
                        announced,
                        limit: LONGEST_BLOCK,
                    });
                }
                Block::Whole(size) => {
                    *seen += size;
                    *element = Element::Inside;
                    continue;
                }
                Block::None => Element::Inside,
            },
            (_, b',' | b';') => Element::Begin,
            (Element::Begin, b' ') => Element::Begin,
            (_, mark @ (b'"' | b'\'')) => Element::Quoted(mark),
            _ => Element::Inside,
        };
        *seen += 1;
    }
    Reply::More
}

enum Block {
    /// Not all of it has come.
    Incomplete,
    /// Block data of a definite length; where it ends.
    Whole(usize),
    /// It announces more bytes than are taken.
    TooLong(u64),
    /// No block, or one of indefinite length, which a newline ends.
    None,
}

/// `#`, a digit that says how many digits follow, those digits, and as many bytes as they say.
fn block(bytes: &[u8]) -> Block {
    let digits = match bytes.get(1) {
        None => return Block::Incomplete,
        Some(digit @ b'1'..=b'9') => usize::from(digit - b'0'),
        Some(_) => return Block::None,
    };
    let given = &bytes[2..bytes.len().min(2 + digits)];
    if !given.iter().all(u8::is_ascii_digit) {
        return Block::None;
    }
    if given.len() < digits {
        return Block::Incomplete;
    }
    let size = given
        .iter()
        .fold(0, |size, digit| size * 10 + u64::from(digit - b'0'));
    if size > LONGEST_BLOCK as u64 {
        return Block::TooLong(size);
    }
    let all = 2 + digits + size as usize;
    match bytes.len() < all {
        true => Block::Incomplete,
        false => Block::Whole(all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reader(end: ReplyEnd) -> ReplyReader {
        ReplyReader::new(&end, false).unwrap()
    }

    fn length(bytes: u8, big_endian: bool, offset: u32, added: i32) -> ReplyEnd {
        ReplyEnd::Length(ReplyLength {
            bytes,
            big_endian,
            offset,
            added,
        })
    }

    /// What replies come out of bytes that arrive in pieces of this size.
    fn replies(end: ReplyEnd, bytes: &[u8], piece: usize) -> Vec<Vec<u8>> {
        let mut reader = reader(end);
        let (mut begin, mut found) = (0, Vec::new());
        for come in (piece..=bytes.len() + piece).step_by(piece) {
            let come = come.min(bytes.len());
            while begin < come {
                match reader.next(&bytes[begin..come]) {
                    Reply::Whole(size, _) => {
                        found.push(bytes[begin..begin + size].to_vec());
                        begin += size;
                    }
                    _ => break,
                }
            }
        }
        found
    }

    #[test]
    fn a_newline_in_block_data_or_in_a_string_does_not_end_a_reply_of_an_instrument() {
        let cases: [&[u8]; 7] = [
            b"plain\n",
            b"#15a\nb\nc\n",
            b"1.5,#214............\n\n;\"a\nb\",'\"\n'\n",
            b"#0 indefinite\n",
            b"#9000000003\n\n\n\n",
            b"5#13 is no block\n",
            b"\"he said \"\"x\ny\"\"\"\n",
        ];
        for piece in 1..8 {
            for case in cases {
                let twice = [case, case].concat();
                let found = replies(ReplyEnd::Scpi, &twice, piece);
                assert_eq!(found, [case, case], "{piece}");
            }
        }
    }

    #[test]
    fn a_length_field_counts_what_it_is_told_to_count() {
        for (end, reply) in [
            (length(2, true, 2, 4), &b"ab\x00\x03xyzcrc4"[..]),
            (length(1, false, 0, 0), b"\x02ab"),
            (length(1, false, 0, -1), b"\x03ab"),
            (length(4, false, 1, 0), b"s\x01\x00\x00\x00x"),
        ] {
            for piece in 1..5 {
                let twice = [reply, reply].concat();
                assert_eq!(replies(end.clone(), &twice, piece), [reply, reply]);
            }
        }
        let too_long = reader(length(4, true, 0, 0)).next(b"\xff\xff\xff\xff");
        assert!(matches!(
            too_long,
            Reply::Malformed(Malformed::TooLong { .. })
        ));
        let too_short = reader(length(1, true, 0, -9)).next(b"\x01");
        assert!(matches!(
            too_short,
            Reply::Malformed(Malformed::TooShort { .. })
        ));
    }

    #[test]
    fn a_reply_without_end_is_malformed() {
        let endless = vec![b'x'; LONGEST];
        let found = reader(ReplyEnd::Until(b"\r\n".to_vec())).next(&endless);
        assert_eq!(found, Reply::Malformed(Malformed::NoEnd { limit: LONGEST }));
        let found = reader(ReplyEnd::Scpi).next(b"#9999999999");
        assert!(matches!(found, Reply::Malformed(Malformed::TooLong { .. })));
    }

    #[test]
    fn a_datagram_is_a_reply_of_its_own() {
        let next = |end: ReplyEnd, bytes: &[u8]| ReplyReader::new(&end, true).unwrap().next(bytes);
        let found = next(ReplyEnd::Until(b"\n".to_vec()), b"a\n");
        assert_eq!(found, Reply::Whole(2, 1));
        let found = next(ReplyEnd::Until(b"\n".to_vec()), b"a");
        assert_eq!(found, Reply::Whole(1, 0));
        assert_eq!(next(ReplyEnd::Bytes(3), b"ab"), Reply::Cut(2));
        assert_eq!(next(length(1, true, 0, 0), b"\x02abc"), Reply::Cut(4));
    }

    proptest! {
        /// However bytes are cut into pieces, the same replies come out.
        #[test]
        fn the_pieces_in_which_bytes_come_do_not_matter(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'#'), Just(b'"'), Just(b','), b'0'..=b'9'], 0..200),
            piece in 1_usize..20,
        ) {
            for end in [ReplyEnd::Scpi, ReplyEnd::Until(b"\n#".to_vec()), length(1, true, 1, -30)] {
                prop_assert_eq!(replies(end.clone(), &bytes, piece), replies(end, &bytes, 1000));
            }
        }
    }
}
