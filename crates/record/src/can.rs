//! What a CAN link is asked for: identifiers, format, ISO-TP.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The largest identifier of 11 bits.
const STANDARD: u32 = 0x7ff;

/// The largest identifier of 29 bits.
const EXTENDED: u32 = 0x1fff_ffff;

/// An identifier of a CAN frame. Written as in candump: hexadecimal, 3 digits with 11 bits, 8 digits with 29 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CanId {
    number: u32,
    extended: bool,
}

impl CanId {
    /// An identifier, unless it is out of range.
    pub fn new(number: u32, extended: bool) -> Option<CanId> {
        let most = if extended { EXTENDED } else { STANDARD };
        (number <= most).then_some(CanId { number, extended })
    }

    /// Its number.
    pub fn number(self) -> u32 {
        self.number
    }

    /// True if it has 29 bits.
    pub fn is_extended(self) -> bool {
        self.extended
    }
}

impl fmt::Display for CanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.extended {
            true => write!(f, "{:08x}", self.number),
            false => write!(f, "{:03x}", self.number),
        }
    }
}

impl FromStr for CanId {
    type Err = String;

    fn from_str(text: &str) -> Result<CanId, String> {
        let digits = text
            .strip_prefix("0x")
            .or(text.strip_prefix("0X"))
            .unwrap_or(text);
        let is_hex = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let number = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex);
        let Some(number) = number else {
            return Err(format!(
                "`{text}` is not a CAN identifier: hexadecimal, such as 7e0 or 18da10f1"
            ));
        };
        // As can-utils: 8 digits are 29 bits, even with zeros in front.
        CanId::new(number, digits.len() == 8 || number > STANDARD).ok_or_else(|| {
            format!("{text} is out of range: CAN identifiers are 0 to 7ff (11 bits) or 00000000 to 1fffffff (29 bits)")
        })
    }
}

impl TryFrom<String> for CanId {
    type Error = String;

    fn try_from(text: String) -> Result<CanId, String> {
        text.parse()
    }
}

impl From<CanId> for String {
    fn from(id: CanId) -> String {
        id.to_string()
    }
}

/// Options of ISO-TP (ISO 15765-2), whose messages have up to 4,095 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IsoTp {
    /// Frames are filled up with this byte; `None`: they are as short as they can be.
    pub padding: Option<u8>,
    /// Frames that the peer may send before it waits for a flow control frame; 0: all.
    pub block_size: u8,
    /// Least time between two frames of the peer (STmin), in nanoseconds.
    pub st_min_ns: u64,
}

/// What a CAN link is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanOptions {
    /// Identifier of what is sent.
    pub request_id: CanId,
    /// Identifier of what is received.
    pub response_id: CanId,
    /// Frames of CAN FD.
    #[serde(default)]
    pub fd: bool,
    /// ISO-TP instead of a frame for each message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isotp: Option<IsoTp>,
    /// Bit rate, where the interface has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bitrate: Option<u32>,
    /// Bit rate of the data phase of CAN FD, where the interface has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_bitrate: Option<u32>,
    /// Measure how long responses wait between the kernel and the program.
    #[serde(default)]
    pub timestamps: bool,
}

impl CanOptions {
    /// Bytes of a message at most.
    pub fn max_bytes(&self) -> u32 {
        match (self.isotp, self.fd) {
            (Some(_), _) => 4095,
            (None, true) => 64,
            (None, false) => 8,
        }
    }
}

/// What a CAN link counted while a point was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanCounts {
    /// Error frames.
    pub error_frames: u64,
    /// Among them: a frame that no node acknowledged.
    pub unacknowledged: u64,
    /// Remote frames with the identifier of the responses.
    pub remote_frames: u64,
    /// Frames that the socket had no room for.
    pub lost_frames: u64,
    /// Messages of ISO-TP that the kernel gave up.
    pub failed_messages: u64,
    /// Responses whose wait in the kernel was measured.
    pub timestamps: u64,
    /// Sum of these waits in nanoseconds.
    pub waited_ns: u64,
    /// The longest of them.
    pub longest_wait_ns: u64,
    /// Requests that were sent, those of the first exchange and of the warm-up included.
    #[serde(default)]
    pub requests: u64,
    /// Time on the bus of these requests and their responses without stuff bits, in nanoseconds; 0 where the bit rate is
    /// not known.
    #[serde(default)]
    pub least_bus_ns: u64,
    /// The same with as many stuff bits as there can be.
    #[serde(default)]
    pub most_bus_ns: u64,
}

impl CanCounts {
    /// Mean wait of a response between the kernel and the program, in nanoseconds.
    pub fn mean_wait_ns(&self) -> Option<f64> {
        (self.timestamps > 0).then(|| self.waited_ns as f64 / self.timestamps as f64)
    }

    /// Part of the time in which the bus carries our own frames, at least and at most; frames of other nodes come on top.
    pub fn bus_load(&self, exchanges: u64, elapsed_ns: u64) -> Option<(f64, f64)> {
        let is_known = self.least_bus_ns > 0 && self.requests > 0 && elapsed_ns > 0;
        let of = |bus_ns: u64| {
            bus_ns as f64 / self.requests as f64 * exchanges as f64 / elapsed_ns as f64
        };
        is_known.then(|| (of(self.least_bus_ns), of(self.most_bus_ns)))
    }

    /// True if something went wrong on the bus or at the socket.
    pub fn has_errors(&self) -> bool {
        self.error_frames + self.lost_frames + self.failed_messages > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bus_load_is_that_of_an_exchange_times_the_rate() {
        let counts = CanCounts {
            requests: 10,
            least_bus_ns: 10 * 444_000,
            most_bus_ns: 10 * 540_000,
            ..CanCounts::default()
        };
        // Two frames of 222 to 270 us, 500 times in a second.
        assert_eq!(counts.bus_load(500, 1_000_000_000), Some((0.222, 0.27)));
        assert_eq!(counts.bus_load(500, 0), None);
        assert_eq!(CanCounts::default().bus_load(500, 1), None);
    }

    #[test]
    fn identifiers_are_read_and_written_as_candump_does() {
        for (text, number, extended, shown) in [
            ("7e0", 0x7e0, false, "7e0"),
            ("0x7E0", 0x7e0, false, "7e0"),
            ("1", 1, false, "001"),
            ("18da10f1", 0x18da_10f1, true, "18da10f1"),
            ("800", 0x800, true, "00000800"),
            ("000007df", 0x7df, true, "000007df"),
        ] {
            let id: CanId = text.parse().unwrap();
            assert_eq!(
                (id.number(), id.is_extended()),
                (number, extended),
                "{text}"
            );
            assert_eq!(id.to_string(), shown);
            assert_eq!(shown.parse(), Ok(id));
        }
        for text in ["", "0x", "7eg", "-1", "+1", "20000000", "123456789"] {
            assert!(text.parse::<CanId>().is_err(), "{text}");
        }
    }
}
