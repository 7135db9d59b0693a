//! What the headers of both directions share, and their check: CRC-16/CCITT-FALSE, sixteen bytes a
//! step, because every header that is sent or received while measuring passes through it.

use crate::VERSION;
use crate::error::HeaderError;
use crate::names::Kind;

/// x^16 + x^12 + x^5 + 1 (ITU-T V.41), the highest power left out.
const POLYNOMIAL: u16 = 0x1021;
const INITIAL: u16 = 0xFFFF;

/// `TABLES[k][b]` is the remainder of byte `b` followed by `k` zero bytes ("slicing by 8",
/// Kounavis and Berry, 2005, here by 16): look-ups that do not wait for one another.
static TABLES: [[u16; 256]; 16] = tables();

const fn tables() -> [[u16; 256]; 16] {
    let mut tables = [[0; 256]; 16];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = (byte as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            let carry = remainder & 0x8000 != 0;
            remainder <<= 1;
            if carry {
                remainder ^= POLYNOMIAL;
            }
            bit += 1;
        }
        tables[0][byte] = remainder;
        byte += 1;
    }
    let mut zeros = 1;
    while zeros < 16 {
        let mut byte = 0;
        while byte < 256 {
            let before: u16 = tables[zeros - 1][byte];
            tables[zeros][byte] = (before << 8) ^ tables[0][(before >> 8) as usize];
            byte += 1;
        }
        zeros += 1;
    }
    tables
}

/// CRC-16/CCITT-FALSE of `bytes`: polynomial 0x1021, initial value 0xFFFF, nothing reflected or
/// inverted. The catalogue's check value holds: `crc16(b"123456789") == 0x29B1`.
#[inline]
pub fn crc16(bytes: &[u8]) -> u16 {
    let (steps, rest) = bytes.as_chunks::<16>();
    let mut crc = INITIAL;
    for step in steps {
        // Read at once and taken apart, which spares as many loads as there are look-ups.
        let word = u128::from_le_bytes(*step);
        let (first, second) = (word as u64, (word >> 64) as u64);
        let at = |table: usize, word: u64, byte: u32| {
            TABLES[table][(word >> (8 * byte)) as usize & 0xFF]
        };
        // None of these waits for the step before.
        let ahead = at(13, first, 2)
            ^ at(12, first, 3)
            ^ at(11, first, 4)
            ^ at(10, first, 5)
            ^ at(9, first, 6)
            ^ at(8, first, 7)
            ^ at(7, second, 0)
            ^ at(6, second, 1)
            ^ at(5, second, 2)
            ^ at(4, second, 3)
            ^ at(3, second, 4)
            ^ at(2, second, 5)
            ^ at(1, second, 6)
            ^ at(0, second, 7);
        let [high, low] = crc.to_be_bytes();
        crc = ahead
            ^ TABLES[15][usize::from(step[0] ^ high)]
            ^ TABLES[14][usize::from(step[1] ^ low)];
    }
    let (steps, rest) = rest.as_chunks::<4>();
    for step in steps {
        let [high, low] = crc.to_be_bytes();
        let ahead = TABLES[1][usize::from(step[2])] ^ TABLES[0][usize::from(step[3])];
        crc =
            ahead ^ TABLES[3][usize::from(step[0] ^ high)] ^ TABLES[2][usize::from(step[1] ^ low)];
    }
    for byte in rest {
        let [high, low] = crc.to_be_bytes();
        crc = u16::from_be_bytes([low, 0]) ^ TABLES[0][usize::from(byte ^ high)];
    }
    crc
}

/// Writes the fields that the headers of both directions share, then the check; the others are in place.
#[inline]
pub(crate) fn seal<const N: usize>(
    to: &mut [u8; N],
    magic: u8,
    kind: Kind,
    sequence: u32,
    payload: u32,
) {
    to[0] = magic;
    to[1] = VERSION << 4 | kind as u8;
    to[4..8].copy_from_slice(&sequence.to_le_bytes());
    to[8..12].copy_from_slice(&payload.to_le_bytes());
    let check = of_header(to);
    to[2..4].copy_from_slice(&check.to_le_bytes());
}

/// The header at the start of `from`, if it is one of this version, and its kind.
#[inline]
pub(crate) fn opened<const N: usize>(
    from: &[u8],
    magic: u8,
) -> Result<(&[u8; N], Kind), HeaderError> {
    let header = from.first_chunk::<N>().ok_or(HeaderError::Short)?;
    if header[0] != magic {
        return Err(HeaderError::Magic);
    }
    if of_header(header) != u16::from_le_bytes(field(header, 2)) {
        return Err(HeaderError::Check);
    }
    let (version, kind) = (header[1] >> 4, header[1] & 0x0F);
    if version != VERSION {
        return Err(HeaderError::Version(version));
    }
    let kind = Kind::from_number(kind).ok_or(HeaderError::Kind(kind))?;
    Ok((header, kind))
}

/// The bytes of the field at a place of a header.
#[inline]
pub(crate) fn field<const SIZE: usize>(header: &[u8], at: usize) -> [u8; SIZE] {
    let mut field = [0; SIZE];
    field.copy_from_slice(&header[at..at + SIZE]);
    field
}

/// The check that belongs into `header`, whatever its check field holds now.
#[inline]
fn of_header<const N: usize>(header: &[u8; N]) -> u16 {
    let mut zeroed = *header;
    zeroed[2] = 0;
    zeroed[3] = 0;
    crc16(&zeroed)
}

#[cfg(test)]
mod tests {
    use super::{INITIAL, POLYNOMIAL, crc16};

    fn bit_by_bit(bytes: &[u8]) -> u16 {
        bytes.iter().fold(INITIAL, |crc, byte| {
            (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc, _| {
                (crc << 1) ^ if crc & 0x8000 == 0 { 0 } else { POLYNOMIAL }
            })
        })
    }

    #[test]
    fn slices_agree_with_single_bits_at_every_length() {
        let mut bytes = [0; 64];
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = (index * 89 + 41) as u8;
        }
        for length in 0..=bytes.len() {
            assert_eq!(crc16(&bytes[..length]), bit_by_bit(&bytes[..length]));
        }
    }
}
