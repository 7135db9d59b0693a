//! How long each packet of a transaction is on the wire, and what lies between them.

use crate::bus::BusTiming;
use wiregauge_capture::Speed;
use wiregauge_link::limits::Bus;

/// Times of one speed.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    /// Of the bus.
    pub speed: Speed,
    /// A bit, in picoseconds.
    bit_ps: u64,
    /// SYNC and EOP of a packet, in bits.
    ends: u64,
    /// EOP of a start of frame, in bits on top.
    sof_bits: u64,
    /// Between the packets of a transaction.
    pub gap_ns: u64,
}

impl Wire {
    /// Of a modelled bus: what its overhead a transaction holds besides the packets themselves is their distance.
    pub fn of(bus: Bus, timing: &BusTiming) -> Wire {
        // USB 2.0, 7.1.10 and 7.1.13: SYNC of 8 or 32 bits; EOP of 3 bits at full speed, 8 at high speed, and
        // 40 of a start of frame.
        let (speed, ends, sof_bits) = match bus {
            Bus::FullSpeed => (Speed::Full, 8 + 3, 0),
            Bus::HighSpeed => (Speed::High, 32 + 8, 32),
        };
        let mut wire = Wire {
            speed,
            bit_ps: timing.frame_ns * 1000 / (timing.wire_bytes * 8),
            ends,
            sof_bits,
            gap_ns: 0,
        };
        let packets = wire.token_ns() + wire.data_ns(0) + wire.handshake_ns();
        wire.gap_ns = timing.wire_ns(0).saturating_sub(packets) / 2;
        wire
    }

    /// A token.
    pub fn token_ns(&self) -> u64 {
        self.bits_ns(self.ends + 24)
    }

    /// A start of frame.
    pub fn sof_ns(&self) -> u64 {
        self.bits_ns(self.ends + 24 + self.sof_bits)
    }

    /// A packet with so many bytes of data. Stuffed bits are not modelled.
    pub fn data_ns(&self, bytes: u64) -> u64 {
        self.bits_ns(self.ends + 24 + bytes * 8)
    }

    /// A handshake.
    pub fn handshake_ns(&self) -> u64 {
        self.bits_ns(self.ends + 8)
    }

    /// A token that is answered by a handshake, and the distance to what follows.
    pub fn refusal_ns(&self) -> u64 {
        self.token_ns() + self.handshake_ns() + 2 * self.gap_ns
    }

    fn bits_ns(&self, bits: u64) -> u64 {
        bits * self.bit_ps / 1000
    }
}
