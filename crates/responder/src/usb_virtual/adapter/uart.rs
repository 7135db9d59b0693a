//! One direction of an asynchronous serial line, in virtual time: each byte takes its start, data, parity and stop bits
//! at the baud rate, one byte after the other.

use std::collections::VecDeque;

/// How bytes are sent on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits per second.
    pub baud: u32,
    /// Data bits of a byte.
    pub data_bits: u8,
    /// A parity bit follows the data bits.
    pub has_parity: bool,
    /// Half stop bits: 2, 3 or 4.
    pub stop_halves: u8,
}

impl Format {
    /// 8 data bits, no parity, 1 stop bit.
    pub const fn new(baud: u32) -> Format {
        Format {
            baud,
            data_bits: 8,
            has_parity: false,
            stop_halves: 2,
        }
    }

    /// Time of one byte on the line.
    pub fn byte_ns(&self) -> u64 {
        let whole = 1 + u64::from(self.data_bits) + u64::from(self.has_parity);
        let halves = 2 * whole + u64::from(self.stop_halves);
        halves * 1_000_000_000 / (2 * u64::from(self.baud.max(1)))
    }
}

/// One direction of the line: bytes that wait, and the one that is being sent.
#[derive(Debug, Default)]
pub struct Lane {
    waiting: VecDeque<u8>,
    /// When the first of them began, or the last one sent ended.
    begun_ns: u64,
}

impl Lane {
    /// Adds bytes; an idle line begins with them at once.
    pub fn push(&mut self, bytes: &[u8], now_ns: u64) {
        if self.waiting.is_empty() {
            self.begun_ns = self.begun_ns.max(now_ns);
        }
        self.waiting.extend(bytes);
    }

    /// Bytes that wait or are being sent.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// True if the line is idle.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// When the byte after `before` others has arrived, if there is one.
    pub fn end_ns(&self, before: usize, byte_ns: u64) -> Option<u64> {
        (before < self.waiting.len()).then(|| self.begun_ns + (before as u64 + 1) * byte_ns)
    }

    /// Where this byte stands.
    pub fn position(&self, byte: u8) -> Option<usize> {
        self.waiting.iter().position(|waiting| *waiting == byte)
    }

    /// Takes the next byte off the line.
    pub fn pop(&mut self, byte_ns: u64) -> Option<u8> {
        let byte = self.waiting.pop_front()?;
        self.begun_ns += byte_ns;
        Some(byte)
    }

    /// The next byte does not begin before this time.
    pub fn pause_until(&mut self, at_ns: u64) {
        self.begun_ns = self.begun_ns.max(at_ns);
    }

    /// Drops all bytes that wait.
    pub fn clear(&mut self) {
        self.waiting.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_takes_ten_bit_times_and_more_with_parity_and_two_stop_bits() {
        for (format, ns) in [
            (Format::new(9_600), 1_041_666),
            (Format::new(115_200), 86_805),
            (Format::new(921_600), 10_850),
            (Format::new(3_000_000), 3_333),
            (
                Format {
                    has_parity: true,
                    stop_halves: 4,
                    ..Format::new(1_000_000)
                },
                12_000,
            ),
            (
                Format {
                    data_bits: 7,
                    stop_halves: 3,
                    ..Format::new(1_000_000)
                },
                9_500,
            ),
        ] {
            assert_eq!(format.byte_ns(), ns, "{format:?}");
        }
    }

    #[test]
    fn bytes_follow_each_other_without_a_gap_and_an_idle_line_begins_at_once() {
        let mut lane = Lane::default();
        lane.push(b"ab", 1_000);
        lane.push(b"c", 1_500);
        assert_eq!(lane.end_ns(2, 100), Some(1_300));
        assert_eq!(lane.end_ns(3, 100), None);
        assert_eq!(lane.pop(100), Some(b'a'));
        assert_eq!(lane.end_ns(0, 100), Some(1_200));
        assert_eq!((lane.pop(100), lane.pop(100)), (Some(b'b'), Some(b'c')));
        lane.push(b"d", 5_000);
        assert_eq!(lane.end_ns(0, 100), Some(5_100));
    }
}
