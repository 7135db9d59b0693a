//! Silicon Labs' CP2102: the requests of AN571 that Linux's cp210x makes. Packets have no status bytes.

use super::port::Port;
use super::uart::Format;
use crate::usb_virtual::control::Answer;

/// Bytes of the FIFO to the host and of that from it (CP2102 data sheet, 1).
pub const FIFOS: [usize; 2] = [576, 640];

/// Part number that the chip gives (AN571, 5.27).
const PART: u8 = 0x02;

// bRequest (AN571, table 3).
const IFC_ENABLE: u8 = 0x00;
const SET_BAUDDIV: u8 = 0x01;
const SET_LINE_CTL: u8 = 0x03;
const GET_LINE_CTL: u8 = 0x04;
const SET_BREAK: u8 = 0x05;
const SET_MHS: u8 = 0x07;
const GET_MDMSTS: u8 = 0x08;
const GET_COMM_STATUS: u8 = 0x10;
const PURGE: u8 = 0x12;
const SET_FLOW: u8 = 0x13;
const GET_FLOW: u8 = 0x14;
const SET_CHARS: u8 = 0x19;
const GET_BAUDRATE: u8 = 0x1d;
const SET_BAUDRATE: u8 = 0x1e;
const VENDOR_SPECIFIC: u8 = 0xff;

/// wValue of [`VENDOR_SPECIFIC`].
const GET_PARTNUM: u16 = 0x370b;

const TO_INTERFACE: u8 = 0x41;
const FROM_INTERFACE: u8 = 0xc1;
const FROM_DEVICE: u8 = 0xc0;

// Modem status.
const DTR: u8 = 0x01;
const RTS: u8 = 0x02;
const CTS: u8 = 0x10;
const DSR: u8 = 0x20;
const DCD: u8 = 0x80;

/// Errors of GET_COMM_STATUS: the queue to the host overran.
const QUEUE_OVERRUN: u32 = 0x08;

/// RTS modes in the flow word of replacements (AN571, 5.24): by the FIFO.
const RTS_MASK: u32 = 0xc0;
const RTS_BY_FIFO: u32 = 0x80;

/// The clock that the generator divides.
const CLOCK: u64 = 48_000_000;

/// The state of the chip beside that of its port.
#[derive(Debug, Default)]
pub struct Cp210x {
    line_control: u16,
    flow: [u8; 16],
    rts: bool,
}

impl Cp210x {
    /// Answers a vendor request.
    pub fn answer(&mut self, port: &mut Port, setup: [u8; 8], data: &[u8], now_ns: u64) -> Answer {
        let value = u16::from_le_bytes([setup[2], setup[3]]);
        match (setup[0], setup[1]) {
            (FROM_DEVICE, VENDOR_SPECIFIC) if value == GET_PARTNUM => Answer::Data(vec![PART]),
            (TO_INTERFACE, IFC_ENABLE) => {
                port.purge_sent();
                port.purge_received(now_ns);
                Answer::done()
            }
            (TO_INTERFACE, SET_BAUDDIV) => set_baud(port, 3_686_400 / u32::from(value.max(1))),
            (TO_INTERFACE, SET_BAUDRATE) => match data.try_into() {
                Ok(baud) => set_baud(port, u32::from_le_bytes(baud)),
                Err(_) => Answer::Stall,
            },
            (FROM_INTERFACE, GET_BAUDRATE) => Answer::Data(port.format.baud.to_le_bytes().to_vec()),
            (TO_INTERFACE, SET_LINE_CTL) => self.set_line_control(port, value),
            (FROM_INTERFACE, GET_LINE_CTL) => {
                Answer::Data(self.line_control.to_le_bytes().to_vec())
            }
            (TO_INTERFACE, SET_MHS) => {
                // The high byte says which of the lines are set.
                if value & 0x0200 != 0 {
                    self.rts = value & 2 != 0;
                }
                match value & 0x0100 {
                    0 => Answer::done(),
                    _ => port.set_dtr(value & 1 != 0, now_ns),
                }
            }
            (TO_INTERFACE, SET_FLOW) => match data.try_into() {
                Ok(flow) => {
                    self.flow = flow;
                    let word = |at: usize| {
                        let bytes = [flow[at], flow[at + 1], flow[at + 2], flow[at + 3]];
                        u32::from_le_bytes(bytes)
                    };
                    port.has_flow_control = word(4) & RTS_MASK == RTS_BY_FIFO;
                    port.set_dtr(word(0) & 3 == 1, now_ns)
                }
                Err(_) => Answer::Stall,
            },
            (FROM_INTERFACE, GET_FLOW) => Answer::Data(self.flow.to_vec()),
            (FROM_INTERFACE, GET_MDMSTS) => {
                let lines = match port.is_dtr() {
                    true => DTR | DSR | DCD,
                    false => 0,
                };
                let rts = if self.rts { RTS } else { 0 };
                Answer::Data(vec![CTS | lines | rts])
            }
            (FROM_INTERFACE, GET_COMM_STATUS) => Answer::Data(status(port)),
            (TO_INTERFACE, PURGE) => {
                if value & 0x05 != 0 {
                    port.purge_sent();
                }
                if value & 0x0a != 0 {
                    port.purge_received(now_ns);
                }
                Answer::done()
            }
            (TO_INTERFACE, SET_BREAK | SET_CHARS) => Answer::done(),
            _ => Answer::Stall,
        }
    }

