//! How requests are written and replies read: in frames of the wiregauge protocol, whose numbers tell
//! which request they answer, or in a foreign framing, where the order does.

use super::framing::{Framing, Split, Splitter, Wrong};
use super::window::Window;
use std::ops::Range;
use wiregauge_wire as wire;
use wiregauge_wire::{Found, Kind, Request, Response, Status};

/// Bytes that a request has beside the program's.
pub const REQUEST_OVERHEAD: usize = wire::REQUEST_HEADER + wire::MESSAGE_CHECK;

/// Bytes that a reply has beside the program's.
pub const REPLY_OVERHEAD: usize = wire::RESPONSE_HEADER + wire::MESSAGE_CHECK;

/// What an open device speaks.
pub enum Speech {
    /// The wiregauge protocol.
    Wiregauge(Frames),
    /// Something else.
    Foreign(Splitter),
}

/// The wiregauge protocol.
pub struct Frames {
    datagram: bool,
    /// The largest reply that was asked for: what announces more is noise.
    largest: usize,
    /// Bytes of an incomplete reply that were looked at.
    seen: usize,
}

/// What received bytes begin with.
pub enum Heard {
    /// The beginning of a reply: more must come.
    More,
    /// Bytes that belong to nothing.
    Stray(usize),
    /// A reply; it ends at `end`.
    Reply(Came, usize),
    /// No reply, and where the next one begins cannot be told.
    Wrong(Wrong),
}

/// A reply.
pub struct Came {
    /// The exchange that it ends.
    pub sequence: u64,
    /// Where its payload lies.
    pub payload: Range<usize>,
    /// Device clock when the request had arrived, and when the reply was handed over.
    pub ticks: (u64, u64),
    /// Whether it is one.
    pub fate: Fate,
}

/// What became of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was answered.
    Answered,
    /// The reply was damaged on its way.
    Damaged,
    /// The request was damaged on its way, and the device did not act on it.
    RequestDamaged,
    /// The device refuses.
    Refused(Status),
}

impl Speech {
    /// The wiregauge protocol.
    pub fn wiregauge(datagram: bool) -> Speech {
        Speech::Wiregauge(Frames {
            datagram,
            largest: wire::HELLO_RESPONSE,
            seen: 0,
        })
    }

    /// True if a reply names its request, so that nothing else is ever taken for it.
    #[inline]
    pub fn is_numbered(&self) -> bool {
        matches!(self, Speech::Wiregauge(_))
    }

    /// Bytes of a reply on the link for so many of the program's, as far as it can be told.
    pub fn reply_on_link(&self, awaited: usize) -> usize {
        match self {
            Speech::Wiregauge(_) => REPLY_OVERHEAD + awaited,
            Speech::Foreign(splitter) => match splitter.framing() {
                Framing::Fixed { bytes } => *bytes,
                framing => awaited + framing.overhead(),
            },
        }
    }

    /// Bytes that a request has on the link beside the program's.
    pub fn request_overhead(&self) -> usize {
        match self {
            Speech::Wiregauge(_) => REQUEST_OVERHEAD,
            Speech::Foreign(splitter) => splitter.framing().overhead(),
        }
    }

    /// Appends a request.
    #[inline]
    pub fn write(&mut self, sequence: u64, payload: &[u8], awaited: usize, to: &mut Vec<u8>) {
        match self {
            Speech::Wiregauge(frames) => frames.write(sequence, payload, awaited, to),
            Speech::Foreign(splitter) => splitter.frame(payload, to),
        }
    }

    /// What the received bytes begin with; they are never empty.
    #[inline]
    pub fn next(&mut self, bytes: &[u8], window: &Window) -> Heard {
        match self {
            Speech::Wiregauge(frames) => frames.next(bytes, window),
            Speech::Foreign(splitter) => {
                let sequence = window.oldest();
                if !window.awaits(sequence) {
                    return Heard::Stray(bytes.len());
                }
                match splitter.next(bytes, window.slot(sequence).awaited) {
                    Split::More => Heard::More,
                    Split::Wrong(wrong) => Heard::Wrong(wrong),
                    Split::Message { payload, end } => {
                        let came = Came {
                            sequence,
                            payload,
                            ticks: (0, 0),
                            fate: Fate::Answered,
                        };
                        Heard::Reply(came, end)
                    }
                }
            }
        }
    }

    /// The bytes before are gone.
    pub fn restart(&mut self) {
        match self {
            Speech::Wiregauge(frames) => frames.seen = 0,
            Speech::Foreign(splitter) => splitter.restart(),
        }
    }
}

impl Frames {
    #[inline]
    fn write(&mut self, sequence: u64, payload: &[u8], awaited: usize, to: &mut Vec<u8>) {
        let in_bytes = REPLY_OVERHEAD + awaited;
        self.largest = self.largest.max(in_bytes);
        let mut header = [0; wire::REQUEST_HEADER];
        Request {
            kind: Kind::Message,
            sequence: sequence as u32,
            out_payload: (payload.len() + wire::MESSAGE_CHECK) as u32,
            in_bytes: in_bytes as u32,
        }
        .encode(&mut header);
        to.extend_from_slice(&header);
        to.extend_from_slice(payload);
        to.extend_from_slice(&wire::message_check(payload));
    }

    #[inline]
    fn next(&mut self, bytes: &[u8], window: &Window) -> Heard {
        let seen = std::mem::take(&mut self.seen);
        match wire::next_frame_after::<Response>(bytes, self.largest, seen) {
            Found::Incomplete { .. } if self.datagram => cut_short(bytes, window),
            Found::Incomplete { .. } => {
                self.seen = bytes.len();
                Heard::More
            }
            Found::Garbage { skip } => Heard::Stray(skip),
            Found::Frame {
                header,
                payload,
                end,
                intact,
                ..
            } => {
                let Some(sequence) = window.find(header.sequence) else {
                    // A straggler: its exchange was given up, or answered before.
                    return Heard::Stray(end);
                };
                let fate = match header.kind {
                    // Of an order that began or ended a stream.
                    Kind::Sink | Kind::Source | Kind::Exchange => return Heard::Stray(end),
                    _ if header.status != Status::Ok => Fate::Refused(header.status),
                    Kind::Message if header.flags & wire::flags::OUT_CORRUPTED != 0 => {
                        Fate::RequestDamaged
                    }
                    Kind::Message if intact && header.in_payload > 0 => Fate::Answered,
                    Kind::Message => Fate::Damaged,
                    Kind::Hello => return Heard::Stray(end),
                };
                let payload = match fate {
                    Fate::Answered => payload.start..payload.end - wire::MESSAGE_CHECK,
                    _ => 0..0,
                };
                let came = Came {
                    sequence,
                    payload,
                    ticks: (header.rx_ticks, header.tx_ticks),
                    fate,
                };
                Heard::Reply(came, end)
            }
        }
    }
}

/// A datagram has no continuation: one that ends too soon is a damaged reply.
fn cut_short(bytes: &[u8], window: &Window) -> Heard {
    let header = Response::decode(bytes).ok();
    let sequence = header.and_then(|header| window.find(header.sequence));
    match sequence {
        Some(sequence) => {
            let came = Came {
                sequence,
                payload: 0..0,
                ticks: (0, 0),
                fate: Fate::Damaged,
            };
            Heard::Reply(came, bytes.len())
        }
        None => Heard::Stray(bytes.len()),
    }
}
