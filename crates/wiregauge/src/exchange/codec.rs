//! The two protocols as the measuring loop sees them: bytes of a request, and what received bytes
//! turn out to be.

use wiregauge_wire as wire;
use wiregauge_wire::{Found, Header, Request, Response};

/// Where the window stands, for a protocol that tells answers apart by it.
#[derive(Clone, Copy, Debug)]
pub struct Expect {
    /// The oldest outstanding exchange.
    pub oldest: u64,
    /// The next to start.
    pub next: u64,
}

/// What received bytes turned out to be.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// The beginning of an answer: more must come.
    More,
    /// Bytes that belong to nothing.
    Stray(usize),
    /// An answer, after `skip` bytes that belong to nothing.
    Answer(Answer),
    /// The device refuses the request.
    Refused(wire::Status),
}

/// An answer found among received bytes.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// Bytes before it that belong to nothing.
    pub skip: usize,
    /// Where it ends.
    pub end: usize,
    /// The exchange that it answers; `None` if it is of an earlier point.
    pub sequence: Option<u64>,
    /// True if every byte is as it should be.
    pub intact: bool,
    /// Device clock when the request had arrived.
    pub rx_ticks: u64,
    /// Device clock when the response was handed over.
    pub tx_ticks: u64,
}

/// A protocol at one point of the sweep.
pub trait Codec {
    /// Writes the request; `to` is exactly its size.
    fn request(&mut self, sequence: u64, to: &mut [u8]);

    /// What the received bytes begin with; they are never empty.
    fn next(&mut self, bytes: &[u8], expect: Expect) -> Step;

    /// True if, after a loss or a corruption, this protocol cannot find its place in the bytes
    /// again by itself, so that the line must be let fall silent.
    fn must_settle(&self) -> bool {
        false
    }

    /// The line is silent and empty; the next byte answers exchange `next`.
    fn settled(&mut self, _next: u64) {}
}

/// `--protocol wiregauge`.
pub struct Framed {
    /// Number on the wire of the point's exchange 0; numbers go on from point to point, so that a
    /// straggler of an earlier point is not taken for an answer of this one.
    base: u64,
    in_bytes: u32,
    datagram: bool,
    /// Bytes of an incomplete answer that were compared already.
    seen: usize,
}

impl Framed {
    /// The protocol for answers of `in_bytes`.
    pub fn new(base: u64, in_bytes: u32, datagram: bool) -> Framed {
        Framed {
            base,
            in_bytes,
            datagram,
            seen: 0,
        }
    }
}

impl Framed {
    fn sequence_of(&self, header: &Response, expect: Expect) -> Option<u64> {
        nearest(u64::from(header.sequence), 32, self.base + expect.oldest)
            .and_then(|sequence| sequence.checked_sub(self.base))
    }

    /// A datagram has no continuation: one that ends too soon is a damaged answer.
    fn cut_short(&self, bytes: &[u8], expect: Expect) -> Step {
        match Response::decode(bytes) {
            Ok(header) => Step::Answer(Answer {
                skip: 0,
                end: bytes.len(),
                sequence: self.sequence_of(&header, expect),
                intact: false,
                rx_ticks: header.rx_ticks,
                tx_ticks: header.tx_ticks,
            }),
            Err(_) => Step::Stray(bytes.len()),
        }
    }
}

/// The number nearest to `near` that ends in the given `bits` lowest bits.
fn nearest(ending: u64, bits: u32, near: u64) -> Option<u64> {
    let span = 1_u64 << bits;
    let forward = ending.wrapping_sub(near) & (span - 1);
    if forward < span / 2 {
        Some(near + forward)
    } else {
        (near + forward).checked_sub(span)
    }
}

