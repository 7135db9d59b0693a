//! WCH's CH340 and CH341: the requests and registers that Linux's ch341 uses; there is no public document of them.

use super::packets::Rule;
use super::port::Port;
use super::uart::Format;
use crate::usb_virtual::control::Answer;

/// Largest packet of its bulk endpoints.
pub const PACKET: usize = 32;

/// Version that the chip gives; from 0x30 on the line control register takes data, parity and stop bits.
const VERSION: u8 = 0x31;

// bRequest.
const READ_VERSION: u8 = 0x5f;
const READ_REGISTERS: u8 = 0x95;
const WRITE_REGISTERS: u8 = 0x9a;
const SERIAL_INIT: u8 = 0xa1;
const MODEM_CONTROL: u8 = 0xa4;

// Registers.
const STATUS: u8 = 0x06;
const PRESCALER: u8 = 0x12;
const DIVISOR: u8 = 0x13;
const LINE_CONTROL: u8 = 0x18;
const FLOW_CONTROL: u8 = 0x27;

const TO_DEVICE: u8 = 0x40;
const FROM_DEVICE: u8 = 0xc0;

/// Of the prescaler: packets need not be full ("CH341A buffers data until a full endpoint-size packet (32 bytes) has
/// been received unless bit 7 is set", drivers/usb/serial/ch341.c).
const NOT_FULL_ONLY: u8 = 0x80;

// Modem status, inverted on the wire.
const CTS: u8 = 0x01;
const DSR: u8 = 0x02;
const DCD: u8 = 0x08;

/// Of the modem control request, inverted.
const DTR: u16 = 0x20;

/// The clock that prescaler and divisor divide.
const CLOCK: u32 = 48_000_000;

/// The state of the chip beside that of its port.
#[derive(Debug)]
pub struct Ch341 {
    registers: Box<[u8; 256]>,
}

impl Default for Ch341 {
    fn default() -> Ch341 {
        Ch341 {
            registers: Box::new([0; 256]),
        }
    }
}

impl Ch341 {
    /// When packets go.
    pub fn rule(&self) -> Rule {
        match self.registers[usize::from(PRESCALER)] & NOT_FULL_ONLY {
            0 => Rule::Full,
            _ => Rule::Idle,
        }
    }

    /// What its interrupt endpoint sends when a modem line changes.
    pub fn notice(&self, port: &Port) -> [u8; 4] {
        [0x08, 0x7d, lines(port), 0xee]
    }

    /// Answers a vendor request.
    pub fn answer(&mut self, port: &mut Port, setup: [u8; 8], now_ns: u64) -> Answer {
        let value = u16::from_le_bytes([setup[2], setup[3]]);
        match (setup[0], setup[1]) {
            (FROM_DEVICE, READ_VERSION) => Answer::Data(vec![VERSION, 0]),
            // Two registers at once; the second may be none (0).
            (FROM_DEVICE, READ_REGISTERS) => {
                let read = |at: u8| match at {
                    STATUS => lines(port),
                    at => self.registers[usize::from(at)],
                };
                Answer::Data(vec![read(setup[2]), read(setup[3])])
            }
            (TO_DEVICE, WRITE_REGISTERS) => {
                for (register, byte) in [(setup[2], setup[4]), (setup[3], setup[5])] {
                    self.registers[usize::from(register)] = byte;
                }
                self.set_line(port)
            }
            (TO_DEVICE, SERIAL_INIT) => {
                port.purge_sent();
                port.purge_received(now_ns);
                Answer::done()
            }
            (TO_DEVICE, MODEM_CONTROL) => port.set_dtr(!value & DTR != 0, now_ns),
            _ => Answer::Stall,
        }
    }

    fn set_line(&self, port: &mut Port) -> Answer {
        let [prescaler, divisor, control] =
            [PRESCALER, DIVISOR, LINE_CONTROL].map(|at| self.registers[usize::from(at)]);
        if let Some(baud) = baud(prescaler, divisor) {
            port.format.baud = baud;
        }
        port.format = Format {
            data_bits: 5 + (control & 0x03),
            has_parity: control & 0x08 != 0,
            stop_halves: if control & 0x04 != 0 { 4 } else { 2 },
            ..port.format
        };
        port.has_flow_control = self.registers[usize::from(FLOW_CONTROL)] & 0x01 != 0;
        Answer::done()
    }
}

