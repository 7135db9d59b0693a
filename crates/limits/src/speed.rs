//! What a USB speed and a kind of transfer are made of: rates, frames, overheads, and the sizes that are
//! allowed.

/// Symbols around the data of a packet: a data packet header of 20 with its framing, and 12 that frame
/// the payload and check it (USB 3.2, 7.2.1.1 and 7.2.1.2).
pub(crate) const FRAMING: u64 = 32;

/// How fast a bus signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Speed {
    /// 1.5 Mbit/s.
    Low,
    /// 12 Mbit/s.
    Full,
    /// 480 Mbit/s.
    High,
    /// 5 Gbit/s: USB 3.2 Gen 1x1.
    Super5,
    /// 10 Gbit/s: USB 3.2 Gen 2x1.
    Super10,
    /// 20 Gbit/s: USB 3.2 Gen 2x2.
    Super20,
}

/// The four kinds of transfer, USB 2.0, 5.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// Setup, data, status. A message is one whole transfer with one data packet.
    Control,
    /// At fixed intervals, acknowledged.
    Interrupt,
    /// At fixed intervals, without acknowledgement.
    Isochronous,
    /// Whenever the bus is free, acknowledged.
    Bulk,
}

impl Speed {
    /// All, the slowest first.
    pub const ALL: [Speed; 6] = [
        Speed::Low,
        Speed::Full,
        Speed::High,
        Speed::Super5,
        Speed::Super10,
        Speed::Super20,
    ];

    /// The speed that Linux gives in Mbit/s (Documentation/ABI/stable/sysfs-bus-usb).
    pub fn from_megabits(text: &str) -> Option<Speed> {
        Some(match text {
            "1.5" => Speed::Low,
            "12" => Speed::Full,
            "480" => Speed::High,
            "5000" => Speed::Super5,
            "10000" => Speed::Super10,
            "20000" => Speed::Super20,
            _ => return None,
        })
    }

