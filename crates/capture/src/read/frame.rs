//! What the two formats of tcpdump have in common: a frame of bytes with its time and the interface's type.

use super::link_type::LinkType;

/// A frame whose bytes are in the caller's buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Framed {
    pub(super) at_ns: u64,
    /// Bytes before it in the file.
    pub(super) offset: u64,
    /// Bytes that there were, captured or not.
    pub(super) length: u32,
    pub(super) link_type: LinkType,
    pub(super) order: Order,
}

/// The order of the bytes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

impl Order {
    pub(super) fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let bytes = part::<2>(bytes, at);
        match self {
            Order::Little => u16::from_le_bytes(bytes),
            Order::Big => u16::from_be_bytes(bytes),
        }
    }

    pub(super) fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let bytes = part::<4>(bytes, at);
        match self {
            Order::Little => u32::from_le_bytes(bytes),
            Order::Big => u32::from_be_bytes(bytes),
        }
    }

    pub(super) fn u64(self, bytes: &[u8], at: usize) -> u64 {
        let bytes = part::<8>(bytes, at);
        match self {
            Order::Little => u64::from_le_bytes(bytes),
            Order::Big => u64::from_be_bytes(bytes),
        }
    }
}

/// The bytes at a place; zeros where there are none.
fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut part = [0; N];
    if let Some(there) = bytes.get(at..at.saturating_add(N)) {
        part.copy_from_slice(there);
    }
    part
}

/// The longest frame that is read: of usbmon, a URB of 16 MiB, which is what usbfs takes.
pub(super) const LONGEST: u32 = 16 * 1024 * 1024 + 64;