impl Codec for Framed {
    fn request(&mut self, sequence: u64, to: &mut [u8]) {
        let (header, payload) = to.split_at_mut(wire::REQUEST_HEADER);
        let sequence = (self.base + sequence) as u32;
        let request = Request {
            kind: wire::Kind::Exchange,
            sequence,
            out_payload: payload.len() as u32,
            in_bytes: self.in_bytes,
        };
        request.encode(header.try_into().expect("split at the header's size"));
        wire::fill_pattern(sequence, payload);
    }

    fn next(&mut self, bytes: &[u8], expect: Expect) -> Step {
        let seen = std::mem::take(&mut self.seen);
        match wire::next_frame_after::<Response>(bytes, wire::MAX_FRAME as usize, seen) {
            Found::Incomplete { .. } if self.datagram => self.cut_short(bytes, expect),
            Found::Incomplete { .. } => {
                self.seen = bytes.len();
                Step::More
            }
            Found::Garbage { skip } => Step::Stray(skip),
            Found::Frame { header, end, .. } if header.kind != wire::Kind::Exchange => {
                Step::Stray(end)
            }
            Found::Frame { header, .. } if header.status != wire::Status::Ok => {
                Step::Refused(header.status)
            }
            Found::Frame {
                skip,
                header,
                end,
                intact,
                ..
            } => {
                let sequence = self.sequence_of(&header, expect);
                // A datagram is one answer, however much of it a frame accounts for.
                let end = if self.datagram { bytes.len() } else { end };
                let whole = end - skip == self.in_bytes as usize
                    && Response::SIZE + header.payload_len() == self.in_bytes as usize;
                let request_intact = header.flags & wire::flags::OUT_CORRUPTED == 0;
                Step::Answer(Answer {
                    skip,
                    end,
                    sequence,
                    intact: intact && whole && request_intact,
                    rx_ticks: header.rx_ticks,
                    tx_ticks: header.tx_ticks,
                })
            }
        }
    }
}

/// Bytes at the start of an echo request that tell it from its neighbours, if it is that long.
const MARK: usize = 4;

fn echo_request(number: u64, to: &mut [u8]) {
    wire::fill_pattern(number as u32, to);
    let mark = to.len().min(MARK);
    to[..mark].copy_from_slice(&(number as u32).to_le_bytes()[..mark]);
}

fn is_echo_of(number: u64, bytes: &[u8]) -> bool {
    let mark = bytes.len().min(MARK);
    bytes[..mark] == (number as u32).to_le_bytes()[..mark]
        // The pattern of docs/protocol.md, begun behind the mark.
        && wire::check_pattern((number as u32 % 251) + mark as u32, &bytes[mark..]).is_none()
}

/// `--protocol echo` over a byte stream: answers come in the order of the requests, so the place in
/// the stream tells them apart.
pub struct EchoStream {
    base: u64,
    bytes: usize,
    place: u64,
}

impl EchoStream {
    /// The protocol for echoes of `bytes`.
    pub fn new(base: u64, bytes: u32) -> EchoStream {
        EchoStream {
            base,
            bytes: bytes as usize,
            place: 0,
        }
    }
}

impl Codec for EchoStream {
    fn request(&mut self, sequence: u64, to: &mut [u8]) {
        echo_request(self.base + sequence, to);
    }

    fn next(&mut self, bytes: &[u8], expect: Expect) -> Step {
        if self.place >= expect.next {
            return Step::Stray(bytes.len());
        }
        if bytes.len() < self.bytes {
            return Step::More;
        }
        let sequence = self.place;
        self.place += 1;
        Step::Answer(Answer {
            skip: 0,
            end: self.bytes,
            sequence: Some(sequence),
            intact: is_echo_of(self.base + sequence, &bytes[..self.bytes]),
            rx_ticks: 0,
            tx_ticks: 0,
        })
    }

    fn must_settle(&self) -> bool {
        true
    }

    fn settled(&mut self, next: u64) {
        self.place = next;
    }
}

