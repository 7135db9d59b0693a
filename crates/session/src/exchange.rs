//! `--protocol wiregauge`: the EXCHANGE frames of docs/protocol.md.

use crate::codec::{Answer, Codec, Generator, Matching, Parsed, Verdict, nearest};
use crate::window::Window;
use wiregauge_wire as wire;
use wiregauge_wire::{Found, Header, Request, Response};

/// EXCHANGE at one point of a sweep.
#[derive(Debug)]
pub struct Exchange {
    /// Number on the wire of the point's exchange 0. Numbers go on from point to point, so that a straggler
    /// of an earlier point is not taken for an answer of this one.
    base: u64,
    out_bytes: usize,
    in_bytes: usize,
    datagram: bool,
    /// Bytes of an incomplete answer that were compared already.
    seen: usize,
}

impl Exchange {
    /// Requests and answers of these sizes, headers included.
    pub fn new(base: u64, out_bytes: u32, in_bytes: u32, datagram: bool) -> Exchange {
        Exchange {
            base,
            out_bytes: out_bytes as usize,
            in_bytes: in_bytes as usize,
            datagram,
            seen: 0,
        }
    }

    fn sequence_of(&self, header: &Response, window: &Window) -> Option<u64> {
        nearest(u64::from(header.sequence), 32, self.base + window.oldest())
            .and_then(|number| number.checked_sub(self.base))
    }

    /// A datagram has no continuation: one that ends too soon is a damaged answer.
    fn cut_short(&self, bytes: &[u8], window: &Window) -> Parsed {
        match Response::decode(bytes) {
            Ok(header) if header.kind == wire::Kind::Exchange => Parsed::Answer(Answer {
                skip: 0,
                end: bytes.len(),
                consumed: bytes.len(),
                sequence: self.sequence_of(&header, window),
                payload: 0..0,
                verdict: Verdict::Damaged,
                rx_ticks: header.rx_ticks,
                tx_ticks: header.tx_ticks,
            }),
            _ => Parsed::Stray(bytes.len()),
        }
    }

    /// Longer frames than were asked for are noise, so that a damaged header is not waited for.
    fn largest(&self) -> usize {
        self.in_bytes.max(wire::HELLO_RESPONSE)
    }
}

impl Codec for Exchange {
    fn matching(&self) -> Matching {
        Matching::Number
    }

    #[inline]
    fn parse(&mut self, bytes: &[u8], window: &Window) -> Parsed {
        let seen = std::mem::take(&mut self.seen);
        match wire::next_frame_after::<Response>(bytes, self.largest(), seen) {
            Found::Incomplete { .. } if self.datagram => self.cut_short(bytes, window),
            Found::Incomplete { .. } => {
                self.seen = bytes.len();
                Parsed::Incomplete
            }
            Found::Garbage { skip } => Parsed::Stray(skip),
            Found::Frame { header, end, .. } if header.kind != wire::Kind::Exchange => {
                Parsed::Stray(end)
            }
            Found::Frame {
                skip,
                header,
                payload,
                end,
                intact,
            } => {
                // A datagram is one answer, however much of it a frame accounts for.
                let end = if self.datagram { bytes.len() } else { end };
                let whole = end - skip == self.in_bytes
                    && Response::SIZE + header.payload_len() == self.in_bytes;
                let verdict = if header.status != wire::Status::Ok {
                    Verdict::Refused(header.status)
                } else if !(intact && whole) {
                    Verdict::Damaged
                } else if header.flags & wire::flags::OUT_CORRUPTED != 0 {
                    Verdict::RequestDamaged
                } else {
                    Verdict::Intact
                };
                Parsed::Answer(Answer {
                    skip,
                    end,
                    consumed: end,
                    sequence: self.sequence_of(&header, window),
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

impl Generator for Exchange {
    fn request_bytes(&self) -> usize {
        self.out_bytes
    }

    fn answer_bytes(&self) -> usize {
        self.in_bytes
    }

    #[inline]
    fn request(&mut self, sequence: u64, to: &mut [u8]) {
        let (header, payload) = to.split_at_mut(wire::REQUEST_HEADER);
        let sequence = (self.base + sequence) as u32;
        let request = Request {
            kind: wire::Kind::Exchange,
            sequence,
            out_payload: payload.len() as u32,
            in_bytes: self.in_bytes as u32,
        };
        request.encode(header.try_into().expect("split at the header's size"));
        wire::fill_pattern(sequence, payload);
    }

    fn needs_proof(&self) -> bool {
        self.datagram
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(sequence: u32, in_payload: u32) -> [u8; 32] {
        let mut bytes = [0; 32];
        Response {
            kind: wire::Kind::Exchange,
            sequence,
            in_payload,
            status: wire::Status::Ok,
            flags: 0,
            rx_ticks: 0,
            tx_ticks: 0,
        }
        .encode(&mut bytes);
        bytes
    }

    #[test]
    fn a_header_that_announces_more_than_was_asked_for_is_noise() {
        let bytes = response(0, 1 << 20);
        let parsed = Exchange::new(0, 16, 64, false).parse(&bytes, &Window::new(1));
        assert!(matches!(parsed, Parsed::Stray(1..)));
    }
}
