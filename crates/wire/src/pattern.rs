//! What payloads are filled with. The period is a prime near 256: a device makes the pattern with a
//! counter and a compare, and a lost packet of 64, 512 or any other power of two shifts it.

/// Byte `i` of the payload of sequence number `s` is `(s + i) mod` this, without overflow.
pub const PATTERN_PERIOD: u32 = 251;

const PERIOD: usize = PATTERN_PERIOD as usize;
/// Whole periods, so that every chunk of a long payload begins at the same place in the table.
const CHUNK: usize = 32 * PERIOD;

/// One chunk from any phase: copying and comparing run at the speed of memcpy and memcmp.
static TABLE: [u8; CHUNK + PERIOD] = {
    let mut table = [0; CHUNK + PERIOD];
    let mut index = 0;
    while index < table.len() {
        table[index] = (index % PERIOD) as u8;
        index += 1;
    }
    table
};

/// The place in the pattern at which the payload of a sequence number begins.
#[inline]
pub(crate) fn phase_of(sequence: u32) -> usize {
    (sequence % PATTERN_PERIOD) as usize
}

/// Fills `to` with the payload that belongs to `sequence`.
#[inline]
pub fn fill_pattern(sequence: u32, to: &mut [u8]) {
    let expected = &TABLE[phase_of(sequence)..];
    for chunk in to.chunks_mut(CHUNK) {
        chunk.copy_from_slice(&expected[..chunk.len()]);
    }
}

/// The index of the first byte that does not belong into the payload of `sequence`; `None` if all
/// do. How long the payload should be is not its business.
#[inline]
pub fn check_pattern(sequence: u32, bytes: &[u8]) -> Option<usize> {
    first_wrong(phase_of(sequence), bytes)
}

/// As [`check_pattern`], for bytes that begin `phase` (below the period) into the pattern.
#[inline]
pub(crate) fn first_wrong(phase: usize, bytes: &[u8]) -> Option<usize> {
    let expected = &TABLE[phase..];
    for (number, chunk) in bytes.chunks(CHUNK).enumerate() {
        let expected = &expected[..chunk.len()];
        if chunk != expected {
            return first_difference(chunk, expected).map(|at| number * CHUNK + at);
        }
    }
    None
}

#[cold]
fn first_difference(one: &[u8], other: &[u8]) -> Option<usize> {
    one.iter().zip(other).position(|(a, b)| a != b)
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, PERIOD, check_pattern, fill_pattern};

    #[test]
    fn is_what_the_specification_says_across_chunks() {
        let mut bytes = [0; 2 * CHUNK + 77];
        for sequence in [0, 1, 250, 251, 252, 65_536, u32::MAX] {
            fill_pattern(sequence, &mut bytes);
            for (index, byte) in bytes.iter().enumerate() {
                let expected = (u64::from(sequence) + index as u64) % PERIOD as u64;
                assert_eq!(u64::from(*byte), expected);
            }
            assert_eq!(check_pattern(sequence, &bytes), None);
        }
    }

    #[test]
    fn a_lost_packet_of_any_power_of_two_shifts_the_pattern() {
        let mut bytes = [0; CHUNK];
        fill_pattern(0, &mut bytes);
        for power in 0..12 {
            assert_eq!(check_pattern(0, &bytes[1 << power..]), Some(0));
        }
    }
}
