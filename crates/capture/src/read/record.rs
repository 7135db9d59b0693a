//! What a capture holds.

use super::usbmon::Urb;
use crate::packet::Speed;

/// A packet as it passed on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WirePacket<'a> {
    /// When it began, in nanoseconds of the capture's clock.
    pub at_ns: u64,
    /// Its bytes from the PID to the check; fewer than `length` if the capture kept only the first of them.
    pub bytes: &'a [u8],
    /// Bytes on the wire.
    pub length: u32,
    /// Of the wire, if the capture says so.
    pub speed: Option<Speed>,
}

/// What a capture holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// A packet of a bus.
    Packet(WirePacket<'a>),
    /// A URB of a host that was submitted or is over.
    Urb(Urb),
}
