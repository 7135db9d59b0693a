//! The header that a responder sends.

use crate::error::HeaderError;
use crate::names::{Kind, Status};
use crate::{MAX_FRAME, RESPONSE_HEADER, VERSION, check};

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
        to[0] = Self::MAGIC;
        to[1] = VERSION << 4 | self.kind as u8;
        to[2..4].fill(0);
        to[4..8].copy_from_slice(&self.sequence.to_le_bytes());
        to[8..12].copy_from_slice(&self.in_payload.to_le_bytes());
        to[12..14].copy_from_slice(&(self.status as u16).to_le_bytes());
        to[14..16].copy_from_slice(&self.flags.to_le_bytes());
        to[16..24].copy_from_slice(&self.rx_ticks.to_le_bytes());
        to[24..32].copy_from_slice(&self.tx_ticks.to_le_bytes());
        let check = check::of_header(to);
        to[2..4].copy_from_slice(&check.to_le_bytes());
    }

    /// Reads the header at the start of `from`; what follows it is not looked at.
    ///
    /// # Errors
    /// The first that applies, in the order of [`HeaderError`]'s variants.
    #[inline]
    pub fn decode(from: &[u8]) -> Result<Self, HeaderError> {
        let Some(header) = from.first_chunk::<RESPONSE_HEADER>() else {
            return Err(HeaderError::Short);
        };
        let (fields, ticks) = header.split_at(16);
        let (&[fields], &[rx_ticks, tx_ticks]) =
            (fields.as_chunks::<16>().0, ticks.as_chunks::<8>().0)
        else {
            return Err(HeaderError::Short);
        };
        let [
            magic,
            version_kind,
            _,
            _,
            s0,
            s1,
            s2,
            s3,
            p0,
            p1,
            p2,
            p3,
            t0,
            t1,
            f0,
            f1,
        ] = fields;
        if magic != Self::MAGIC {
            return Err(HeaderError::Magic);
        }
        if !check::holds(header) {
            return Err(HeaderError::Check);
        }
        if version_kind >> 4 != VERSION {
            return Err(HeaderError::Version(version_kind >> 4));
        }
        let Some(kind) = Kind::from_number(version_kind & 0x0F) else {
            return Err(HeaderError::Kind(version_kind & 0x0F));
        };
        let number = u16::from_le_bytes([t0, t1]);
        let Some(status) = Status::from_number(number) else {
            return Err(HeaderError::Status(number));
        };
        let in_payload = u32::from_le_bytes([p0, p1, p2, p3]);
        let refused = status != Status::Ok && in_payload != 0;
        if refused || in_payload > MAX_FRAME - RESPONSE_HEADER as u32 {
            return Err(HeaderError::Length(in_payload));
        }
        Ok(Self {
            kind,
            sequence: u32::from_le_bytes([s0, s1, s2, s3]),
            in_payload,
            status,
            flags: u16::from_le_bytes([f0, f1]),
            rx_ticks: u64::from_le_bytes(rx_ticks),
            tx_ticks: u64::from_le_bytes(tx_ticks),
        })
    }
}
