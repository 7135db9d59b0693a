//! The two vendor requests that carry a byte stream over endpoint 0 of a USB device (docs/protocol.md, "USB control").

/// bRequest of the control transfer OUT whose data stage are bytes for the responder.
pub const CONTROL_SEND: u8 = 0x57;
/// bRequest of the control transfer IN that fetches bytes of the responder; an empty one: there are none now.
pub const CONTROL_FETCH: u8 = 0x58;
/// Bytes of a data stage at most. Many device stacks lay out a buffer of this size for endpoint 0.
pub const CONTROL_PIECE: usize = 4096;
