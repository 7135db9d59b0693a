//! FTDI's FT232R: its vendor requests as Linux's ftdi_sio and libftdi make them, and the two status bytes at the head of
//! each packet to the host (FT232R data sheet; AN232B-04, AN232B-05).

use super::packets::Rule;
use super::port::Port;
use super::uart::Format;
use crate::usb_virtual::control::Answer;

/// Bytes of data in a packet: two of its 64 bytes are status.
pub const PACKET_DATA: usize = 62;

/// Default of the latency timer, in milliseconds (AN232B-04).
const LATENCY_MS: u8 = 16;

// bRequest.
const RESET: u8 = 0x00;
const SET_MODEM_CTRL: u8 = 0x01;
const SET_FLOW_CTRL: u8 = 0x02;
const SET_BAUD_RATE: u8 = 0x03;
const SET_DATA: u8 = 0x04;
const GET_MODEM_STATUS: u8 = 0x05;
const SET_EVENT_CHAR: u8 = 0x06;
const SET_ERROR_CHAR: u8 = 0x07;
const SET_LATENCY_TIMER: u8 = 0x09;
const GET_LATENCY_TIMER: u8 = 0x0a;
const SET_BIT_MODE: u8 = 0x0b;
const READ_EEPROM: u8 = 0x90;

const TO_DEVICE: u8 = 0x40;
const FROM_DEVICE: u8 = 0xc0;

// First status byte: the modem lines; bit 0 is always set.
const ALWAYS: u8 = 0x01;
const CTS: u8 = 0x10;
const DSR: u8 = 0x20;
const DCD: u8 = 0x80;
// Second status byte.
const OVERRUN: u8 = 0x02;
const HOLDING_EMPTY: u8 = 0x20;
const TRANSMITTER_EMPTY: u8 = 0x40;

/// The words of the EEPROM that are not zero: vendor, product and release, and the functions of the CBUS pins as they
/// are delivered (TXLED, RXLED, TXDEN, PWREN; FT232R data sheet, table 8.1).
const EEPROM: [(u16, u16); 4] = [(1, 0x0403), (2, 0x6001), (3, 0x0600), (0x0a, 0x1023)];

/// Eighths of the divisor by the three bits of its fraction (AN232B-05, table 3.1 read backwards).
const EIGHTHS: [u32; 8] = [0, 4, 2, 1, 3, 5, 6, 7];

/// The state of the chip beside that of its port.
#[derive(Debug)]
pub struct Ftdi {
    latency_ms: u8,
    event: Option<u8>,
}

impl Default for Ftdi {
    fn default() -> Ftdi {
        Ftdi {
            latency_ms: LATENCY_MS,
            event: None,
        }
    }
}

impl Ftdi {
    /// When packets go.
    pub fn rule(&self) -> Rule {
        Rule::Timer {
            latency_ns: u64::from(self.latency_ms) * 1_000_000,
            event: self.event,
        }
    }

    /// The status bytes; reading clears what was lost.
    pub fn status(&self, port: &mut Port) -> [u8; 2] {
        let lines = match port.is_dtr() {
            true => DSR | DCD,
            false => 0,
        };
        let lost = std::mem::take(&mut port.is_overrun);
        let empty = match port.is_sending() {
            false => HOLDING_EMPTY | TRANSMITTER_EMPTY,
            true => 0,
        };
        [ALWAYS | CTS | lines, empty | if lost { OVERRUN } else { 0 }]
    }

    /// Answers a vendor request.
    pub fn answer(&mut self, port: &mut Port, setup: [u8; 8], now_ns: u64) -> Answer {
        let value = u16::from_le_bytes([setup[2], setup[3]]);
        let index = u16::from_le_bytes([setup[4], setup[5]]);
        match (setup[0], setup[1]) {
            (TO_DEVICE, RESET) => {
                // Named as in libftdi: 1 flushes what the host sent, 2 what it has not received.
                if value != 2 {
                    port.purge_sent();
                }
                if value != 1 {
                    port.purge_received(now_ns);
                }
            }
            (TO_DEVICE, SET_MODEM_CTRL) => {
                // The high byte says which of the lines are set.
                if value & 0x0100 != 0 {
                    return port.set_dtr(value & 1 != 0, now_ns);
                }
            }
            (TO_DEVICE, SET_FLOW_CTRL) => port.has_flow_control = index & 0x0100 != 0,
            (TO_DEVICE, SET_BAUD_RATE) => match baud(value, index) {
                Some(baud) => port.format.baud = baud,
                None => return Answer::Stall,
            },
            (TO_DEVICE, SET_DATA) => {
                port.format = Format {
                    data_bits: value as u8 & 0x0f,
                    has_parity: value >> 8 & 7 != 0,
                    stop_halves: 2 + (value >> 11 & 3).min(2) as u8,
                    ..port.format
                };
            }
            (TO_DEVICE, SET_EVENT_CHAR) => {
                self.event = (value & 0x100 != 0).then_some(value as u8);
            }
            (TO_DEVICE, SET_LATENCY_TIMER) if (1..=255).contains(&value) => {
                self.latency_ms = value as u8;
            }
            (TO_DEVICE, SET_ERROR_CHAR | SET_BIT_MODE) => {}
            (FROM_DEVICE, GET_MODEM_STATUS) => return Answer::Data(self.status(port).to_vec()),
            (FROM_DEVICE, GET_LATENCY_TIMER) => return Answer::Data(vec![self.latency_ms]),
            (FROM_DEVICE, READ_EEPROM) => {
                let word = EEPROM.iter().find(|(at, _)| *at == index);
                let word = word.map_or(0, |(_, word)| *word);
                return Answer::Data(word.to_le_bytes().to_vec());
            }
            _ => return Answer::Stall,
        }
        Answer::done()
    }
}