    /// Stop bits, parity and data bits (AN571, 5.7).
    fn set_line_control(&mut self, port: &mut Port, value: u16) -> Answer {
        let (stop, data_bits) = (value & 0x0f, (value >> 8) as u8);
        if stop > 2 || !(5..=8).contains(&data_bits) {
            return Answer::Stall;
        }
        self.line_control = value;
        port.format = Format {
            data_bits,
            has_parity: value & 0xf0 != 0,
            stop_halves: 2 + stop as u8,
            ..port.format
        };
        Answer::done()
    }
}

/// ulErrors, ulHoldReasons, ulAmountInInQueue, ulAmountInOutQueue, three bytes of flags (AN571, 5.21).
fn status(port: &mut Port) -> Vec<u8> {
    let lost = std::mem::take(&mut port.is_overrun);
    let errors = if lost { QUEUE_OVERRUN } else { 0 };
    let words = [
        errors,
        0,
        port.packets.len() as u32,
        port.sent_left() as u32,
    ];
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.extend([0; 3]);
    bytes
}

/// The generator's rate nearest to this one (AN571, 5.5).
fn set_baud(port: &mut Port, asked: u32) -> Answer {
    if !(1..=3_000_000).contains(&asked) {
        return Answer::Stall;
    }
    let asked = u64::from(asked);
    let step = if asked <= 365 { 8 } else { 2 };
    let divisor = ((CLOCK + step * asked / 2) / (step * asked)).max(1);
    port.format.baud = (CLOCK / (step * divisor)) as u32;
    Answer::done()
}

#[cfg(test)]
mod tests {
    use super::super::packets::{Packets, Rule};
    use super::*;
    use crate::usb_virtual::control::Effect;

    fn port() -> Port {
        let packets = Packets::new(Rule::Idle, FIFOS[0], 64);
        Port::new(Format::new(9_600), FIFOS[1], 64, packets)
    }

    #[test]
    fn standard_rates_are_met_within_three_percent() {
        let (mut chip, mut port) = (Cp210x::default(), port());
        for rate in [
            300_u32, 1_200, 9_600, 38_400, 57_600, 115_200, 230_400, 460_800, 921_600,
        ] {
            let set = [0x41, 0x1e, 0, 0, 0, 0, 4, 0];
            let answer = chip.answer(&mut port, set, &rate.to_le_bytes(), 0);
            assert_eq!(answer, Answer::done());
            let off = (f64::from(port.format.baud) / f64::from(rate) - 1.0).abs();
            assert!(off < 0.03, "{rate}: {}", port.format.baud);
        }
    }

    #[test]
    fn it_gives_its_part_number_and_stalls_what_only_copies_of_it_answer() {
        let (mut chip, mut port) = (Cp210x::default(), port());
        let get = [0xc0, 0xff, 0x0b, 0x37, 0, 0, 1, 0];
        assert_eq!(chip.answer(&mut port, get, &[], 0), Answer::Data(vec![2]));
        let quirk = [0xc0, 0xff, 0x0e, 0x00, 0, 0, 2, 0];
        assert_eq!(chip.answer(&mut port, quirk, &[], 0), Answer::Stall);
    }

    #[test]
    fn line_control_is_kept_and_nonsense_is_stalled() {
        let (mut chip, mut port) = (Cp210x::default(), port());
        let set = |low, high| [0x41, 0x03, low, high, 0, 0, 0, 0];
        assert_eq!(chip.answer(&mut port, set(0x22, 7), &[], 0), Answer::done());
        let expected = Format {
            baud: 9_600,
            data_bits: 7,
            has_parity: true,
            stop_halves: 4,
        };
        assert_eq!(port.format, expected);
        assert_eq!(chip.answer(&mut port, set(0x00, 9), &[], 0), Answer::Stall);
        let get = [0xc1, 0x04, 0, 0, 0, 0, 2, 0];
        let answer = chip.answer(&mut port, get, &[], 0);
        assert_eq!(answer, Answer::Data(vec![0x22, 7]));
    }

    #[test]
    fn the_status_counts_bytes_and_dtr_is_a_new_peer_once() {
        let (mut chip, mut port) = (Cp210x::default(), port());
        port.send(b"abc", 0);
        let get = [0xc1, 0x10, 0, 0, 0, 0, 19, 0];
        let Answer::Data(status) = chip.answer(&mut port, get, &[], 0) else {
            panic!("stalled");
        };
        assert_eq!((status.len(), status[12]), (19, 3));
        let raise = [0x41, 0x07, 3, 3, 0, 0, 0, 0];
        let reset = Answer::Done(Effect::Reset(0));
        assert_eq!(chip.answer(&mut port, raise, &[], 0), reset);
        assert_eq!(chip.answer(&mut port, raise, &[], 0), Answer::done());
        let lines = [0xc1, 0x08, 0, 0, 0, 0, 1, 0];
        let answer = chip.answer(&mut port, lines, &[], 0);
        assert_eq!(answer, Answer::Data(vec![0xb3]));
    }
}
