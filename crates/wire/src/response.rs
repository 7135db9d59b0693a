//! The header that a responder sends.

use crate::check::{self, field};
use crate::error::HeaderError;
use crate::names::{Kind, Status};
use crate::{MAX_FRAME, RESPONSE_HEADER};

/// A response header. `in_payload` bytes of payload follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// The kind of the request.
    pub kind: Kind,
    /// The number of the request; it also decides the payload's pattern.
    pub sequence: u32,
    /// Bytes that follow this header; 0 unless `status` is [`Status::Ok`].
    pub in_payload: u32,
    /// How the responder fared.
    pub status: Status,
    /// Bits of [`flags`](crate::flags).
    pub flags: u16,
    /// The device's clock when the whole request had arrived; 0 without a clock.
    pub rx_ticks: u64,
    /// The device's clock when the response was handed to the transport; 0 without a clock.
    pub tx_ticks: u64,
}

// Everything is little-endian.
//
//      0               1               2               3
//      0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7
//     +---------------+-------+-------+-------------------------------+
//   0 |     0x7A      | kind  |version|            check              |
//     +---------------+-------+-------+-------------------------------+
//   4 |                           sequence                            |
//     +---------------------------------------------------------------+
//   8 |                          in_payload                           |
//     +-------------------------------+-------------------------------+
//  12 |            status             |             flags             |
//     +-------------------------------+-------------------------------+
//  16 |                                                               |
//     +                           rx_ticks                            +
//  20 |                                                               |
//     +---------------------------------------------------------------+
//  24 |                                                               |
//     +                           tx_ticks                            +
//  28 |                                                               |
//     +---------------------------------------------------------------+
//  32 |                 payload, in_payload bytes ...
//     +--------------------------------------------
impl Response {
    /// The first byte of every response.
    pub const MAGIC: u8 = 0x7A;

    /// Writes the header, its check included.
    #[inline]
    pub fn encode(&self, to: &mut [u8; RESPONSE_HEADER]) {
        to[12..14].copy_from_slice(&(self.status as u16).to_le_bytes());
        to[14..16].copy_from_slice(&self.flags.to_le_bytes());
        to[16..24].copy_from_slice(&self.rx_ticks.to_le_bytes());
        to[24..32].copy_from_slice(&self.tx_ticks.to_le_bytes());
        check::seal(to, Self::MAGIC, self.kind, self.sequence, self.in_payload);
    }

    /// Reads the header at the start of `from`; what follows it is not looked at.
    ///
    /// # Errors
    /// The first that applies, in the order of [`HeaderError`]'s variants.
    #[inline]
    pub fn decode(from: &[u8]) -> Result<Self, HeaderError> {
        let (header, kind) = check::opened::<RESPONSE_HEADER>(from, Self::MAGIC)?;
        let number = u16::from_le_bytes(field(header, 12));
        let status = Status::from_number(number).ok_or(HeaderError::Status(number))?;
        let in_payload = u32::from_le_bytes(field(header, 8));
        let refused = status != Status::Ok && in_payload != 0;
        if refused || in_payload > MAX_FRAME - RESPONSE_HEADER as u32 {
            return Err(HeaderError::Length(in_payload));
        }
        Ok(Self {
            kind,
            sequence: u32::from_le_bytes(field(header, 4)),
            in_payload,
            status,
            flags: u16::from_le_bytes(field(header, 14)),
            rx_ticks: u64::from_le_bytes(field(header, 16)),
            tx_ticks: u64::from_le_bytes(field(header, 24)),
        })
    }
}
