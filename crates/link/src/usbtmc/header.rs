//! Headers of USBTMC bulk transfers (USBTMC 1.0, section 3), in both directions, without I/O.
//!
//! ```text
//!   0      1     2      3  4              8           9         10     12
//!  +------+-----+------+--+--------------+-----------+---------+------+-----------------+---------+
//!  |MsgID |bTag |~bTag |0 | TransferSize | attributes| TermChar| 0  0 | TransferSize B  | 0..3 B  |
//!  +------+-----+------+--+--------------+-----------+---------+------+-----------------+---------+
//! ```
//!
//! A message goes out in transfers of DEV_DEP_MSG_OUT. A reply comes only when it is asked for: each
//! REQUEST_DEV_DEP_MSG_IN (a header alone, on bulk OUT) is answered with one transfer on bulk IN, whose header has the
//! request's tag. The last transfer of a message or reply has the attribute EOM.

use std::fmt;

/// Bytes of a header.
pub const HEADER: usize = 12;

/// MsgID, table 2; the request and its answer have the same one.
const DEV_DEP_MSG_OUT: u8 = 1;
const DEV_DEP_MSG_IN: u8 = 2;
/// USB488 1.0, table 1.
const TRIGGER: u8 = 128;

/// bmTransferAttributes: the end of a message; in a request, that TermChar ends the transfer.
const EOM: u8 = 1;
const TERM_CHAR: u8 = 2;

/// Tags of transfers: 1 to 255, in turn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tags(u8);

impl Tags {
    /// The next one.
    pub fn advance(&mut self) -> u8 {
        self.0 = self.0 % 255 + 1;
        self.0
    }
}

/// What a transfer to the instrument begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToInstrument {
    /// Bytes of a message follow.
    Message {
        /// Of the transfer.
        tag: u8,
        /// Bytes of the message in this transfer.
        bytes: u32,
        /// They are its last ones.
        end: bool,
    },
    /// A reply is asked for.
    Request {
        /// Of the transfer, and of the one that answers it.
        tag: u8,
        /// Bytes of a reply at most.
        bytes: u32,
        /// The byte that ends the transfer, if one shall.
        until: Option<u8>,
    },
    /// The trigger of USB488.
    Trigger {
        /// Of the transfer.
        tag: u8,
    },
}

/// What a transfer from the instrument begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FromInstrument {
    /// Tag of the request.
    pub tag: u8,
    /// Bytes of the reply in this transfer.
    pub bytes: u32,
    /// They are its last ones.
    pub end: bool,
}

/// Why received bytes are no header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// Fewer bytes than a header has.
    Short(usize),
    /// A MsgID that is none in this direction.
    MsgId(u8),
    /// The third byte is not the complement of the tag.
    Inverse(u8, u8),
    /// A tag of 0.
    NoTag,
    /// A transfer of no bytes.
    Empty,
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            HeaderError::Short(bytes) => write!(f, "{bytes} B instead of a header of {HEADER} B"),
            HeaderError::MsgId(found) => write!(f, "MsgID {found} is unknown in this direction"),
            HeaderError::Inverse(tag, inverse) => write!(
                f,
                "bTagInverse is 0x{inverse:02x}, not the complement of bTag 0x{tag:02x}"
            ),
            HeaderError::NoTag => f.write_str("bTag is 0"),
            HeaderError::Empty => f.write_str("TransferSize is 0"),
        }
    }
}

/// Zeros behind so many bytes of a transfer, which make its length a multiple of four.
pub fn padding(bytes: usize) -> usize {
    bytes.wrapping_neg() % 4
}

impl ToInstrument {
    /// The header.
    pub fn encode(self) -> [u8; HEADER] {
        match self {
            ToInstrument::Message { tag, bytes, end } => {
                header(DEV_DEP_MSG_OUT, tag, bytes, (u8::from(end) * EOM, 0))
            }
            ToInstrument::Request { tag, bytes, until } => {
                let attributes = until.map_or((0, 0), |byte| (TERM_CHAR, byte));
                header(DEV_DEP_MSG_IN, tag, bytes, attributes)
            }
            ToInstrument::Trigger { tag } => header(TRIGGER, tag, 0, (0, 0)),
        }
    }

    /// Reads the header at the beginning of a transfer.
    pub fn decode(transfer: &[u8]) -> Result<ToInstrument, HeaderError> {
        let Fields {
            id,
            tag,
            bytes,
            attributes,
            term_char,
        } = fields(transfer)?;
        match id {
            TRIGGER => Ok(ToInstrument::Trigger { tag }),
            DEV_DEP_MSG_OUT | DEV_DEP_MSG_IN if bytes == 0 => Err(HeaderError::Empty),
            DEV_DEP_MSG_OUT => Ok(ToInstrument::Message {
                tag,
                bytes,
                end: attributes & EOM != 0,
            }),
            DEV_DEP_MSG_IN => Ok(ToInstrument::Request {
                tag,
                bytes,
                until: (attributes & TERM_CHAR != 0).then_some(term_char),
            }),
            other => Err(HeaderError::MsgId(other)),
        }
    }
}

