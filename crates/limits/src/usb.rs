//! USB 2.0: so many bytes fit a frame, and a transaction takes its payload and a fixed overhead
//! (tables 5-1 to 5-10). What super speed does otherwise stands in `superspeed.rs`.

use crate::endpoint::Endpoint;
use crate::limit::Limit;
use crate::speed::{FRAMING, Speed, Transfer, periodic_percent, symbols_s};
use crate::superspeed;
use wiregauge_quantity::{exact_time, grouped};

/// What a frame holds: a row of tables 5-1 to 5-10 of USB 2.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Most times that what the endpoint carries at once fits the frame.
    pub transfers: u64,
    /// Bytes of the wire's time that are left over then.
    pub bytes_remaining: u64,
    /// Bytes of data in the frame.
    pub data_bytes: u64,
    /// Bytes of data a second.
    pub bytes_s: u64,
    /// Part of the frame that one of them takes, in whole percent.
    pub percent: u64,
}

impl Endpoint {
    /// What a frame holds of it and of others like it; none at super speed, which has no such table.
    pub fn frame(&self) -> Option<Frame> {
        let overhead = self.speed.overhead(self.transfer)?;
        let (size, payload) = (self.speed.frame_bytes(), u64::from(self.packet_bytes));
        let packets = u64::from(self.packets.max(1));
        let one = packets * (overhead + payload);
        let transfers = size / one;
        let data_bytes = transfers * packets * payload;
        Some(Frame {
            transfers,
            bytes_remaining: size - transfers * one,
            data_bytes,
            bytes_s: data_bytes * (1_000_000_000 / self.speed.frame_ns()),
            percent: (100 * one + size / 2) / size,
        })
    }

    /// Least time of an exchange by bulk transfers, from the first bit of the request to the last of
    /// the answer: the time of their packets, back to back. None for other kinds.
    pub fn exchange_ns(&self, out: u64, in_: u64) -> Option<f64> {
        if self.transfer != Transfer::Bulk {
            return None;
        }
        let packet = u64::from(self.packet_bytes);
        let bytes = |message: u64, overhead: u64| {
            // A transfer of nothing is an empty packet.
            message + message.div_ceil(packet).max(1) * overhead
        };
        Some(match self.speed.overhead(self.transfer) {
            Some(overhead) => {
                let ns_a_byte = 8e9 / self.speed.bits_s() as f64;
                (bytes(out, overhead) + bytes(in_, overhead)) as f64 * ns_a_byte
            }
            None => {
                let symbols = bytes(out, FRAMING) + bytes(in_, FRAMING);
                symbols as f64 * 1e9 / symbols_s(self.speed)
            }
        })
    }

    /// What it carries at best.
    pub fn limit(&self) -> Limit {
        match self.frame() {
            None => superspeed::limit(self),
            Some(frame) if self.transfer.is_periodic() => self.periodic(&frame),
            Some(frame) => self.whenever_free(&frame),
        }
    }

    /// Control and bulk: one endpoint may have all frames.
    fn whenever_free(&self, frame: &Frame) -> Limit {
        let (speed, transfer) = (self.speed, self.transfer);
        let mut notes = vec![match transfer {
            Transfer::Control => format!(
                "Of each {}, {} % are kept free for control transfers (USB 2.0, 5.5.4); they can use all of \
                 the bus only if there is no other traffic. Each transfer is assumed to have one data packet; \
                 longer ones carry more.",
                speed.frame_name(),
                100 - periodic_percent(speed)
            ),
            _ => format!(
                "Bulk uses the remaining bandwidth (USB 2.0, 5.8.4): periodic transfers may take {} % of a {}, \
                 and control transfers go first.",
                periodic_percent(speed),
                speed.frame_name()
            ),
        }];
        notes.extend(self.notes_of_the_wire(frame));
        Limit {
            bytes_s: frame.bytes_s as f64,
            messages_s: frame.transfers as f64 * 1e9 / speed.frame_ns() as f64,
            message_ns: self.message_ns(),
            raw_bytes_s: speed.bits_s() as f64 / 8.0,
            shared: true,
            formula: format!(
                "{} x {} B x {}/s = {} x {} B x {}/s = {} B/s",
                self.quotient(),
                self.packet_bytes,
                1_000_000_000 / speed.frame_ns(),
                frame.transfers,
                self.packet_bytes,
                1_000_000_000 / speed.frame_ns(),
                grouped(frame.bytes_s)
            ),
            source: format!(
                "USB {}-speed {}, USB 2.0 table {}",
                speed.name(),
                transfer.name(),
                self.table()
            ),
            notes,
        }
    }

