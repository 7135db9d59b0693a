//! An asynchronous serial line: a start bit, data, parity and stop bits for every byte.

use crate::limit::Limit;
use crate::refused::Refused;
use std::fmt;
use std::str::FromStr;
use wiregauge_quantity::grouped;

/// The bit that checks the data bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parity {
    /// There is none.
    None,
    /// An even number of ones.
    Even,
    /// An odd number of ones.
    Odd,
    /// Always one.
    Mark,
    /// Always zero.
    Space,
}

/// How long the line rests between two bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopBits {
    /// One bit's time.
    One,
    /// One and a half, as 16550s send with 5 data bits where 2 are asked for.
    OneAndHalf,
    /// Two.
    Two,
}

/// What stands around the bits of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// Data bits, 5 to 9.
    pub data_bits: u8,
    /// The bit that checks them.
    pub parity: Parity,
    /// What ends it.
    pub stop_bits: StopBits,
}

impl Framing {
    /// 8 data bits, no parity, 1 stop bit.
    pub const EIGHT_N_ONE: Framing = Framing {
        data_bits: 8,
        parity: Parity::None,
        stop_bits: StopBits::One,
    };

    /// Bit times of one byte, the start bit included.
    pub fn bits(self) -> f64 {
        let parity = if self.parity == Parity::None {
            0.0
        } else {
            1.0
        };
        let stop = match self.stop_bits {
            StopBits::One => 1.0,
            StopBits::OneAndHalf => 1.5,
            StopBits::Two => 2.0,
        };
        1.0 + f64::from(self.data_bits) + parity + stop
    }
}

impl fmt::Display for Framing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parity = match self.parity {
            Parity::None => 'N',
            Parity::Even => 'E',
            Parity::Odd => 'O',
            Parity::Mark => 'M',
            Parity::Space => 'S',
        };
        let stop = match self.stop_bits {
            StopBits::One => "1",
            StopBits::OneAndHalf => "1.5",
            StopBits::Two => "2",
        };
        write!(f, "{}{parity}{stop}", self.data_bits)
    }
}

impl FromStr for Framing {
    type Err = Refused;

    fn from_str(text: &str) -> Result<Framing, Refused> {
        let read = || {
            let mut letters = text.chars();
            let data_bits = letters.next()?.to_digit(10)?;
            let data_bits = u8::try_from(data_bits)
                .ok()
                .filter(|bits| (5..=9).contains(bits))?;
            let parity = match letters.next()?.to_ascii_uppercase() {
                'N' => Parity::None,
                'E' => Parity::Even,
                'O' => Parity::Odd,
                'M' => Parity::Mark,
                'S' => Parity::Space,
                _ => return None,
            };
            let stop_bits = match letters.as_str() {
                "1" => StopBits::One,
                "1.5" => StopBits::OneAndHalf,
                "2" => StopBits::Two,
                _ => return None,
            };
            Some(Framing {
                data_bits,
                parity,
                stop_bits,
            })
        };
        read().ok_or_else(|| Refused::Framing { text: text.into() })
    }
}

/// A line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uart {
    /// Bits a second, rests included.
    pub baud: u32,
    /// What stands around a byte.
    pub framing: Framing,
}

impl Uart {
    /// Refuses a line that carries nothing.
    pub fn check(&self) -> Result<(), Refused> {
        match self.baud {
            0 => Err(Refused::Baud),
            _ => Ok(()),
        }
    }

    /// Least time from the first start bit of so many bytes to the end of their last stop bit.
    pub fn message_ns(&self, bytes: u64) -> f64 {
        bytes as f64 * self.framing.bits() * 1e9 / f64::from(self.baud)
    }

    /// Least time of an exchange: the request on one line, then the answer on the other.
    pub fn exchange_ns(&self, out: u64, in_: u64) -> f64 {
        self.message_ns(out) + self.message_ns(in_)
    }

    /// What each direction carries.
    pub fn limit(&self) -> Limit {
        let bits = self.framing.bits();
        let baud = f64::from(self.baud);
        let bytes_s = baud / bits;
        let mut notes = vec![
            "Both directions at once, each on its own wire; handshakes and gaps between bytes take additional \
             time."
                .to_owned(),
        ];
        if self.framing.data_bits < 8 {
            notes.push(format!(
                "Each byte carries {} bits of data.",
                self.framing.data_bits
            ));
        }
        Limit {
            bytes_s,
            messages_s: bytes_s,
            message_ns: self.message_ns(1),
            raw_bytes_s: baud / 8.0,
            shared: false,
            formula: format!(
                "{} baud / {bits} bits on the line per byte = {} B/s",
                grouped(baud.round() as u64),
                grouped(bytes_s.round() as u64)
            ),
            source: format!(
                "UART at {} baud, {}: {bits} bits on the line per byte",
                self.baud, self.framing
            ),
            notes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_of_8n1_takes_ten_bits_and_one_of_8e2_takes_twelve() {
        let line = |framing: &str| Uart {
            baud: 115_200,
            framing: framing.parse().unwrap(),
        };
        assert_eq!(line("8N1").limit().bytes_s, 11_520.0);
        assert_eq!(line("8e2").limit().bytes_s, 9_600.0);
        assert_eq!(line("5N1.5").framing.bits(), 7.5);
        assert_eq!(line("8N1").limit().efficiency(), 0.8);
    }

    #[test]
    fn an_exchange_takes_the_time_of_its_bytes_on_the_line() {
        let line = Uart {
            baud: 1_000_000,
            framing: Framing::EIGHT_N_ONE,
        };
        assert_eq!(line.exchange_ns(16, 64), 800_000.0);
    }

    #[test]
    fn a_framing_reads_back_as_it_is_written() {
        for text in ["8N1", "7E1", "7O2", "9M1", "5S1.5"] {
            assert_eq!(text.parse::<Framing>().unwrap().to_string(), text);
        }
        for text in ["", "8", "8N", "4N1", "8X1", "8N3", "8N1 ", "ÄN1", "88N1"] {
            assert!(text.parse::<Framing>().is_err(), "{text}");
        }
    }
}