/// The baud rate of a divisor: 3 MHz divided by 14 bits and eighths; 0 and 1 stand for 1 and 1.5 (AN232B-05).
fn baud(value: u16, index: u16) -> Option<u32> {
    let whole = u32::from(value & 0x3fff);
    let fraction = EIGHTHS[usize::from(value >> 14 | (index & 1) << 2)];
    let eighths = match (whole, fraction) {
        (0, 0) => 8,
        (1, 0) => 12,
        _ => 8 * whole + fraction,
    };
    (eighths >= 8).then(|| 24_000_000 / eighths)
}

#[cfg(test)]
mod tests {
    use super::super::packets::Packets;
    use super::*;

    fn port() -> Port {
        let packets = Packets::new(Ftdi::default().rule(), 256, PACKET_DATA);
        Port::new(Format::new(9_600), 128, 64, packets)
    }

    #[test]
    fn divisors_of_ftdi_sio_give_the_rates_within_three_percent() {
        // value and index as Linux's driver makes them for a clock of 48 MHz.
        for (value, index, rate) in [
            (0x2710, 0, 300),
            (0x04e2, 0, 2_400),
            (0x4138, 0, 9_600),
            (0xc04e, 0, 38_400),
            (0x0034, 0, 57_600),
            (0x001a, 0, 115_200),
            (0x000d, 0, 230_400),
            (0x4006, 0, 460_800),
            (0x8003, 0, 921_600),
            (0x0003, 0, 1_000_000),
            (0x0001, 0, 2_000_000),
            (0x0000, 0, 3_000_000),
        ] {
            let made = baud(value, index).unwrap();
            let off = (f64::from(made) / f64::from(rate) - 1.0).abs();
            assert!(off < 0.03, "{rate}: {made}");
        }
        // The third bit of the fraction stands in wIndex: 3 + 3/8.
        assert_eq!(baud(3, 1), Some(24_000_000 / 27));
        assert_eq!(baud(0x4000, 0), None);
    }

    #[test]
    fn the_latency_timer_is_set_and_read_and_zero_is_refused() {
        let (mut chip, mut port) = (Ftdi::default(), port());
        let get = [0xc0, 0x0a, 0, 0, 0, 0, 1, 0];
        assert_eq!(chip.answer(&mut port, get, 0), Answer::Data(vec![16]));
        let set = |ms| [0x40, 0x09, ms, 0, 0, 0, 0, 0];
        assert_eq!(chip.answer(&mut port, set(0), 0), Answer::Stall);
        assert_eq!(chip.answer(&mut port, set(1), 0), Answer::done());
        assert_eq!(chip.answer(&mut port, get, 0), Answer::Data(vec![1]));
        let rule = Rule::Timer {
            latency_ns: 1_000_000,
            event: None,
        };
        assert_eq!(chip.rule(), rule);
    }

    #[test]
    fn data_bits_parity_and_stop_bits_are_those_of_the_request() {
        let (mut chip, mut port) = (Ftdi::default(), port());
        // 7 data bits, even parity, 2 stop bits.
        chip.answer(&mut port, [0x40, 0x04, 7, 0x12, 0, 0, 0, 0], 0);
        let expected = Format {
            baud: 9_600,
            data_bits: 7,
            has_parity: true,
            stop_halves: 4,
        };
        assert_eq!(port.format, expected);
    }

    #[test]
    fn the_status_shows_lines_a_busy_transmitter_and_once_what_was_lost() {
        let (chip, mut port) = (Ftdi::default(), port());
        assert_eq!(chip.status(&mut port), [0x11, 0x60]);
        port.set_dtr(true, 0);
        port.is_overrun = true;
        port.send(b"x", 0);
        assert_eq!(chip.status(&mut port), [0xb1, 0x02]);
        assert_eq!(chip.status(&mut port), [0xb1, 0x00]);
    }

    #[test]
    fn the_event_character_needs_its_enable_bit() {
        let (mut chip, mut port) = (Ftdi::default(), port());
        let set = |high| [0x40, 0x06, b'\n', high, 0, 0, 0, 0];
        chip.answer(&mut port, set(1), 0);
        let event = |chip: &Ftdi| match chip.rule() {
            Rule::Timer { event, .. } => event,
            rule => panic!("{rule:?}"),
        };
        assert_eq!(event(&chip), Some(b'\n'));
        chip.answer(&mut port, set(0), 0);
        assert_eq!(event(&chip), None);
    }

    #[test]
    fn the_eeprom_names_the_chip_and_what_is_unknown_is_stalled() {
        let (mut chip, mut port) = (Ftdi::default(), port());
        let mut asked = |setup| chip.answer(&mut port, setup, 0);
        let read = |word| [0xc0, 0x90, 0, 0, word, 0, 2, 0];
        assert_eq!(asked(read(2)), Answer::Data(vec![0x01, 0x60]));
        assert_eq!(asked(read(9)), Answer::Data(vec![0, 0]));
        assert_eq!(asked([0x40, 0x55, 0, 0, 0, 0, 0, 0]), Answer::Stall);
    }
}
