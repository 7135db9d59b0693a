//! What a packet takes on the wire (USB 2.0, 7.1.9 to 7.1.13 and 7.1.18).

use crate::packet::{Pid, Speed};

/// Of a packet with these first bytes, from its SYNC to its EOP, stuff bits included.
///
/// ```
/// use wiregauge_capture::{Pid, Speed, packet, wire_ns};
///
/// // SYNC 8 bits, PID 8, EOP 3, of 83.33 ns.
/// assert_eq!(wire_ns(&packet::handshake(Pid::Ack), 1, Speed::Full), 1583);
/// ```
pub fn wire_ns(bytes: &[u8], length: u32, speed: Speed) -> u64 {
    let (sync, end) = match (speed, bytes.first()) {
        (Speed::High, Some(&pid)) if pid == Pid::Sof.byte() => (32, 40),
        (Speed::High, _) => (32, 8),
        _ => (8, 3),
    };
    let missing = u64::from(length).saturating_sub(bytes.len() as u64);
    let bits = sync + end + 8 * (bytes.len() as u64 + missing) + stuff_bits(bytes);
    bits * speed.bit_ps() / 1000
}

/// The silence after a packet before the host may send the next one.
pub(crate) fn gap_ns(speed: Speed, from_host: bool) -> u64 {
    let bits = match (speed, from_host) {
        (Speed::High, true) => 88,
        (Speed::High, false) => 8,
        _ => 2,
    };
    bits * speed.bit_ps() / 1000
}

/// What a frame or a microframe takes.
pub fn frame_ns(speed: Speed) -> u64 {
    match speed {
        Speed::High => 125_000,
        _ => 1_000_000,
    }
}

/// A zero after six ones. The last bit of SYNC counts as the first of them.
fn stuff_bits(bytes: &[u8]) -> u64 {
    let (mut ones, mut stuffed) = (1, 0);
    for &byte in bytes {
        if byte == 0xff || ones + byte.trailing_ones() >= 6 || has_six(byte) {
            for bit in 0..8 {
                ones = if byte >> bit & 1 == 1 { ones + 1 } else { 0 };
                if ones == 6 {
                    (ones, stuffed) = (0, stuffed + 1);
                }
            }
        } else {
            ones = match byte.leading_ones() {
                8 => ones + 8,
                after => after,
            };
        }
    }
    stuffed
}

fn has_six(byte: u8) -> bool {
    byte & 0x3f == 0x3f || byte & 0x7e == 0x7e || byte & 0xfc == 0xfc
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the rule, bit by bit.
    fn plainly(bytes: &[u8]) -> u64 {
        let (mut ones, mut stuffed) = (1, 0);
        for bit in bytes
            .iter()
            .flat_map(|&byte| (0..8).map(move |bit| byte >> bit & 1))
        {
            ones = if bit == 1 { ones + 1 } else { 0 };
            if ones == 6 {
                (ones, stuffed) = (0, stuffed + 1);
            }
        }
        stuffed
    }

    #[test]
    fn stuff_bits_follow_six_ones() {
        assert_eq!(stuff_bits(&[0x1f]), 1);
        assert_eq!(stuff_bits(&[0x0f]), 0);
        assert_eq!(stuff_bits(&[0xff; 6]), 8);
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..2000 {
            let bytes: Vec<u8> = (0..random.usize(0..40))
                .map(|_| random.u8(..) | random.u8(..) | random.u8(..))
                .collect();
            assert_eq!(stuff_bits(&bytes), plainly(&bytes), "{bytes:x?}");
        }
    }

    #[test]
    fn a_start_of_frame_at_high_speed_ends_with_a_long_end_of_packet() {
        let sof = crate::packet::sof(0);
        assert_eq!(wire_ns(&sof, 3, Speed::High), (32 + 24 + 40) * 2083 / 1000);
    }
}