    /// Interrupt and isochronous: so many packets an interval.
    fn periodic(&self, frame: &Frame) -> Limit {
        let (speed, transfer) = (self.speed, self.transfer);
        let served = self.served_ns();
        let a_second = f64::from(self.packets) * 1e9 / served as f64;
        let bytes_s = a_second * f64::from(self.packet_bytes);
        let mut notes = vec![format!(
            "The bus carries {} B/s from all such endpoints together if there is no other traffic: {} = {} in \
             a {} (USB 2.0 table {}). They may use {} % of a {} (USB 2.0, {}), at most {} of them.",
            grouped(frame.bytes_s),
            self.quotient(),
            frame.transfers,
            speed.frame_name(),
            self.table(),
            periodic_percent(speed),
            speed.frame_name(),
            if transfer == Transfer::Interrupt {
                "5.7.4"
            } else {
                "5.6.4"
            },
            self.periodic_share(),
        )];
        if served != self.interval_ns {
            notes.push(format!(
                "Requested interval {}, actual interval {}: host controllers use powers of two (USB 2.0, 5.7.4).",
                exact_time(self.interval_ns),
                exact_time(served)
            ));
        }
        notes.extend(self.notes_of_the_wire(frame));
        Limit {
            bytes_s,
            messages_s: a_second,
            message_ns: self.message_ns(),
            raw_bytes_s: speed.bits_s() as f64 / 8.0,
            shared: false,
            formula: self.periodic_formula(bytes_s),
            source: self.periodic_source(),
            notes,
        }
    }

    /// Time of one packet (of one transfer for control) on the wire.
    fn message_ns(&self) -> f64 {
        let overhead = self.speed.overhead(self.transfer).unwrap_or_default();
        (overhead + u64::from(self.packet_bytes)) as f64 * 8e9 / self.speed.bits_s() as f64
    }

    /// `floor(1500 / (13 + 64))`.
    fn quotient(&self) -> String {
        let overhead = self.speed.overhead(self.transfer).unwrap_or_default();
        let one = match self.packets {
            1 => format!("({overhead} + {})", self.packet_bytes),
            many => format!("({many} x ({overhead} + {}))", self.packet_bytes),
        };
        format!("floor({} / {one})", self.speed.frame_bytes())
    }

    /// How many of it fit the part of a frame that periodic transfers may have.
    fn periodic_share(&self) -> u64 {
        let overhead = self.speed.overhead(self.transfer).unwrap_or_default();
        let one = u64::from(self.packets.max(1)) * (overhead + u64::from(self.packet_bytes));
        self.speed.frame_bytes() * periodic_percent(self.speed) / 100 / one
    }

    fn notes_of_the_wire(&self, frame: &Frame) -> Vec<String> {
        let mut notes = Vec::new();
        let (sizes, section) = self.speed.allowed_packets(self.transfer);
        let is_endpoint_size = match (self.speed, self.transfer) {
            (Speed::Full, Transfer::Control | Transfer::Bulk) => {
                [8, 16, 32, 64].contains(&self.packet_bytes)
            }
            (_, Transfer::Control | Transfer::Bulk) => {
                self.packet_bytes == self.speed.largest_packet(self.transfer)
            }
            _ => true,
        };
        if !is_endpoint_size {
            notes.push(format!(
                "A packet of {} B is a short packet, which ends its transfer: this speed has only {sizes} \
                 ({section}).",
                self.packet_bytes
            ));
        }
        if (self.speed, self.transfer) == (Speed::Low, Transfer::Control) {
            notes.push(
                "The head of table 5-1 gives an overhead of 63 B, with which two transfers would fit; its rows \
                 count three, for which 48 B remain."
                    .to_owned(),
            );
        }
        // USB 2.0, 7.1.9: a zero is inserted after six ones.
        let overhead = self.speed.overhead(self.transfer).unwrap_or_default();
        let packets = u64::from(self.packets.max(1));
        let stuffed_sixths = packets * (6 * overhead + 7 * u64::from(self.packet_bytes));
        let stuffed = 6 * self.speed.frame_bytes() / stuffed_sixths;
        if stuffed < frame.transfers {
            let units = match (self.transfer, packets) {
                (Transfer::Control, _) | (_, 2..) => "transfers",
                _ => "packets",
            };
            notes.push(format!(
                "Bit stuffing (USB 2.0, 7.1.9) is not included. Worst case (all ones): {stuffed} {units} per {} \
                 instead of {}.",
                self.speed.frame_name(),
                frame.transfers
            ));
        }
        notes
    }

    fn table(&self) -> &'static str {
        match (self.speed, self.transfer) {
            (Speed::Low, Transfer::Control) => "5-1",
            (Speed::Full, Transfer::Control) => "5-2",
            (_, Transfer::Control) => "5-3",
            (Speed::Full, Transfer::Isochronous) => "5-4",
            (_, Transfer::Isochronous) => "5-5",
            (Speed::Low, Transfer::Interrupt) => "5-6",
            (Speed::Full, Transfer::Interrupt) => "5-7",
            (_, Transfer::Interrupt) => "5-8",
            (Speed::Full, Transfer::Bulk) => "5-9",
            (_, Transfer::Bulk) => "5-10",
        }
    }
}
