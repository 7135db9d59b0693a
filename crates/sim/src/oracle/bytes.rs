//! The bytes of requests and the fields of answers, written from docs/protocol.md alone.

/// Bytes of a response header.
pub const HEADER: usize = 32;

/// The marks of neighbouring echoes differ in many bits: number times this, modulo 2^32.
const SCRAMBLE: u32 = 0x9E37_79B1;

/// Byte `index` of the payload of the request with this number.
pub fn pattern(number: u32, index: usize) -> u8 {
    ((u64::from(number) + index as u64) % 251) as u8
}

/// CRC-16/CCITT-FALSE, bit by bit.
pub fn crc(bytes: impl IntoIterator<Item = u8>) -> u16 {
    let mut crc = 0xFFFF_u16;
    for byte in bytes {
        crc ^= u16::from(byte) << 8;
        for _ in 0..8 {
            crc = match crc & 0x8000 {
                0 => crc << 1,
                _ => (crc << 1) ^ 0x1021,
            };
        }
    }
    crc
}

/// An echo's request.
pub fn echo_request(number: u64, bytes: usize) -> Vec<u8> {
    let number = number as u32;
    if bytes < 4 {
        return number.to_le_bytes()[..bytes].to_vec();
    }
    let mark = number.wrapping_mul(SCRAMBLE).to_le_bytes();
    let rest = (0..bytes - 4).map(|index| pattern(number, index));
    mark.into_iter().chain(rest).collect()
}

/// The number that these four bytes name.
pub fn named_by(mark: [u8; 4]) -> u32 {
    // Newton's iteration for the inverse modulo 2^32.
    let mut inverse = SCRAMBLE;
    for _ in 0..5 {
        inverse = inverse.wrapping_mul(2_u32.wrapping_sub(SCRAMBLE.wrapping_mul(inverse)));
    }
    u32::from_le_bytes(mark).wrapping_mul(inverse)
}

/// The request of an EXCHANGE.
pub fn exchange_request(number: u64, out_bytes: usize, in_bytes: usize) -> Vec<u8> {
    let number = number as u32;
    let payload = out_bytes - 16;
    let mut bytes = vec![0xA7, 0x11, 0, 0];
    bytes.extend(number.to_le_bytes());
    bytes.extend((payload as u32).to_le_bytes());
    bytes.extend((in_bytes as u32).to_le_bytes());
    let check = crc(bytes.iter().copied());
    bytes[2..4].copy_from_slice(&check.to_le_bytes());
    bytes.extend((0..payload).map(|index| pattern(number, index)));
    bytes
}

/// The request of a HELLO.
pub fn hello_request(number: u32, token: [u8; 8]) -> Vec<u8> {
    let mut bytes = vec![0xA7, 0x10, 0, 0];
    bytes.extend(number.to_le_bytes());
    bytes.extend(88_u32.to_le_bytes());
    bytes.extend(104_u32.to_le_bytes());
    let check = crc(bytes.iter().copied());
    bytes[2..4].copy_from_slice(&check.to_le_bytes());
    bytes.extend(token);
    bytes.resize(104, 0);
    bytes
}

/// A line: the number in decimal digits, its lowest ones if there is no room for all.
pub fn line_request(number: u64, bytes: usize) -> Vec<u8> {
    let digits = format!("{number:0>width$}", width = bytes - 1);
    let kept = &digits.as_bytes()[digits.len() - (bytes - 1)..];
    [kept, b"\n"].concat()
}

/// A response's header.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// Its kind: 1 is EXCHANGE, 4 MESSAGE.
    pub kind: u8,
    /// Number of the request.
    pub number: u32,
    /// Bytes of payload.
    pub payload: usize,
    /// 0 is OK.
    pub status: u16,
    /// Bit 0: the request was damaged.
    pub flags: u16,
    /// Device clock.
    pub rx_ticks: u64,
    /// Device clock.
    pub tx_ticks: u64,
}

/// The header of a frame of at most `largest` bytes that these bytes begin with.
pub fn header(bytes: &[u8], largest: usize) -> Option<Header> {
    let bytes = bytes.get(..HEADER)?;
    let two = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let four = |at: usize| u32::from(two(at)) | u32::from(two(at + 2)) << 16;
    let eight = |at: usize| u64::from(four(at)) | u64::from(four(at + 4)) << 32;
    let (kind, payload, status) = (bytes[1] & 15, four(8) as usize, two(12));
    let cleared = bytes.iter().enumerate();
    let cleared = cleared.map(|(at, byte)| if at == 2 || at == 3 { 0 } else { *byte });
    let is_plausible = bytes[0] == 0x7A
        && bytes[1] >> 4 == 1
        && kind <= 4
        && status <= 4
        && HEADER + payload <= largest.min(16 << 20)
        && (status == 0 || payload == 0);
    (is_plausible && crc(cleared) == two(2)).then(|| Header {
        kind,
        number: four(4),
        payload,
        status,
        flags: two(14),
        rx_ticks: eight(16),
        tx_ticks: eight(24),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_is_the_one_of_the_protocol() {
        assert_eq!(crc(*b"123456789"), 0x29B1);
    }

    #[test]
    fn a_mark_names_its_number() {
        for number in [0, 1, 77, u32::MAX] {
            let mark = echo_request(u64::from(number), 4);
            assert_eq!(named_by([mark[0], mark[1], mark[2], mark[3]]), number);
        }
    }
}