/// `--protocol echo` over datagrams: each is one answer, told apart by its first bytes.
pub struct EchoDatagram {
    base: u64,
    bytes: usize,
}

impl EchoDatagram {
    /// The protocol for echoes of `bytes`.
    pub fn new(base: u64, bytes: u32) -> EchoDatagram {
        EchoDatagram {
            base,
            bytes: bytes as usize,
        }
    }
}

impl Codec for EchoDatagram {
    fn request(&mut self, sequence: u64, to: &mut [u8]) {
        echo_request(self.base + sequence, to);
    }

    fn next(&mut self, bytes: &[u8], expect: Expect) -> Step {
        let mark = bytes.len().min(self.bytes).min(MARK);
        let mut number = [0; 8];
        number[..mark].copy_from_slice(&bytes[..mark]);
        let ending = u64::from_le_bytes(number);
        let marked = nearest(ending, 8 * mark as u32, self.base + expect.oldest)
            .and_then(|number| number.checked_sub(self.base));
        let intact = bytes.len() == self.bytes
            && marked.is_some_and(|sequence| is_echo_of(self.base + sequence, bytes));
        // Where the mark itself may be wrong, the answer is charged to the oldest outstanding one.
        let sequence = match marked {
            Some(sequence) if intact || (expect.oldest..expect.next).contains(&sequence) => {
                Some(sequence)
            }
            None if intact => None,
            _ => Some(expect.oldest),
        };
        Step::Answer(Answer {
            skip: 0,
            end: bytes.len(),
            sequence,
            intact,
            rx_ticks: 0,
            tx_ticks: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPECT: Expect = Expect {
        oldest: 300,
        next: 310,
    };

    #[test]
    fn the_nearest_number_is_found_on_both_sides() {
        assert_eq!(nearest(0x05, 8, 0x1fe), Some(0x205));
        assert_eq!(nearest(0xfe, 8, 0x205), Some(0x1fe));
        assert_eq!(nearest(0xff, 8, 0), None);
    }

    #[test]
    fn an_echo_of_any_size_is_told_from_its_neighbours() {
        for size in [1, 2, 3, 4, 5, 100, 1000] {
            let mut codec = EchoDatagram::new(70_000, size);
            for sequence in 300..310 {
                let mut bytes = vec![0; size as usize];
                codec.request(sequence, &mut bytes);
                let Step::Answer(answer) = codec.next(&bytes, EXPECT) else {
                    panic!()
                };
                assert_eq!((answer.sequence, answer.intact), (Some(sequence), true));
            }
        }
    }

    #[test]
    fn every_byte_of_an_echo_is_compared() {
        for size in [1, 3, 4, 5, 100, 700] {
            let mut codec = EchoStream::new(0, size);
            for wrong in 0..size as usize {
                let mut bytes = vec![0; size as usize];
                codec.settled(305);
                codec.request(305, &mut bytes);
                bytes[wrong] ^= 0x40;
                let Step::Answer(answer) = codec.next(&bytes, EXPECT) else {
                    panic!()
                };
                assert!(!answer.intact, "byte {wrong} of {size}");
            }
        }
    }

    #[test]
    fn a_straggler_of_an_earlier_point_answers_nothing() {
        let mut earlier = Framed::new(1_000, 32, false);
        let mut request = [0; 16];
        earlier.request(7, &mut request);
        let sequence = Request::decode(&request).unwrap().sequence;
        let response = Response {
            kind: wire::Kind::Exchange,
            sequence,
            in_payload: 0,
            status: wire::Status::Ok,
            flags: 0,
            rx_ticks: 0,
            tx_ticks: 0,
        };
        let mut bytes = [0; 32];
        response.encode(&mut bytes);
        let mut now = Framed::new(2_000, 32, false);
        let Step::Answer(answer) = now.next(&bytes, Expect { oldest: 0, next: 1 }) else {
            panic!()
        };
        assert_eq!(answer.sequence, None);
    }
}
