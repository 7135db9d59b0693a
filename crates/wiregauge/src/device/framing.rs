//! How messages are told apart on a link whose device knows nothing of wiregauge.

/// How a message begins and ends. Over datagrams each message is one datagram, whatever the framing adds to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Nothing is added: a reply is as long as its caller says.
    Raw,
    /// Every reply is so many bytes long.
    Fixed {
        /// Bytes of a reply.
        bytes: usize,
    },
    /// Each message ends with these bytes, which are added to requests and taken off replies (SCPI: `\n`).
    Terminator {
        /// The end of a message; 1 to 8 bytes.
        end: Vec<u8>,
    },
    /// Each message begins with its length.
    LengthPrefix(LengthField),
}

/// The field that tells how long a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthField {
    /// Bytes of the field: 1, 2 or 4.
    pub bytes: u8,
    /// The most significant byte first.
    pub big_endian: bool,
    /// The number counts the field itself as well.
    pub counts_itself: bool,
}
