//! A CAN bus: one frame at a time, stuff bits that depend on its content, and with CAN FD a faster second part.

use crate::limit::Limit;
use crate::refused::Refused;
use wiregauge_quantity::{bit_rate, grouped};

/// The most that ISO 11898-2 allows for arbitration.
const FASTEST: u32 = 1_000_000;

/// The most of the data phase (CiA 601-4, signal improvement).
const FASTEST_DATA: u32 = 8_000_000;

/// Payload sizes that a frame of CAN FD can have (ISO 11898-1:2015, table 5: DLC).
pub const CAN_FD_SIZES: [u32; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64];

/// ACK slot, its delimiter, and the end of frame.
const FOOTER: u32 = 9;

/// Bits between two frames.
const INTERMISSION: u32 = 3;

/// Bit rates of a bus. With `data` frames are those of CAN FD, which switch to it; equal rates do not switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CanRates {
    /// Bits a second in arbitration, and everywhere in classic frames.
    pub nominal: u32,
    /// Bits a second in the data phase of CAN FD.
    pub data: Option<u32>,
}

impl CanRates {
    /// Refuses rates that no bus has.
    pub fn check(self) -> Result<(), Refused> {
        let CanRates { nominal, data } = self;
        if nominal == 0 || nominal > FASTEST {
            return Err(Refused::CanRate { asked: nominal });
        }
        match data {
            Some(data) if data < nominal || data > FASTEST_DATA => Err(Refused::CanDataRate {
                asked: data,
                nominal,
            }),
            _ => Ok(()),
        }
    }

    /// The time of so many bits.
    pub fn ns(self, bits: CanBits) -> f64 {
        let data = self.data.unwrap_or(self.nominal);
        f64::from(bits.nominal) * 1e9 / f64::from(self.nominal)
            + f64::from(bits.data) * 1e9 / f64::from(data)
    }
}

/// Bits of one frame on the bus, the three bits behind it included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CanBits {
    /// At the nominal rate.
    pub nominal: u32,
    /// At the rate of the data phase.
    pub data: u32,
}

impl CanBits {
    /// All of them.
    pub fn sum(self) -> u32 {
        self.nominal + self.data
    }

    /// Without the three bits behind it: until its end is seen.
    pub fn seen(self) -> CanBits {
        CanBits {
            nominal: self.nominal - INTERMISSION,
            ..self
        }
    }
}

/// Frames of one kind and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Can {
    /// Bit rates; decide whether it is CAN FD.
    pub rates: CanRates,
    /// 29-bit identifiers instead of 11-bit ones.
    pub extended: bool,
    /// Payload of a frame.
    pub bytes: u32,
}

impl Can {
    /// True for CAN FD.
    pub fn is_fd(&self) -> bool {
        self.rates.data.is_some()
    }

    /// Refuses what no frame is.
    pub fn check(&self) -> Result<(), Refused> {
        self.rates.check()?;
        let allowed = match self.is_fd() {
            true => CAN_FD_SIZES.contains(&self.bytes),
            false => self.bytes <= 8,
        };
        match allowed {
            true => Ok(()),
            false => Err(Refused::CanPayload {
                asked: self.bytes,
                fd: self.is_fd(),
            }),
        }
    }

    /// Bits without any stuff bit that depends on the content: the shortest possible frame.
    pub fn least(&self) -> CanBits {
        frame(self.extended, self.is_fd(), self.bytes, 0, 0)
    }

    /// Bits with the most stuff bits: one behind the first five bits and behind every four more.
    pub fn most(&self) -> CanBits {
        let (header, fixed) = (header(self.extended, self.is_fd()), 8 * self.bytes);
        match self.is_fd() {
            false => {
                let stuff = (header + fixed + 15 - 1) / 4;
                frame(self.extended, false, self.bytes, stuff, 0)
            }
            true => {
                // In arbitration as many as fit there: those cost most.
                let nominal = (header - CONTROL_DATA - 1) / 4;
                let all = (header + fixed - 1) / 4;
                frame(self.extended, true, self.bytes, nominal, all - nominal)
            }
        }
    }

    /// Least time of an exchange of these sizes: the request, three bits, and the response to its end.
    pub fn exchange_ns(&self, out: u32, in_: u32) -> f64 {
        let with = |bytes| Can { bytes, ..*self }.least();
        self.rates.ns(with(out)) + self.rates.ns(with(in_).seen())
    }

