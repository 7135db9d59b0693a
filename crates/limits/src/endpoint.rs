//! An endpoint of a USB device: what its descriptor may ask for.

use crate::refused::Refused;
use crate::speed::{Speed, Transfer};
use wiregauge_quantity::{exact_time, grouped};

/// An endpoint that always has something to carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The bus.
    pub speed: Speed,
    /// The kind of transfer.
    pub transfer: Transfer,
    /// Bytes of data in each packet.
    pub packet_bytes: u32,
    /// Packets an interval; 1 unless it is periodic.
    pub packets: u32,
    /// The interval that it asks for; a frame unless it is periodic.
    pub interval_ns: u64,
}

impl Endpoint {
    /// The one that carries most: the largest packets, as many and as often as it may ask for.
    pub fn best(speed: Speed, transfer: Transfer) -> Endpoint {
        let largest = speed.largest_packet(transfer);
        let packets = match transfer.is_periodic() {
            true => speed.most_packets(transfer, largest),
            false => 1,
        };
        let interval_ns = match (speed, transfer) {
            (Speed::Low, Transfer::Interrupt) => 10_000_000,
            _ => speed.frame_ns(),
        };
        Endpoint {
            speed,
            transfer,
            packet_bytes: largest,
            packets,
            interval_ns,
        }
    }

    /// The same with packets of another size, as many as there may be of them.
    pub fn with_packet(self, packet_bytes: u32) -> Endpoint {
        let packets = match self.transfer.is_periodic() {
            true => self.speed.most_packets(self.transfer, packet_bytes),
            false => 1,
        };
        Endpoint {
            packet_bytes,
            packets,
            ..self
        }
    }

    /// An interrupt endpoint whose descriptor asks for this bInterval (USB 2.0, table 9-13): frames at
    /// low and full speed, else a power of two of microframes.
    pub fn interrupt(speed: Speed, packet_bytes: u32, packets: u32, b_interval: u8) -> Endpoint {
        let interval_ns = match speed {
            Speed::Low | Speed::Full => u64::from(b_interval.max(1)) * 1_000_000,
            _ => 125_000 << (u32::from(b_interval.clamp(1, 16)) - 1),
        };
        Endpoint {
            speed,
            transfer: Transfer::Interrupt,
            packet_bytes,
            packets,
            interval_ns,
        }
    }

    /// An isochronous endpoint whose descriptor asks for this bInterval (USB 2.0, table 9-13): a power of two of frames
    /// at full speed, of microframes above it.
    pub fn isochronous(speed: Speed, packet_bytes: u32, packets: u32, b_interval: u8) -> Endpoint {
        Endpoint {
            speed,
            transfer: Transfer::Isochronous,
            packet_bytes,
            packets,
            interval_ns: speed.frame_ns() << (u32::from(b_interval.clamp(1, 16)) - 1),
        }
    }

    /// Refuses what no descriptor may ask for.
    pub fn check(&self) -> Result<(), Refused> {
        let (speed, transfer) = (self.speed, self.transfer);
        if !speed.has(transfer) {
            return Err(Refused::Transfer { speed, transfer });
        }
        if self.packet_bytes == 0 || self.packet_bytes > speed.largest_packet(transfer) {
            let (allowed, section) = speed.allowed_packets(transfer);
            return Err(Refused::Packet {
                speed,
                transfer,
                asked: self.packet_bytes,
                allowed: format!(
                    "1 to {} B of data, {allowed}",
                    speed.largest_packet(transfer)
                ),
                section,
            });
        }
        if !transfer.is_periodic() {
            return match (self.packets, self.interval_ns) {
                (1, ns) if ns == speed.frame_ns() => Ok(()),
                _ => Err(Refused::NotPeriodic { transfer }),
            };
        }
        let most = speed.most_packets(transfer, self.packet_bytes);
        if !(1..=most).contains(&self.packets) {
            return Err(Refused::Packets {
                speed,
                transfer,
                asked: self.packets,
                bytes: self.packet_bytes,
                most,
                why: match speed {
                    Speed::Low | Speed::Full => "more require high speed or above",
                    Speed::High => "2 from 513 B, 3 from 683 B: USB 2.0, table 9-14",
                    _ => "more than 1 with packets of 1024 B only: USB 3.2, 9.6.6",
                },
            });
        }
        self.check_interval()
    }

    /// USB 2.0, 5.6.4, 5.7.4 and table 9-13.
    fn check_interval(&self) -> Result<(), Refused> {
        let frames = self.interval_ns / self.speed.frame_ns();
        let whole = self.interval_ns.is_multiple_of(self.speed.frame_ns());
        let (fits, allowed) = match (self.speed, self.transfer) {
            (Speed::Low, _) => (
                (10..=255).contains(&frames),
                "10 to 255 ms, whole milliseconds",
            ),
            (Speed::Full, Transfer::Interrupt) => (
                (1..=255).contains(&frames),
                "1 to 255 ms, whole milliseconds",
            ),
            (Speed::Full, _) => (
                frames.is_power_of_two() && frames <= 1 << 15,
                "1 ms times a power of two up to 32768",
            ),
            _ => (
                frames.is_power_of_two() && frames <= 1 << 15,
                "125 us times a power of two up to 32768 (4.096 s)",
            ),
        };
        if whole && fits {
            return Ok(());
        }
        Err(Refused::Interval {
            speed: self.speed,
            transfer: self.transfer,
            asked_ns: self.interval_ns,
            allowed,
        })
    }

    /// The interval at which it is served. A host may serve it more often than it asks, and host
    /// controllers do so in powers of two of frames (USB 2.0, 5.7.4).
    pub fn served_ns(&self) -> u64 {
        let frames = (self.interval_ns / self.speed.frame_ns()).max(1);
        self.speed.frame_ns() << frames.ilog2()
    }

    pub(crate) fn periodic_formula(&self, bytes_s: f64) -> String {
        format!(
            "{} x {} B / {} = {} B/s",
            self.packets,
            self.packet_bytes,
            exact_time(self.served_ns()),
            grouped(bytes_s.round() as u64)
        )
    }

    pub(crate) fn periodic_source(&self) -> String {
        format!(
            "USB {}: {} B every {} us, {}",
            self.transfer.name(),
            u64::from(self.packet_bytes) * u64::from(self.packets),
            self.served_ns() / 1000,
            match self.speed.is_super() {
                true => "USB 3.2, 9.6.6",
                false => "USB 2.0 table 9-13",
            }
        )
    }
}
