//! The numbers on the wire that have names: kinds, statuses, flags, abilities, buses.

/// What a frame is for. A response carries the kind of its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Who are you? Answered with a [`HelloReply`](crate::HelloReply).
    Hello = 0,
    /// One request, one response, each of the size that the host chose.
    Exchange = 1,
    /// Begins or ends a continuous stream from host to device.
    Sink = 2,
    /// Begins or ends a continuous stream from device to host.
    Source = 3,
    /// A program's own bytes, and those that answer them.
    Message = 4,
}

impl Kind {
    /// The kind with this number, if there is one.
    #[inline]
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Hello),
            1 => Some(Self::Exchange),
            2 => Some(Self::Sink),
            3 => Some(Self::Source),
            4 => Some(Self::Message),
            _ => None,
        }
    }
}

/// How a responder fared with a request. All but [`Status::Ok`] come without a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Done as asked.
    Ok = 0,
    /// The request's version is not spoken here.
    Version = 1,
    /// The request, or the response that it asks for, is larger than the device's limit.
    TooLarge = 2,
    /// The request's kind is not offered here.
    Unsupported = 3,
    /// Prove your address with HELLO before you ask for more bytes than you send.
    Unproven = 4,
}

impl Status {
    /// The status with this number, if there is one.
    #[inline]
    pub const fn from_number(number: u16) -> Option<Self> {
        match number {
            0 => Some(Self::Ok),
            1 => Some(Self::Version),
            2 => Some(Self::TooLarge),
            3 => Some(Self::Unsupported),
            4 => Some(Self::Unproven),
            _ => None,
        }
    }
}

/// Bits of [`Response::flags`](crate::Response::flags). Bits without a name are zero when sent and
/// ignored when received.
pub mod flags {
    /// The request's payload did not carry the expected pattern, or the right check, when it reached
    /// the device.
    pub const OUT_CORRUPTED: u16 = 1;
}

/// Bits of [`HelloReply::abilities`](crate::HelloReply::abilities). Bits without a name are zero
/// when sent and ignored when received.
pub mod abilities {
    /// Answers EXCHANGE.
    pub const EXCHANGE: u32 = 1;
    /// Answers SINK.
    pub const SINK: u32 = 1 << 1;
    /// Answers SOURCE.
    pub const SOURCE: u32 = 1 << 2;
    /// Fills in `rx_ticks` and `tx_ticks`.
    pub const TIMESTAMPS: u32 = 1 << 3;
    /// Verifies the pattern of request payloads, so that a clear
    /// [`OUT_CORRUPTED`](crate::flags::OUT_CORRUPTED) means something.
    pub const CHECKS_OUT: u32 = 1 << 4;
    /// Answers MESSAGE.
    pub const MESSAGE: u32 = 1 << 5;
    /// Its bus is modelled: it appends [`BusCounts`](crate::BusCounts) to the report of a stream.
    pub const BUS_COUNTS: u32 = 1 << 6;
}

/// Values of [`HelloReply::bus`](crate::HelloReply::bus): the USB speed at which the device says it
/// was enumerated.
pub mod bus {
    /// Not USB, or the device does not know.
    pub const UNKNOWN: u8 = 0;
    /// 1.5 Mbit/s.
    pub const LOW_SPEED: u8 = 1;
    /// 12 Mbit/s.
    pub const FULL_SPEED: u8 = 2;
    /// 480 Mbit/s.
    pub const HIGH_SPEED: u8 = 3;
    /// 5 Gbit/s and above.
    pub const SUPER_SPEED: u8 = 4;
}