/// Modem status as the chip sends it: a set bit is an inactive line.
fn lines(port: &Port) -> u8 {
    !match port.is_dtr() {
        true => CTS | DSR | DCD,
        false => CTS,
    }
}

/// The rate that prescaler and divisor make of the clock; the driver writes 256 less than the divisor.
fn baud(prescaler: u8, divisor: u8) -> Option<u32> {
    let (ps, fact) = (u32::from(prescaler & 3), u32::from(prescaler >> 2 & 1));
    let divisor = 0x100 - u32::from(divisor);
    let clocks = (1 << (12 - 3 * ps - fact)) * divisor;
    (divisor >= 2).then(|| CLOCK / clocks)
}

#[cfg(test)]
mod tests {
    use super::super::packets::Packets;
    use super::*;

    fn port() -> Port {
        let packets = Packets::new(Rule::Full, 2 * PACKET, PACKET);
        Port::new(Format::new(9_600), 2 * PACKET, PACKET, packets)
    }

    #[test]
    fn registers_written_by_the_driver_give_the_rates_within_three_percent() {
        // Divisor and prescaler as drivers/usb/serial/ch341.c computes them, with bit 7 set.
        for (divisor, prescaler, rate) in [
            (0xd9, 0x80, 300),
            (0xb2, 0x81, 1_200),
            (0xb2, 0x82, 9_600),
            (0xd9, 0x86, 38_400),
            (0x98, 0x83, 57_600),
            (0xcc, 0x83, 115_200),
            (0xe6, 0x83, 230_400),
            (0xf3, 0x83, 460_800),
            (0xf3, 0x87, 921_600),
        ] {
            let made = baud(prescaler, divisor).unwrap();
            let off = (f64::from(made) / f64::from(rate) - 1.0).abs();
            assert!(off < 0.03, "{rate}: {made}");
        }
        assert_eq!(baud(0x83, 0xff), None);
    }

    #[test]
    fn the_probe_of_the_driver_is_answered() {
        let (mut chip, mut port) = (Ch341::default(), port());
        for (name, setup, expected) in [
            ("version", [0xc0, 0x5f, 0, 0, 0, 0, 2, 0], [0x31, 0]),
            ("status", [0xc0, 0x95, 0x06, 0x07, 0, 0, 2, 0], [0xfe, 0]),
            // It shows that the prescaler is not limited.
            ("break", [0xc0, 0x95, 0x05, 0x00, 0, 0, 2, 0], [0, 0]),
        ] {
            let answer = chip.answer(&mut port, setup, 0);
            assert_eq!(answer, Answer::Data(expected.to_vec()), "{name}");
        }
    }

    #[test]
    fn bit_seven_of_the_prescaler_sends_packets_that_are_not_full() {
        let (mut chip, mut port) = (Ch341::default(), port());
        assert_eq!(chip.rule(), Rule::Full);
        chip.answer(&mut port, [0x40, 0x9a, 0x12, 0x13, 0x83, 0xcc, 0, 0], 0);
        assert_eq!((chip.rule(), port.format.baud), (Rule::Idle, 115_384));
        // 8 data bits, even parity, 2 stop bits; enable bits.
        chip.answer(&mut port, [0x40, 0x9a, 0x18, 0x25, 0xdf, 0, 0, 0], 0);
        let format = port.format;
        let found = (format.data_bits, format.has_parity, format.stop_halves);
        assert_eq!(found, (8, true, 4));
    }

    #[test]
    fn the_lines_are_inverted_and_follow_dtr() {
        let (mut chip, mut port) = (Ch341::default(), port());
        chip.answer(&mut port, [0x40, 0xa4, 0x9f, 0xff, 0, 0, 0, 0], 0);
        assert!(port.is_dtr());
        assert_eq!(chip.notice(&port), [0x08, 0x7d, 0xf4, 0xee]);
    }
}
