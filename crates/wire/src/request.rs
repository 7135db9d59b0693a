//! The header that a host sends.

use crate::check::{self, field};
use crate::error::HeaderError;
use crate::names::Kind;
use crate::{MAX_FRAME, REQUEST_HEADER};

/// A request header. `out_payload` bytes of payload follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// What is asked for.
    pub kind: Kind,
    /// The number that the response will repeat; it also decides the payload's pattern.
    pub sequence: u32,
    /// Bytes that follow this header.
    pub out_payload: u32,
    /// Size of the response frame asked for, its header included.
    pub in_bytes: u32,
}

// Everything is little-endian.
//
//      0               1               2               3
//      0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7
//     +---------------+-------+-------+-------------------------------+
//   0 |     0xA7      | kind  |version|            check              |
//     +---------------+-------+-------+-------------------------------+
//   4 |                           sequence                            |
//     +---------------------------------------------------------------+
//   8 |                         out_payload                           |
//     +---------------------------------------------------------------+
//  12 |                           in_bytes                            |
//     +---------------------------------------------------------------+
//  16 |                 payload, out_payload bytes ...
//     +--------------------------------------------
impl Request {
    /// The first byte of every request.
    pub const MAGIC: u8 = 0xA7;

    /// Writes the header, its check included.
    #[inline]
    pub fn encode(&self, to: &mut [u8; REQUEST_HEADER]) {
        to[12..16].copy_from_slice(&self.in_bytes.to_le_bytes());
        check::seal(to, Self::MAGIC, self.kind, self.sequence, self.out_payload);
    }

    /// Reads the header at the start of `from`; what follows it is not looked at.
    ///
    /// `in_bytes` is not judged here: too large a wish is a true request, to be answered
    /// [`Status::TooLarge`](crate::Status::TooLarge).
    ///
    /// # Errors
    /// The first that applies, in the order of [`HeaderError`]'s variants.
    #[inline]
    pub fn decode(from: &[u8]) -> Result<Self, HeaderError> {
        let (header, kind) = check::opened::<REQUEST_HEADER>(from, Self::MAGIC)?;
        let out_payload = u32::from_le_bytes(field(header, 8));
        if out_payload > MAX_FRAME - REQUEST_HEADER as u32 {
            return Err(HeaderError::Length(out_payload));
        }
        Ok(Self {
            kind,
            sequence: u32::from_le_bytes(field(header, 4)),
            out_payload,
            in_bytes: u32::from_le_bytes(field(header, 12)),
        })
    }
}
