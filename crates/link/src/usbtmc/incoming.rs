//! A reply as it comes in on bulk IN: transfers with a header each, cut into pieces by the buffers that take them.
//! Without I/O.

use super::header::{FromInstrument, HEADER, HeaderError};
use std::fmt;
use std::ops::Range;

/// What is still to come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Nothing was asked for.
    #[default]
    Idle,
    /// The transfer that answers a request of this tag, for so many bytes at most.
    Header { tag: u8, bytes: u32 },
    /// So many bytes of it; then the reply is over, or another request is due.
    Payload { left: u32, end: bool },
}

/// The reader of replies.
#[derive(Clone, Copy, Debug, Default)]
pub struct Incoming {
    state: State,
}

/// What a piece of a transfer was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// These bytes of it are the reply's; the transfer goes on.
    More(Range<usize>),
    /// The same; the transfer is over, and with `true` the reply too.
    Last(Range<usize>, bool),
    /// An empty packet that ended the transfer before.
    Nothing,
}

/// Why a piece cannot be part of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyError {
    /// Nothing was asked for.
    Unasked,
    /// It does not begin with a header.
    Header(HeaderError),
    /// The tag is not that of the request.
    Tag {
        /// Of the request.
        asked: u8,
        /// Of the reply.
        found: u8,
    },
    /// More bytes are announced than were asked for.
    TooMany {
        /// In the request.
        asked: u32,
        /// In the reply.
        announced: u32,
    },
    /// The transfer ended before all bytes that it announced had come.
    CutShort {
        /// Bytes missing.
        missing: u32,
    },
}

impl fmt::Display for ReplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the instrument broke the USBTMC protocol: ")?;
        match *self {
            ReplyError::Unasked => f.write_str("it sent what was not requested"),
            ReplyError::Header(error) => write!(f, "in the header of a reply, {error}"),
            ReplyError::Tag { asked, found } => {
                write!(f, "a reply has bTag {found}, its request had {asked}")
            }
            ReplyError::TooMany { asked, announced } => {
                write!(f, "{announced} B announced, {asked} B requested")
            }
            ReplyError::CutShort { missing } => {
                write!(f, "a reply ended {missing} B before the size in its header")
            }
        }
    }
}

impl Incoming {
    /// A request was sent.
    pub fn asked(&mut self, tag: u8, bytes: u32) {
        self.state = State::Header { tag, bytes };
    }

    /// What was asked for will not come.
    pub fn give_up(&mut self) {
        self.state = State::Idle;
    }

    /// The tag of the request whose transfer has not begun.
    pub fn waits_for(&self) -> Option<u8> {
        match self.state {
            State::Header { tag, .. } => Some(tag),
            _ => None,
        }
    }

    /// Bytes of the transfer that have not come, once its header has.
    pub fn left(&self) -> u32 {
        match self.state {
            State::Payload { left, .. } => left,
            _ => 0,
        }
    }

    /// Takes what one buffer received; `is_short` if it was not filled, so that the transfer is over.
    pub fn take(&mut self, bytes: &[u8], is_short: bool) -> Result<Piece, ReplyError> {
        let state = std::mem::take(&mut self.state);
        let (from, left, end) = match state {
            _ if bytes.is_empty() && !matches!(state, State::Payload { .. }) => {
                self.state = state;
                return Ok(Piece::Nothing);
            }
            State::Idle => return Err(ReplyError::Unasked),
            State::Header { tag, bytes: asked } => {
                let header = FromInstrument::decode(bytes).map_err(ReplyError::Header)?;
                if header.tag != tag {
                    let found = header.tag;
                    return Err(ReplyError::Tag { asked: tag, found });
                }
                if header.bytes > asked {
                    let announced = header.bytes;
                    return Err(ReplyError::TooMany { asked, announced });
                }
                (HEADER, header.bytes, header.end)
            }
            State::Payload { left, end } => (0, left, end),
        };
        // What is behind it in the buffer makes the length of the transfer a multiple of four.
        let there = bytes.len() - from;
        let count = there.min(left as usize);
        let left = left - count as u32;
        let payload = from..from + count;
        if left == 0 {
            return Ok(Piece::Last(payload, end));
        }
        if is_short {
            return Err(ReplyError::CutShort { missing: left });
        }
        self.state = State::Payload { left, end };
        Ok(Piece::More(payload))
    }
}

#[cfg(test)]
mod tests {
    use super::super::header::padding;
    use super::*;

    fn transfer(tag: u8, payload: &[u8], end: bool) -> Vec<u8> {
        let bytes = payload.len() as u32;
        let mut all = FromInstrument { tag, bytes, end }.encode().to_vec();
        all.extend_from_slice(payload);
        all.resize(all.len() + padding(all.len()), 0);
        all
    }

    #[test]
    fn a_reply_in_one_transfer_is_its_payload_without_padding() {
        let mut incoming = Incoming::default();
        incoming.asked(3, 100);
        let bytes = transfer(3, b"hello", true);
        assert_eq!(bytes.len(), 20);
        assert_eq!(incoming.take(&bytes, true), Ok(Piece::Last(12..17, true)));
        assert_eq!(incoming.waits_for(), None);
    }

    #[test]
    fn a_transfer_is_read_across_buffers_and_a_reply_across_transfers() {
        let payload: Vec<u8> = (0..=255).cycle().take(1000).collect();
        for size in [64, 512] {
            let mut incoming = Incoming::default();
            let mut read = Vec::new();
            for (tag, part) in [(1, &payload[..600]), (2, &payload[600..])] {
                incoming.asked(tag, 600);
                let bytes = transfer(tag, part, tag == 2);
                for piece in bytes.chunks(size) {
                    let taken = incoming.take(piece, piece.len() < size).unwrap();
                    let (range, over) = match taken {
                        Piece::More(range) => (range, None),
                        Piece::Last(range, end) => (range, Some(end)),
                        Piece::Nothing => panic!("the piece was not empty"),
                    };
                    read.extend_from_slice(&piece[range]);
                    assert_eq!(over, (incoming.left() == 0).then_some(tag == 2));
                }
            }
            assert_eq!(read, payload);
        }
    }

    #[test]
    fn the_empty_packet_behind_a_full_one_is_no_reply() {
        let mut incoming = Incoming::default();
        assert_eq!(incoming.take(&[], true), Ok(Piece::Nothing));
        incoming.asked(1, 10);
        assert_eq!(incoming.take(&[], true), Ok(Piece::Nothing));
        assert_eq!(incoming.waits_for(), Some(1));
    }

    #[test]
    fn an_instrument_that_breaks_the_protocol_is_told_so() {
        let take = |tag, asked, bytes: &[u8]| {
            let mut incoming = Incoming::default();
            incoming.asked(tag, asked);
            incoming.take(bytes, true).unwrap_err()
        };
        let bytes = transfer(3, b"hello", true);
        assert_eq!(take(4, 100, &bytes), ReplyError::Tag { asked: 4, found: 3 });
        assert_eq!(
            take(3, 4, &bytes),
            ReplyError::TooMany {
                asked: 4,
                announced: 5
            }
        );
        let told = take(3, 100, &bytes[..14]);
        assert_eq!(told, ReplyError::CutShort { missing: 3 });
        let told = take(3, 100, b"no header");
        assert_eq!(told, ReplyError::Header(HeaderError::Short(9)));
        let unasked = Incoming::default().take(&bytes, true).unwrap_err();
        assert!(unasked.to_string().contains("not requested"), "{unasked}");
    }
}