    /// As in "full speed".
    pub const fn name(self) -> &'static str {
        match self {
            Speed::Low => "low",
            Speed::Full => "full",
            Speed::High => "high",
            Speed::Super5 => "5G super",
            Speed::Super10 => "10G super",
            Speed::Super20 => "20G super",
        }
    }

    /// Bits a second on the wire.
    pub const fn bits_s(self) -> u64 {
        match self {
            Speed::Low => 1_500_000,
            Speed::Full => 12_000_000,
            Speed::High => 480_000_000,
            Speed::Super5 => 5_000_000_000,
            Speed::Super10 => 10_000_000_000,
            Speed::Super20 => 20_000_000_000,
        }
    }

    /// Length of a frame (low and full speed), microframe (high speed) or bus interval (super speed):
    /// USB 2.0, 5.3.3, and USB 3.2, 8.12.3.
    pub const fn frame_ns(self) -> u64 {
        match self {
            Speed::Low | Speed::Full => 1_000_000,
            _ => 125_000,
        }
    }

    /// What a frame is called at this speed.
    pub const fn frame_name(self) -> &'static str {
        match self {
            Speed::Low | Speed::Full => "frame",
            Speed::High => "microframe",
            _ => "bus interval",
        }
    }

    /// Whole bytes that the wire has time for in a frame, as the tables of USB 2.0 round them: 187
    /// rather than 187.5 at low speed.
    pub const fn frame_bytes(self) -> u64 {
        self.bits_s() / 8 / (1_000_000_000 / self.frame_ns())
    }

    /// True for what USB 3 added.
    pub const fn is_super(self) -> bool {
        matches!(self, Speed::Super5 | Speed::Super10 | Speed::Super20)
    }

    /// Protocol overhead of a transaction (of a whole transfer for control) in bytes of the wire's
    /// time, from the heads of tables 5-1 to 5-10 of USB 2.0. None where there is no such transfer,
    /// and at super speed.
    pub const fn overhead(self, transfer: Transfer) -> Option<u64> {
        Some(match (self, transfer) {
            // The head of table 5-1 says 63, but its rows count three transfers in a frame of 187
            // bytes, for which 48 are left; the rows are followed, because a limit must not lie
            // below what is possible. docs/limits.md tells more.
            (Speed::Low, Transfer::Control) => 48,
            (Speed::Low, Transfer::Interrupt) => 19,
            (Speed::Full, Transfer::Control) => 45,
            (Speed::Full, Transfer::Isochronous) => 9,
            (Speed::Full, Transfer::Interrupt | Transfer::Bulk) => 13,
            (Speed::High, Transfer::Control) => 173,
            (Speed::High, Transfer::Isochronous) => 38,
            (Speed::High, Transfer::Interrupt | Transfer::Bulk) => 55,
            _ => return None,
        })
    }

    /// True if the speed has such transfers: low speed has no isochronous and no bulk ones (USB 2.0,
    /// 5.6.3 and 5.8.3).
    pub const fn has(self, transfer: Transfer) -> bool {
        self.is_super() || self.overhead(transfer).is_some()
    }

    /// Largest data payload of a packet: USB 2.0, 5.5.3, 5.6.3, 5.7.3 and 5.8.3; USB 3.2, 9.6.6.
    pub const fn largest_packet(self, transfer: Transfer) -> u32 {
        match (self, transfer) {
            (Speed::Low, _) => 8,
            (Speed::Full, Transfer::Isochronous) => 1023,
            (Speed::Full | Speed::High, Transfer::Control) | (Speed::Full, _) => 64,
            (Speed::High, Transfer::Bulk) => 512,
            (_, Transfer::Control) => 512,
            _ => 1024,
        }
    }

    /// Most packets of so many bytes that one endpoint may have in an interval: USB 2.0, table 9-14;
    /// USB 3.2, 9.6.6 and 9.6.7.
    pub fn most_packets(self, transfer: Transfer, packet_bytes: u32) -> u32 {
        match (self, packet_bytes) {
            (Speed::Low | Speed::Full, _) | (Speed::High, ..=512) => 1,
            (Speed::High, ..=682) => 2,
            (Speed::High, _) => 3,
            (_, ..=1023) => 1,
            _ if transfer == Transfer::Interrupt => 3,
            // Bursts of 16, three in an interval.
            (Speed::Super5, _) => 48,
            _ => most_isochronous_packets(self),
        }
    }

    /// Sizes that an endpoint may have, and where that is written.
    pub(crate) fn allowed_packets(self, transfer: Transfer) -> (String, &'static str) {
        let largest = self.largest_packet(transfer);
        let sizes = match (self, transfer) {
            (Speed::Full, Transfer::Control | Transfer::Bulk) => {
                "endpoints of 8, 16, 32 or 64 B".to_owned()
            }
            (_, Transfer::Control | Transfer::Bulk) => format!("endpoints of {largest} B"),
            _ => format!("endpoints of up to {largest} B"),
        };
        let section = match (self.is_super(), transfer) {
            (true, _) => "USB 3.2, 9.6.6",
            (false, Transfer::Control) => "USB 2.0, 5.5.3",
            (false, Transfer::Isochronous) => "USB 2.0, 5.6.3",
            (false, Transfer::Interrupt) => "USB 2.0, 5.7.3",
            (false, Transfer::Bulk) => "USB 2.0, 5.8.3",
        };
        (sizes, section)
    }
}

impl Transfer {
    /// All, in the order of the specification.
    pub const ALL: [Transfer; 4] = [
        Transfer::Control,
        Transfer::Isochronous,
        Transfer::Interrupt,
        Transfer::Bulk,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Transfer::Control => "control",
            Transfer::Interrupt => "interrupt",
            Transfer::Isochronous => "isochronous",
            Transfer::Bulk => "bulk",
        }
    }

    /// True if the host sets time aside for it at fixed intervals.
    pub const fn is_periodic(self) -> bool {
        matches!(self, Transfer::Interrupt | Transfer::Isochronous)
    }
}

/// Part of a frame that periodic endpoints may have together: USB 2.0, 5.6.4 and 5.7.4; USB 3.2,
/// 4.4.7 and 4.4.8.
pub(crate) fn periodic_percent(speed: Speed) -> u64 {
    if speed == Speed::High { 80 } else { 90 }
}

/// Bytes a second that the line code leaves: 8 of 10 bits at 5 Gbit/s, 128 of 132 above (USB 3.2, 6.3.1).
pub(crate) fn symbols_s(speed: Speed) -> f64 {
    let code = match speed {
        Speed::Super5 => 8.0 / 10.0,
        _ => 128.0 / 132.0,
    };
    speed.bits_s() as f64 * code / 8.0
}

/// Full packets that the part of a bus interval holds that periodic transfers may have.
pub(crate) fn most_isochronous_packets(speed: Speed) -> u32 {
    let interval = symbols_s(speed) * 125e-6 * periodic_percent(speed) as f64 / 100.0;
    (interval / (1024 + FRAMING) as f64) as u32
}
