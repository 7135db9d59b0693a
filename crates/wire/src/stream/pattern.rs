//! What streams are made of: little-endian words `k * STEP`, so that a device makes them by adding a
//! constant, and every word tells its number.

/// 2^32 divided by the golden ratio, made odd (Knuth, The Art of Computer Programming, volume 3,
/// 6.4): odd, so that every word occurs once in 2^32, and far from any power of two, so that
/// neighbouring words differ in all their bytes.
pub(super) const STEP: u32 = 0x9E37_79B1;

/// `STEP * INVERSE == 1` modulo 2^32.
pub(super) const INVERSE: u32 = {
    // Newton's iteration doubles the right bits; an odd number is its own inverse modulo 8.
    let mut inverse = STEP;
    let mut right_bits = 3;
    while right_bits < 32 {
        inverse = inverse.wrapping_mul(2_u32.wrapping_sub(STEP.wrapping_mul(inverse)));
        right_bits *= 2;
    }
    inverse
};

const WORD: usize = 4;
/// Words that are made or compared at once: wide enough for any vector unit.
const LANES: usize = 16;
const BLOCK: usize = WORD * LANES;

#[inline]
pub(super) fn word_at(position: u64) -> u32 {
    ((position / WORD as u64) as u32).wrapping_mul(STEP)
}

#[inline]
pub(super) fn byte_at(position: u64) -> u8 {
    word_at(position).to_le_bytes()[(position % WORD as u64) as usize]
}

/// Bytes from `position` to the next whole word, `length` at most.
#[inline]
fn head(position: u64, length: usize) -> usize {
    ((position.wrapping_neg() % WORD as u64) as usize).min(length)
}

/// Fills `to` with the bytes of a stream from byte `position` on.
#[inline]
pub fn fill_stream(position: u64, to: &mut [u8]) {
    let (first, rest) = to.split_at_mut(head(position, to.len()));
    for (number, byte) in first.iter_mut().enumerate() {
        *byte = byte_at(position + number as u64);
    }
    let mut word = word_at(position + first.len() as u64);
    let (blocks, rest) = rest.as_chunks_mut::<BLOCK>();
    for block in blocks {
        for (lane, to) in block.as_chunks_mut::<WORD>().0.iter_mut().enumerate() {
            *to = word
                .wrapping_add(STEP.wrapping_mul(lane as u32))
                .to_le_bytes();
        }
        word = word.wrapping_add(STEP.wrapping_mul(LANES as u32));
    }
    for to in rest.chunks_mut(WORD) {
        to.copy_from_slice(&word.to_le_bytes()[..to.len()]);
        word = word.wrapping_add(STEP);
    }
}

/// How many of the leading bytes are those of a stream from byte `position` on.
#[inline]
pub(super) fn agreeing(position: u64, bytes: &[u8]) -> usize {
    let first = head(position, bytes.len());
    let slowly =
        |from: usize, to: usize| (from..to).find(|&at| bytes[at] != byte_at(position + at as u64));
    if let Some(at) = slowly(0, first) {
        return at;
    }
    let mut word = word_at(position + first as u64);
    let (blocks, _) = bytes[first..].as_chunks::<BLOCK>();
    let mut at = first;
    for block in blocks {
        let mut wrong = 0;
        for (lane, from) in block.as_chunks::<WORD>().0.iter().enumerate() {
            let expected = word.wrapping_add(STEP.wrapping_mul(lane as u32));
            wrong |= u32::from_le_bytes(*from) ^ expected;
        }
        if wrong != 0 {
            break;
        }
        word = word.wrapping_add(STEP.wrapping_mul(LANES as u32));
        at += BLOCK;
    }
    slowly(at, bytes.len()).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_what_the_specification_says_from_any_position_and_at_any_length() {
        let mut bytes = [0; 3 * BLOCK + 7];
        for start in [0, 1, 2, 3, 64, 1_000_003, (1 << 34) - 5, (1 << 40) + 2] {
            for length in (0..12).chain([BLOCK, BLOCK + 1, bytes.len()]) {
                fill_stream(start, &mut bytes[..length]);
                for (number, byte) in bytes[..length].iter().enumerate() {
                    let position = start + number as u64;
                    let word = (position / 4 % (1 << 32)) * 0x9E37_79B1 % (1 << 32);
                    assert_eq!(u64::from(*byte), word >> (8 * (position % 4)) & 0xFF);
                }
            }
        }
    }
}
