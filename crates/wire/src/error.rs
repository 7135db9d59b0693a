//! Why bytes are not a header. The order of the variants is the order in which they are looked for,
//! so that every implementation gives the same answer for the same bytes.

use core::fmt;

/// Why bytes are not a header that this version can act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeaderError {
    /// Fewer bytes than a header has.
    Short,
    /// The first byte is not the direction's magic byte.
    Magic,
    /// The header's check does not agree with the header.
    Check,
    /// A true header of another version; its number.
    Version(u8),
    /// A true header of a kind that this version does not have; its number.
    Kind(u8),
    /// A true response header with a status that this version does not have; its number.
    Status(u16),
    /// The payload's length: the frame would pass [`MAX_FRAME`](crate::MAX_FRAME), or a response
    /// that is not [`Status::Ok`](crate::Status::Ok) claims to carry a payload.
    Length(u32),
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short => write!(f, "shorter than a header"),
            Self::Magic => write!(f, "the first byte does not begin a header"),
            Self::Check => write!(f, "the header checksum is wrong"),
            Self::Version(number) => write!(
                f,
                "protocol version {number}; this end supports {}",
                crate::VERSION
            ),
            Self::Kind(number) => write!(f, "unknown kind of frame {number}"),
            Self::Status(number) => write!(f, "unknown status {number}"),
            Self::Length(bytes) => write!(f, "impossible payload length of {bytes} bytes"),
        }
    }
}

impl core::error::Error for HeaderError {}
