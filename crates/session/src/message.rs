//! A program's own bytes, in MESSAGE frames of docs/protocol.md.

use crate::codec::{Answer, Codec, Matching, Parsed, Verdict, nearest};
use crate::window::Window;
use wiregauge_wire as wire;
use wiregauge_wire::{Found, Kind, Request, Response, Status};

/// Bytes that a request has beside the program's.
pub const REQUEST_OVERHEAD: usize = wire::REQUEST_HEADER + wire::MESSAGE_CHECK;

/// Bytes that an answer has beside the program's.
pub const ANSWER_OVERHEAD: usize = wire::RESPONSE_HEADER + wire::MESSAGE_CHECK;

/// MESSAGE frames.
#[derive(Debug)]
pub struct Message {
    datagram: bool,
    /// The largest answer that was asked for: what announces more is noise.
    largest: usize,
    /// Bytes of an incomplete answer that were looked at.
    seen: usize,
}

impl Message {
    /// The codec of an open device.
    pub fn new(datagram: bool) -> Message {
        Message {
            datagram,
            largest: wire::HELLO_RESPONSE,
            seen: 0,
        }
    }

    /// Appends the request `sequence`, which asks for `awaited` bytes.
    #[inline]
    pub fn write(&mut self, sequence: u64, payload: &[u8], awaited: usize, to: &mut Vec<u8>) {
        let in_bytes = ANSWER_OVERHEAD + awaited;
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

    /// A datagram has no continuation: one that ends too soon is a damaged answer.
    fn cut_short(bytes: &[u8], window: &Window) -> Parsed {
        let sequence = Response::decode(bytes)
            .ok()
            .filter(|header| header.kind == Kind::Message)
            .and_then(|header| nearest(u64::from(header.sequence), 32, window.oldest()));
        match sequence {
            Some(sequence) => Parsed::Answer(Answer {
                payload: 0..0,
                ..Answer::plain(sequence, bytes.len(), Verdict::Damaged)
            }),
            None => Parsed::Stray(bytes.len()),
        }
    }
}

impl Codec for Message {
    fn matching(&self) -> Matching {
        Matching::Number
    }

    #[inline]
    fn parse(&mut self, bytes: &[u8], window: &Window) -> Parsed {
        let seen = std::mem::take(&mut self.seen);
        match wire::next_frame_after::<Response>(bytes, self.largest, seen) {
            Found::Incomplete { .. } if self.datagram => Message::cut_short(bytes, window),
            Found::Incomplete { .. } => {
                self.seen = bytes.len();
                Parsed::Incomplete
            }
            Found::Garbage { skip } => Parsed::Stray(skip),
            Found::Frame {
                skip,
                header,
                payload,
                end,
                intact,
            } => {
                let verdict = match header.kind {
                    // Of a device that does not know messages, it says so in a header of HELLO.
                    Kind::Hello if header.status == Status::Ok => return Parsed::Stray(end),
                    // Of an order that began or ended a stream.
                    Kind::Sink | Kind::Source | Kind::Exchange => return Parsed::Stray(end),
                    _ if header.status != Status::Ok => Verdict::Refused(header.status),
                    _ if header.flags & wire::flags::OUT_CORRUPTED != 0 => Verdict::RequestDamaged,
                    _ if intact && header.in_payload > 0 => Verdict::Intact,
                    _ => Verdict::Damaged,
                };
                let payload = match verdict {
                    Verdict::Intact => payload.start..payload.end - wire::MESSAGE_CHECK,
                    _ => 0..0,
                };
                Parsed::Answer(Answer {
                    skip,
                    end,
                    consumed: end,
                    sequence: nearest(u64::from(header.sequence), 32, window.oldest()),
                    payload,
                    verdict,
                    rx_ticks: header.rx_ticks,
                    tx_ticks: header.tx_ticks,
                })
            }
        }
    }

    fn reset(&mut self) {
        self.seen = 0;
    }
}
