//! The payloads of HELLO: how a device introduces itself, and how a host on UDP proves that its
//! address is its own.

use crate::check::field;
use crate::{HELLO_REQUEST, HELLO_RESPONSE, REQUEST_HEADER, RESPONSE_HEADER};

const REQUEST_PAYLOAD: usize = HELLO_REQUEST - REQUEST_HEADER;
const REPLY_PAYLOAD: usize = HELLO_RESPONSE - RESPONSE_HEADER;

/// The payload of a HELLO request: a token, then zeros that make the request as long as its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HelloRequest {
    /// The token of an earlier answer; zero when there is none.
    pub token: [u8; 8],
}

impl HelloRequest {
    /// The payload's bytes.
    pub fn encode(&self) -> [u8; REQUEST_PAYLOAD] {
        let mut bytes = [0; REQUEST_PAYLOAD];
        bytes[..8].copy_from_slice(&self.token);
        bytes
    }

    /// Reads a payload; `None` if it is shorter than one. Bytes after the token are not looked at.
    pub fn decode(from: &[u8]) -> Option<Self> {
        let bytes = from.first_chunk::<REQUEST_PAYLOAD>()?;
        let token = *bytes.first_chunk()?;
        Some(Self { token })
    }
}

/// The payload of a HELLO response: what a device says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HelloReply {
    /// Lowest protocol version spoken.
    pub min_version: u8,
    /// Highest protocol version spoken.
    pub max_version: u8,
    /// Bits after which the device's clock wraps, 1 to 64; 0 without a clock.
    pub tick_bits: u8,
    /// One of [`bus`](crate::bus).
    pub bus: u8,
    /// Bits of [`abilities`](crate::abilities).
    pub abilities: u32,
    /// Largest request frame in bytes, header included.
    pub max_out: u32,
    /// Largest response frame in bytes, header included.
    pub max_in: u32,
    /// Most requests that may be outstanding at once; 0 if the device does not say.
    pub max_outstanding: u32,
    /// Ticks a second of the device's clock; 0 without a clock.
    pub tick_hz: u64,
    /// The device's name in UTF-8, padded with NUL; see [`HelloReply::name_str`].
    pub name: [u8; 32],
    /// On UDP, what the host sends back to prove its address; else zero.
    pub token: [u8; 8],
}

// Everything is little-endian.
//
//      0               1               2               3
//     +---------------+---------------+---------------+---------------+
//   0 |  min_version  |  max_version  |   tick_bits   |      bus      |
//     +---------------+---------------+---------------+---------------+
//   4 |                           abilities                           |
//     +---------------------------------------------------------------+
//   8 |                            max_out                            |
//     +---------------------------------------------------------------+
//  12 |                            max_in                             |
//     +---------------------------------------------------------------+
//  16 |                        max_outstanding                        |
//     +---------------------------------------------------------------+
//  20 |                        reserved, zero                         |
//     +---------------------------------------------------------------+
//  24 |                        tick_hz (8 bytes)                      |
//     +---------------------------------------------------------------+
//  32 |                        name (32 bytes)                        |
//     +---------------------------------------------------------------+
//  64 |                        token (8 bytes)                        |
//     +---------------------------------------------------------------+
impl HelloReply {
    /// The payload's bytes.
    pub fn encode(&self) -> [u8; REPLY_PAYLOAD] {
        let mut bytes = [0; REPLY_PAYLOAD];
        bytes[..4].copy_from_slice(&[self.min_version, self.max_version, self.tick_bits, self.bus]);
        bytes[4..8].copy_from_slice(&self.abilities.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.max_out.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.max_in.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.max_outstanding.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.tick_hz.to_le_bytes());
        bytes[32..64].copy_from_slice(&self.name);
        bytes[64..72].copy_from_slice(&self.token);
        bytes
    }

    /// Reads a payload; `None` if it is shorter than one. Longer ones are read as far as this
    /// version knows them, so that a later version can append fields.
    pub fn decode(from: &[u8]) -> Option<Self> {
        let bytes = from.first_chunk::<REPLY_PAYLOAD>()?;
        let word = |at| u32::from_le_bytes(field(bytes, at));
        Some(Self {
            min_version: bytes[0],
            max_version: bytes[1],
            tick_bits: bytes[2],
            bus: bytes[3],
            abilities: word(4),
            max_out: word(8),
            max_in: word(12),
            max_outstanding: word(16),
            tick_hz: u64::from_le_bytes(field(bytes, 24)),
            name: field(bytes, 32),
            token: field(bytes, 64),
        })
    }

    /// The name up to the first byte that is not UTF-8 or the first control character, NUL included:
    /// a name ends up on terminals, and a device shall not be able to steer them.
    pub fn name_str(&self) -> &str {
        let valid = match core::str::from_utf8(&self.name) {
            Ok(name) => name,
            Err(error) => {
                core::str::from_utf8(&self.name[..error.valid_up_to()]).unwrap_or_default()
            }
        };
        printable(valid)
    }

    /// Sets the name, cut to 32 bytes between two characters, and before any control character.
    pub fn set_name(&mut self, name: &str) {
        let name = printable(name);
        // `str::floor_char_boundary` is younger than the workspace's oldest compiler.
        let end = (0..=name.len().min(self.name.len()))
            .rev()
            .find(|end| name.is_char_boundary(*end))
            .unwrap_or(0);
        self.name = [0; 32];
        self.name[..end].copy_from_slice(&name.as_bytes()[..end]);
    }

    /// Ticks from one reading of the device's clock to a later one, over at most one wrap.
    pub fn ticks_between(&self, from: u64, to: u64) -> u64 {
        let ticks = to.wrapping_sub(from);
        match self.tick_bits {
            bits @ 1..=63 => ticks & ((1 << bits) - 1),
            _ => ticks,
        }
    }
}

fn printable(text: &str) -> &str {
    let end = text.find(char::is_control).unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::HelloReply;

    fn named(name: &str) -> HelloReply {
        let mut hello = HelloReply::default();
        hello.set_name(name);
        hello
    }

    #[test]
    fn names_are_cut_between_characters() {
        assert_eq!(named("probe").name_str(), "probe");
        assert_eq!(named("").name_str(), "");
        let thirty_three = "ääääääääääääääää!";
        assert_eq!(named(thirty_three).name_str(), "ääääääääääääääää");
        let straddling = "aääääääääääääääää";
        assert_eq!(named(straddling).name_str(), "aäääääääääääääää");
    }

    #[test]
    fn a_shorter_name_leaves_nothing_of_the_longer_one() {
        let mut hello = named("a long name");
        hello.set_name("x");
        assert_eq!(hello.name[1..], [0; 31]);
    }

    #[test]
    fn names_cannot_steer_a_terminal() {
        let mut hello = named("safe\u{1b}[2J");
        assert_eq!(hello.name_str(), "safe");
        hello.name[..4].copy_from_slice(b"a\x1bbc");
        assert_eq!(hello.name_str(), "a");
        hello.name[1] = 0xFF;
        assert_eq!(hello.name_str(), "a");
    }

    #[test]
    fn ticks_wrap_where_the_device_says() {
        let mut hello = HelloReply::default();
        assert_eq!(hello.ticks_between(10, 25), 15);
        hello.tick_bits = 32;
        assert_eq!(hello.ticks_between(0xFFFF_FFFF, 4), 5);
        hello.tick_bits = 64;
        assert_eq!(hello.ticks_between(u64::MAX, 4), 5);
    }
}