    /// What the bus carries, both directions together.
    pub fn limit(&self) -> Limit {
        let (least, most) = (self.least(), self.most());
        let (best_ns, worst_ns) = (self.rates.ns(least), self.rates.ns(most));
        let bytes = f64::from(self.bytes);
        let ids = if self.extended { 29 } else { 11 };
        let rate = f64::from(self.rates.nominal);
        let kind = match self.rates.data {
            None => format!("CAN at {}", bit_rate(rate)),
            Some(data) => format!(
                "CAN FD at {} and {}",
                bit_rate(rate),
                bit_rate(f64::from(data))
            ),
        };
        let formula = match self.rates.data {
            None => format!(
                "{} bit/s / {} bits = {} frames/s at best; with {} stuff bits {} bits, {} frames/s",
                grouped(rate.round() as u64),
                least.sum(),
                grouped((1e9 / best_ns) as u64),
                most.sum() - least.sum(),
                most.sum(),
                grouped((1e9 / worst_ns) as u64),
            ),
            Some(data) => format!(
                "{} bits at {} and {} at {} = {} frames/s at best; with {} stuff bits {} frames/s",
                least.nominal,
                bit_rate(rate),
                least.data,
                bit_rate(f64::from(data)),
                grouped((1e9 / best_ns) as u64),
                most.sum() - least.sum(),
                grouped((1e9 / worst_ns) as u64),
            ),
        };
        let source = match self.is_fd() {
            false => "ISO 11898-1; worst case: Davis, Burns, Bril, Lukkien 2007, equation 1",
            true => "ISO 11898-1:2015; worst case: Linux, include/linux/can/length.h",
        };
        let mut notes = vec![
            "Best case: no stuff bits. Worst case: one behind the first five bits and behind every four more. The real \
             number depends on identifier and data."
                .to_owned(),
            "One bus for all nodes and both directions. Error frames, retransmission and lost arbitration take \
             additional time."
                .to_owned(),
        ];
        if self.is_fd() {
            notes.push(
                "The bits of the switch itself (BRS, CRC delimiter) count at the rate of the part that they end."
                    .to_owned(),
            );
        }
        Limit {
            bytes_s: bytes * 1e9 / best_ns,
            messages_s: 1e9 / best_ns,
            message_ns: best_ns,
            raw_bytes_s: f64::from(self.rates.data.unwrap_or(self.rates.nominal)) / 8.0,
            shared: true,
            formula,
            source: format!(
                "{kind}, {ids}-bit identifiers, {} B a frame ({source})",
                self.bytes
            ),
            notes,
        }
    }
}

/// Bits of the control field of CAN FD behind the switch: ESI and DLC.
const CONTROL_DATA: u32 = 5;

/// Bits from the start of frame to the data (ISO 11898-1:2015, 10.4.2).
fn header(extended: bool, fd: bool) -> u32 {
    match (fd, extended) {
        // SOF, identifier 11, RTR, IDE, FDF (r0), DLC 4.
        (false, false) => 19,
        // SOF, 11, SRR, IDE, 18, RTR, FDF (r1), r0, DLC 4.
        (false, true) => 39,
        // SOF, 11, RRS, IDE, FDF, res, BRS, ESI, DLC 4.
        (true, false) => 22,
        // SOF, 11, SRR, IDE, 18, RRS, FDF, res, BRS, ESI, DLC 4.
        (true, true) => 41,
    }
}

/// Stuff count 4, CRC, its fixed stuff bits (one in front and one behind every fourth bit), delimiter.
fn fd_check(bytes: u32) -> u32 {
    let crc = if bytes <= 16 { 17 } else { 21 };
    let counted = 4 + crc;
    counted + 1 + counted / 4 + 1
}

/// A frame with so many stuff bits in arbitration (in all of a classic one) and in the data phase.
pub(crate) fn frame(extended: bool, fd: bool, bytes: u32, stuff: u32, data_stuff: u32) -> CanBits {
    let (header, payload) = (header(extended, fd), 8 * bytes);
    match fd {
        false => CanBits {
            nominal: header + payload + 15 + 1 + FOOTER + INTERMISSION + stuff,
            data: 0,
        },
        true => CanBits {
            nominal: header - CONTROL_DATA + FOOTER + INTERMISSION + stuff,
            data: CONTROL_DATA + payload + fd_check(bytes) + data_stuff,
        },
    }
}
