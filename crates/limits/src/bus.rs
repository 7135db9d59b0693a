//! The two USB buses that a device names in HELLO and that can be modelled.

use crate::endpoint::Endpoint;
use crate::speed::{Speed, Transfer};
use wiregauge_record::BusLimit;

/// A bus whose bulk limit is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bus {
    /// USB full speed, 12 Mbit/s.
    FullSpeed,
    /// USB high speed, 480 Mbit/s.
    HighSpeed,
}

impl Bus {
    /// Its speed.
    pub const fn speed(self) -> Speed {
        match self {
            Bus::FullSpeed => Speed::Full,
            Bus::HighSpeed => Speed::High,
        }
    }

    /// Length of a frame (full speed) or microframe (high speed).
    pub const fn frame_ns(self) -> u64 {
        self.speed().frame_ns()
    }

    /// Bytes that the wire has time for in a frame.
    pub const fn wire_bytes(self) -> u64 {
        self.speed().frame_bytes()
    }

    /// Protocol overhead of a bulk transaction, in bytes of the wire's time.
    pub const fn overhead_bytes(self) -> u64 {
        match self.speed().overhead(Transfer::Bulk) {
            Some(bytes) => bytes,
            None => 0,
        }
    }

    /// Largest bulk packet in bytes.
    pub const fn packet_bytes(self) -> u64 {
        self.speed().largest_packet(Transfer::Bulk) as u64
    }

    /// Bulk packets of that size that fit one frame.
    pub const fn packets_per_frame(self) -> u64 {
        self.wire_bytes() / (self.overhead_bytes() + self.packet_bytes())
    }

    /// Bytes a second, both directions together.
    pub const fn bytes_per_second(self) -> u64 {
        self.packet_bytes() * self.packets_per_frame() * (1_000_000_000 / self.frame_ns())
    }

    /// The name used in addresses, options and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Bus::FullSpeed => "full-speed",
            Bus::HighSpeed => "high-speed",
        }
    }

    /// The bus of this name.
    pub fn from_name(name: &str) -> Option<Bus> {
        [Bus::FullSpeed, Bus::HighSpeed]
            .into_iter()
            .find(|bus| bus.name() == name)
    }

    /// Its limit for bulk transfers.
    pub fn limit(self) -> BusLimit {
        Endpoint::best(self.speed(), Transfer::Bulk)
            .limit()
            .for_run()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bulk_limits_are_those_of_the_usb_2_tables() {
        assert_eq!(Bus::FullSpeed.bytes_per_second(), 1_216_000);
        assert_eq!(Bus::HighSpeed.bytes_per_second(), 53_248_000);
        for bus in [Bus::FullSpeed, Bus::HighSpeed] {
            assert_eq!(bus.limit().bytes_s, bus.bytes_per_second() as f64);
        }
        let source = Bus::HighSpeed.limit().source;
        assert_eq!(source, "USB high-speed bulk, USB 2.0 table 5-10");
    }
}
