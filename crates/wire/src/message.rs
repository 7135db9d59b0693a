//! The payload of MESSAGE in either direction: a program's own bytes and their check, because nothing
//! else would notice a byte that a UART changed.

use crate::check::crc16;

/// Bytes that the check takes at the end of a payload.
pub const MESSAGE_CHECK: usize = 2;

/// The check that follows a program's bytes.
#[inline]
pub fn message_check(bytes: &[u8]) -> [u8; MESSAGE_CHECK] {
    crc16(bytes).to_le_bytes()
}

/// The program's bytes in a payload; `None` if it is too short for a check, or the check is wrong.
#[inline]
pub fn message_of(payload: &[u8]) -> Option<&[u8]> {
    let (bytes, check) = payload.split_last_chunk::<MESSAGE_CHECK>()?;
    (message_check(bytes) == *check).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{message_check, message_of};

    #[test]
    fn every_changed_bit_shows() {
        let mut payload = b"set 17\0\0".to_vec();
        let check = message_check(&payload[..6]);
        payload[6..].copy_from_slice(&check);
        assert_eq!(message_of(&payload), Some(&b"set 17"[..]));
        for bit in 0..8 * payload.len() {
            payload[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(message_of(&payload), None, "bit {bit}");
            payload[bit / 8] ^= 1 << (bit % 8);
        }
    }
}
