//! The bits of one given frame: what a modelled bus needs, since stuff bits depend on identifier, data and CRC.

use crate::can::{CAN_FD_SIZES, CanBits, frame};

/// Generator of the CRC of classic frames (ISO 11898-1:2015, 10.4.2.6).
const CRC_15: u16 = 0x4599;

/// A data frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CanFrame<'a> {
    /// Identifier, 11 or 29 bits.
    pub id: u32,
    /// It has 29 bits.
    pub extended: bool,
    /// A frame of CAN FD that switches its bit rate.
    pub fd: bool,
    /// At most 8 bytes, 64 with CAN FD.
    pub data: &'a [u8],
}

impl CanFrame<'_> {
    /// Bits on the bus, stuff bits and the three bits behind it included.
    pub fn bits(&self) -> CanBits {
        let mut line = Line::default();
        line.put(0, 1);
        match self.extended {
            false => line.put(self.id, 11),
            true => {
                line.put(self.id >> 18, 11);
                // SRR and IDE.
                line.put(0b11, 2);
                line.put(self.id, 18);
            }
        }
        let length = self.data.len() as u32;
        let dlc = CAN_FD_SIZES
            .iter()
            .position(|&size| size >= length)
            .unwrap_or(15) as u32;
        let mut before_switch = 0;
        match (self.fd, self.extended) {
            // RTR, IDE, r0, or RTR, r1, r0.
            (false, _) => line.put(0, 3),
            // RRS, IDE (if it is not there already), FDF, res, BRS.
            (true, false) => line.put(0b00101, 5),
            (true, true) => line.put(0b0101, 4),
        }
        if self.fd {
            before_switch = line.stuffed - u32::from(line.last_is_stuff);
            // ESI.
            line.put(0, 1);
        }
        line.put(dlc, 4);
        self.data.iter().for_each(|&byte| line.put(byte.into(), 8));
        if self.fd {
            // The first fixed stuff bit takes the place of one that would follow the last bit.
            let stuffed = line.stuffed - u32::from(line.last_is_stuff);
            return frame(
                self.extended,
                true,
                length,
                before_switch,
                stuffed - before_switch,
            );
        }
        let crc = line.crc;
        line.put(crc.into(), 15);
        frame(self.extended, false, length, line.stuffed, 0)
    }
}

/// Bits in the order in which they are sent.
#[derive(Default)]
struct Line {
    level: bool,
    /// Bits of that level so far.
    run: u32,
    /// The bit sent last was a stuff bit.
    last_is_stuff: bool,
    stuffed: u32,
    crc: u16,
}

impl Line {
    /// The lowest `count` bits of a value, the highest of them first.
    fn put(&mut self, value: u32, count: u32) {
        for at in (0..count).rev() {
            self.bit(value >> at & 1 == 1);
        }
    }

    fn bit(&mut self, level: bool) {
        let feedback = (self.crc >> 14 & 1 == 1) != level;
        self.crc = (self.crc << 1 & 0x7fff) ^ if feedback { CRC_15 } else { 0 };
        self.run = match self.run > 0 && level == self.level {
            true => self.run + 1,
            false => 1,
        };
        self.level = level;
        self.last_is_stuff = self.run == 5;
        if self.last_is_stuff {
            // A stuff bit begins the next run.
            (self.level, self.run) = (!level, 1);
            self.stuffed += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(id: u32, extended: bool, fd: bool, data: &[u8]) -> CanFrame<'_> {
        CanFrame {
            id,
            extended,
            fd,
            data,
        }
    }

    #[test]
    fn no_frame_is_shorter_than_the_best_case_or_longer_than_the_worst() {
        let mut random = 1_u64;
        let mut next = move || {
            // Knuth's MMIX generator; the high bits are good ones.
            random = random
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (random >> 33) as u32
        };
        let (mut stuffed, mut frames) = (0, 0);
        for _ in 0..20_000 {
            let (fd, extended) = (next() & 1 == 1, next() & 1 == 1);
            let bytes = CAN_FD_SIZES[next() as usize % if fd { 16 } else { 9 }];
            // Few different bytes, so that long runs are frequent.
            let data: Vec<u8> = (0..bytes)
                .map(|_| [0, 0xff, 0x0f, 0xc1][next() as usize % 4])
                .collect();
            let id = next() & if extended { 0x1fff_ffff } else { 0x7ff };
            let rates = crate::CanRates {
                nominal: 500_000,
                data: fd.then_some(2_000_000),
            };
            let kind = crate::Can {
                rates,
                extended,
                bytes,
            };
            let bits = frame(id, extended, fd, &data).bits();
            let (least, most) = (kind.least(), kind.most());
            let nominal = least.nominal..=most.nominal;
            assert!(nominal.contains(&bits.nominal), "{bits:?} {kind:?}");
            let sum = least.sum()..=most.sum();
            assert!(sum.contains(&bits.sum()), "{bits:?} {kind:?}");
            stuffed += bits.sum() - least.sum();
            frames += 1;
        }
        let many = stuffed > 2 * frames;
        assert!(many, "{stuffed} stuff bits in {frames} frames");
    }
}
