//! Isochronous streams: what is asked of the link, and what became of the packets.

use crate::direction::Way;
use serde::{Deserialize, Serialize};
use wiregauge_stats::Distribution;

/// Isochronous transfers of a USB link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IsochronousOptions {
    /// Bytes of a packet: one (micro)frame's share of a transfer.
    pub packet_bytes: u32,
    /// Direction of the data; an isochronous stream has one.
    pub way: Way,
}

impl IsochronousOptions {
    /// Packets of one transfer at most: Linux takes no more from a program (drivers/usb/core/devio.c).
    pub const MOST_PACKETS: u32 = 128;

    /// Packets of one transfer unless its size is given.
    pub const PACKETS: u32 = 8;
}

/// Packets that ended with one error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacketErrors {
    /// Linux' error number: 18 (EXDEV) for a packet that missed its (micro)frame, 84 (EILSEQ) or 71 (EPROTO) for a bus
    /// error, 75 (EOVERFLOW) for one that is too large.
    pub errno: i32,
    /// How many.
    pub packets: u64,
}

/// What became of the packets of an isochronous stream, from its first transfer to its last one that ended by itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IsochronousCounts {
    /// Bytes that a packet has room for.
    pub packet_bytes: u32,
    /// Time from one packet of the endpoint to the next, in nanoseconds.
    pub interval_ns: u64,
    /// Packets of all transfers.
    pub packets: u64,
    /// Packets without error and without data.
    pub empty: u64,
    /// Packets with data, but less than they have room for.
    pub short: u64,
    /// Packets with an error.
    pub errors: Vec<PacketErrors>,
    /// Intervals for which the host had no packet queued, by the clock: how far the earliest arrivals moved behind the
    /// packets that were counted. Linux does not report the frame numbers of transfers to programs.
    pub skipped: u64,
    /// Deviation of the time between two completions from the bus time of the packets in between, in nanoseconds.
    pub jitter: Option<Distribution>,
}

impl IsochronousCounts {
    /// Packets with an error.
    pub fn failed(&self) -> u64 {
        self.errors.iter().map(|error| error.packets).sum()
    }

    /// Intervals of the bus, with and without a packet.
    pub fn intervals(&self) -> u64 {
        self.packets + self.skipped
    }

    /// Intervals in which no data moved, whatever the reason.
    pub fn missed(&self) -> u64 {
        self.empty + self.failed() + self.skipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_missed_if_its_packet_is_empty_failed_or_was_not_queued() {
        let error = |errno, packets| PacketErrors { errno, packets };
        let counts = IsochronousCounts {
            packets: 100,
            empty: 3,
            short: 50,
            errors: vec![error(18, 4), error(84, 1)],
            skipped: 8,
            ..IsochronousCounts::default()
        };
        assert_eq!((counts.failed(), counts.missed()), (5, 16));
        assert_eq!(counts.intervals(), 108);
    }
}
