//! The frame between host and responder: encode, decode, find again after loss. No I/O, no
//! allocation, no clock, so that the same code runs in the engine, in `serve` and on a board.
//! docs/protocol.md is the specification; docs/vectors/v1.json is what both are tested against.
//!
//! A receiver keeps what has arrived in a buffer of its own and asks [`next_frame`] what it holds:
//!
//! ```
//! use wiregauge_wire::{Found, Kind, Request, fill_pattern, next_frame};
//!
//! let request = Request { kind: Kind::Exchange, sequence: 7, out_payload: 4, in_bytes: 48 };
//! let mut frame = [0; 20];
//! let (header, payload) = frame.split_first_chunk_mut().expect("20 is more than 16");
//! request.encode(header);
//! fill_pattern(request.sequence, payload);
//!
//! match next_frame::<Request>(&frame, 1024) {
//!     Found::Frame { header, intact, end, .. } => {
//!         assert_eq!((header, intact, end), (request, true, 20));
//!     }
//!     other => panic!("{other:?}"),
//! }
//! ```
#![no_std]

mod check;
mod control;
mod error;
mod find;
mod hello;
mod message;
mod names;
mod pattern;
mod request;
mod response;
mod stream;

pub use check::crc16;
pub use control::{CONTROL_FETCH, CONTROL_PIECE, CONTROL_SEND};
pub use error::HeaderError;
pub use find::{Found, Header, next_frame, next_frame_after};
pub use hello::{HelloReply, HelloRequest};
pub use message::{MESSAGE_CHECK, message_check, message_of};
pub use names::{Kind, Status, abilities, bus, flags};
pub use pattern::{PATTERN_PERIOD, check_pattern, fill_pattern};
pub use request::Request;
pub use response::Response;
pub use stream::{
    BUS_COUNTS, BusCounts, STREAM_FRAME, STREAM_ORDER, STREAM_REPORT, StreamChecker, StreamCounts,
    StreamOrder, StreamReport, Taken, Verb, fill_stream,
};

/// The version of the protocol that this crate speaks.
pub const VERSION: u8 = 1;
/// Bytes in a request header.
pub const REQUEST_HEADER: usize = 16;
/// Bytes in a response header.
pub const RESPONSE_HEADER: usize = 32;
/// Bytes in a whole HELLO request: header, token, and zeros up to the size of the answer.
pub const HELLO_REQUEST: usize = 104;
/// Bytes in a whole HELLO response. Not more than the request, so that it amplifies nothing.
pub const HELLO_RESPONSE: usize = 104;
/// The largest frame, header included, that the protocol allows; devices state smaller limits.
pub const MAX_FRAME: u32 = 16 * 1024 * 1024;

/// The sequence number in a header of either direction and of any version of the protocol.
///
/// For the responder that was answered [`HeaderError::Version`] or [`HeaderError::Kind`] and has to
/// say so to the peer: both mean that the header's check was right, so the number can be trusted.
/// `None` if there are fewer than 8 bytes.
pub fn sequence_of(header: &[u8]) -> Option<u32> {
    let field = header.get(4..)?.first_chunk()?;
    Some(u32::from_le_bytes(*field))
}

// Lengths are u32 on the wire and usize in memory. MAX_FRAME does not fit a 16-bit usize.
const _: () = assert!(usize::BITS >= 32);