impl FromInstrument {
    /// The header.
    pub fn encode(self) -> [u8; HEADER] {
        let attributes = (u8::from(self.end) * EOM, 0);
        header(DEV_DEP_MSG_IN, self.tag, self.bytes, attributes)
    }

    /// Reads the header at the beginning of a transfer.
    pub fn decode(transfer: &[u8]) -> Result<FromInstrument, HeaderError> {
        let fields = fields(transfer)?;
        match fields.id {
            DEV_DEP_MSG_IN => Ok(FromInstrument {
                tag: fields.tag,
                bytes: fields.bytes,
                end: fields.attributes & EOM != 0,
            }),
            other => Err(HeaderError::MsgId(other)),
        }
    }
}

fn header(id: u8, tag: u8, bytes: u32, (attributes, term_char): (u8, u8)) -> [u8; HEADER] {
    let [a, b, c, d] = bytes.to_le_bytes();
    [id, tag, !tag, 0, a, b, c, d, attributes, term_char, 0, 0]
}

struct Fields {
    id: u8,
    tag: u8,
    bytes: u32,
    attributes: u8,
    term_char: u8,
}

fn fields(transfer: &[u8]) -> Result<Fields, HeaderError> {
    let [
        id,
        tag,
        inverse,
        _,
        a,
        b,
        c,
        d,
        attributes,
        term_char,
        _,
        _,
        ..,
    ] = *transfer
    else {
        return Err(HeaderError::Short(transfer.len()));
    };
    if inverse != !tag {
        return Err(HeaderError::Inverse(tag, inverse));
    }
    if tag == 0 {
        return Err(HeaderError::NoTag);
    }
    Ok(Fields {
        id,
        tag,
        bytes: u32::from_le_bytes([a, b, c, d]),
        attributes,
        term_char,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_those_of_the_specification() {
        // USBTMC 1.0, tables 3 and 4: *IDN? with a newline, and a request for its reply.
        let message = ToInstrument::Message {
            tag: 1,
            bytes: 6,
            end: true,
        };
        assert_eq!(message.encode(), [1, 1, 0xfe, 0, 6, 0, 0, 0, 1, 0, 0, 0]);
        let request = ToInstrument::Request {
            tag: 2,
            bytes: 0x0102_0304,
            until: Some(b'\n'),
        };
        assert_eq!(request.encode(), [2, 2, 0xfd, 0, 4, 3, 2, 1, 2, 10, 0, 0]);
        let reply = FromInstrument {
            tag: 255,
            bytes: 1,
            end: false,
        };
        assert_eq!(reply.encode(), [2, 255, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        for message in [
            ToInstrument::Message {
                tag: 7,
                bytes: u32::MAX,
                end: false,
            },
            ToInstrument::Request {
                tag: 200,
                bytes: 1,
                until: None,
            },
            ToInstrument::Request {
                tag: 1,
                bytes: 9,
                until: Some(0),
            },
            ToInstrument::Trigger { tag: 3 },
        ] {
            assert_eq!(ToInstrument::decode(&message.encode()), Ok(message));
        }
        let reply = FromInstrument {
            tag: 9,
            bytes: 1000,
            end: true,
        };
        assert_eq!(FromInstrument::decode(&reply.encode()), Ok(reply));
    }

    #[test]
    fn what_is_no_header_is_refused_with_the_reason() {
        let good = FromInstrument {
            tag: 9,
            bytes: 4,
            end: true,
        }
        .encode();
        let broken = |at: usize, value: u8| {
            let mut bytes = good;
            bytes[at] = value;
            FromInstrument::decode(&bytes)
        };
        assert_eq!(broken(0, 1), Err(HeaderError::MsgId(1)));
        assert_eq!(broken(2, 9), Err(HeaderError::Inverse(9, 9)));
        let found = FromInstrument::decode(&good[..11]);
        assert_eq!(found, Err(HeaderError::Short(11)));
        let found = FromInstrument::decode(&[2, 0, 0xff, 0, 1, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(found, Err(HeaderError::NoTag));
        let found = ToInstrument::decode(&[1, 1, 0xfe, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(found, Err(HeaderError::Empty));
        let found = ToInstrument::decode(&[126, 1, 0xfe, 0, 1, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(found, Err(HeaderError::MsgId(126)));
    }

    #[test]
    fn tags_go_from_1_to_255_and_begin_again() {
        let mut tags = Tags::default();
        let all: Vec<u8> = (0..256).map(|_| tags.advance()).collect();
        assert_eq!((all[0], all[254], all[255]), (1, 255, 1));
    }

    #[test]
    fn padding_makes_a_multiple_of_four() {
        assert_eq!([12, 13, 14, 15, 16].map(padding), [0, 3, 2, 1, 0]);
    }
}
