//! What begins and ends a stream, and what the device says of it at the end.

use super::{STREAM_ORDER, STREAM_REPORT, StreamCounts};

/// What a SINK or SOURCE request wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// Begin a stream at word 0.
    Start = 1,
    /// End it and report.
    End = 2,
}

/// The payload of a SINK or SOURCE request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamOrder {
    /// What is wanted.
    pub verb: Verb,
    /// Bytes of one transfer. SOURCE: the device writes so many at once. SINK: what the host hands
    /// over at once, for the device that wants to read in the same pieces.
    pub transfer_bytes: u32,
    /// Bytes after which a source stops by itself; 0 to go on until END.
    pub stop_after: u64,
}

// Everything is little-endian.
//
//      0               1               2               3
//     +---------------+---------------+---------------+---------------+
//   0 |     verb      |                reserved, zero                 |
//     +---------------+---------------+---------------+---------------+
//   4 |                        transfer_bytes                         |
//     +---------------------------------------------------------------+
//   8 |                     stop_after (8 bytes)                      |
//     +---------------------------------------------------------------+
impl StreamOrder {
    /// The payload's bytes.
    pub fn encode(&self) -> [u8; STREAM_ORDER] {
        let mut bytes = [0; STREAM_ORDER];
        bytes[0] = self.verb as u8;
        bytes[4..8].copy_from_slice(&self.transfer_bytes.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.stop_after.to_le_bytes());
        bytes
    }

    /// Reads a payload; `None` if it is shorter than one or its verb is unknown. The reserved bytes
    /// and what follows are not looked at.
    pub fn decode(from: &[u8]) -> Option<Self> {
        let bytes = from.first_chunk::<STREAM_ORDER>()?;
        Some(Self {
            verb: match bytes[0] {
                1 => Verb::Start,
                2 => Verb::End,
                _ => return None,
            },
            transfer_bytes: u32::from_le_bytes(*bytes[4..].first_chunk()?),
            stop_after: u64::from_le_bytes(*bytes[8..].first_chunk()?),
        })
    }
}

/// What a device says of a stream at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamReport {
    /// Bytes of the stream that it received (SINK) or handed over (SOURCE).
    pub bytes: u64,
    /// SINK: see [`StreamCounts::lost`]. SOURCE: 0.
    pub lost: u64,
    /// SINK: see [`StreamCounts::duplicated`]. SOURCE: 0.
    pub duplicated: u64,
    /// SINK: see [`StreamCounts::corrupted`]. SOURCE: 0.
    pub corrupted: u64,
    /// SINK: see [`StreamCounts::stray`]. SOURCE: 0.
    pub stray: u64,
    /// The device's own reads or writes that carried the bytes.
    pub transfers: u64,
    /// Times that the device could not take or give data in time, as far as it can tell.
    pub overruns: u64,
    /// Its clock at the first byte; 0 without a clock or without a byte.
    pub first_ticks: u64,
    /// Its clock at the last byte; 0 without a clock or without a byte.
    pub last_ticks: u64,
}

// Everything is little-endian; nine fields of 8 bytes in the order above.
impl StreamReport {
    /// The payload's bytes.
    pub fn encode(&self) -> [u8; STREAM_REPORT] {
        let fields = [
            self.bytes,
            self.lost,
            self.duplicated,
            self.corrupted,
            self.stray,
            self.transfers,
            self.overruns,
            self.first_ticks,
            self.last_ticks,
        ];
        let mut bytes = [0; STREAM_REPORT];
        for (to, field) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(fields) {
            *to = field.to_le_bytes();
        }
        bytes
    }

    /// Reads a payload; `None` if it is shorter than one. Longer ones are read as far as this
    /// version knows them.
    pub fn decode(from: &[u8]) -> Option<Self> {
        let bytes = from.first_chunk::<STREAM_REPORT>()?;
        let mut fields = bytes
            .as_chunks::<8>()
            .0
            .iter()
            .map(|f| u64::from_le_bytes(*f));
        Some(Self {
            bytes: fields.next()?,
            lost: fields.next()?,
            duplicated: fields.next()?,
            corrupted: fields.next()?,
            stray: fields.next()?,
            transfers: fields.next()?,
            overruns: fields.next()?,
            first_ticks: fields.next()?,
            last_ticks: fields.next()?,
        })
    }

    /// What a sink counted.
    pub fn counts(&self) -> StreamCounts {
        StreamCounts {
            received: self.bytes,
            lost: self.lost,
            duplicated: self.duplicated,
            corrupted: self.corrupted,
            stray: self.stray,
        }
    }
}
