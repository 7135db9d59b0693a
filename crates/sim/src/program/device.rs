//! Devices that answer the messages of a program: with the same bytes.

use crate::random::Random;
use crate::world::{Byte, Device, Given, Message, Tag};
use wiregauge_session::{Framing, Split, Splitter};
use wiregauge_wire as wire;
use wiregauge_wire::{Found, Kind, Request, Response, Status};

/// Frames that are larger are noise.
const LARGEST: usize = 4096;

fn give(bytes: Vec<u8>, number: u64, given: &mut Vec<Given>, answers: &mut Vec<Vec<Byte>>) {
    given.push(Given {
        number,
        bytes: bytes.len() as u32,
    });
    let answer = given.len() as u32;
    let tagged = bytes.iter().enumerate().map(|(at, &value)| Byte {
        value,
        tag: Tag {
            answer,
            at: at as u32,
            changed: 0,
        },
    });
    answers.push(tagged.collect());
}

/// What a device answers to a message that asks for so many bytes.
pub fn echoed(said: &[u8], awaited: usize) -> Vec<u8> {
    match said {
        [] => vec![0; awaited],
        _ => said.iter().copied().cycle().take(awaited).collect(),
    }
}

/// Answers MESSAGE.
pub struct Messaged {
    datagram: bool,
    begun: Vec<u8>,
}

impl Messaged {
    /// One that knows nothing yet.
    pub fn new(datagram: bool) -> Messaged {
        Messaged {
            datagram,
            begun: Vec::new(),
        }
    }
}

impl Device for Messaged {
    fn take(
        &mut self,
        bytes: &[Byte],
        now_ns: u64,
        given: &mut Vec<Given>,
        answers: &mut Vec<Vec<Byte>>,
    ) {
        self.begun.extend(bytes.iter().map(|byte| byte.value));
        loop {
            match wire::next_frame::<Request>(&self.begun, LARGEST) {
                Found::Garbage { skip } => drop(self.begun.drain(..skip)),
                Found::Incomplete { .. } => break,
                Found::Frame {
                    header,
                    payload,
                    end,
                    intact,
                    ..
                } => {
                    let said = self.begun[payload.start..payload.end.min(end)].to_vec();
                    self.begun.drain(..end);
                    if header.kind != Kind::Message {
                        continue;
                    }
                    let mut body = Vec::new();
                    if intact {
                        let said = &said[..said.len().saturating_sub(wire::MESSAGE_CHECK)];
                        let overhead = wire::RESPONSE_HEADER + wire::MESSAGE_CHECK;
                        body = echoed(said, (header.in_bytes as usize).saturating_sub(overhead));
                        body.extend_from_slice(&wire::message_check(&body));
                    }
                    let mut frame = [0; wire::RESPONSE_HEADER];
                    Response {
                        kind: Kind::Message,
                        sequence: header.sequence,
                        in_payload: body.len() as u32,
                        status: Status::Ok,
                        flags: u16::from(!intact) * wire::flags::OUT_CORRUPTED,
                        rx_ticks: now_ns,
                        tx_ticks: now_ns,
                    }
                    .encode(&mut frame);
                    let frame = [&frame[..], &body].concat();
                    give(frame, u64::from(header.sequence), given, answers);
                }
            }
            if self.begun.is_empty() {
                break;
            }
        }
        if self.datagram {
            self.begun.clear();
        }
    }

    fn opened(&mut self) {
        self.begun.clear();
    }
}

/// Answers each message of a foreign framing with itself.
pub struct Foreign {
    splitter: Splitter,
    /// Bytes of a message, where the framing does not say.
    size: usize,
    datagram: bool,
    begun: Vec<Byte>,
    /// The last message, which it sends without being asked, too.
    last: Vec<u8>,
}

impl Foreign {
    /// One for this framing.
    pub fn new(framing: &Framing, size: usize, datagram: bool) -> Foreign {
        Foreign {
            splitter: Splitter::new(framing, datagram, LARGEST).expect("a sound framing"),
            size,
            datagram,
            begun: Vec::new(),
            last: Vec::new(),
        }
    }
}

impl Device for Foreign {
    fn take(
        &mut self,
        bytes: &[Byte],
        _now_ns: u64,
        _given: &mut Vec<Given>,
        answers: &mut Vec<Vec<Byte>>,
    ) {
        self.begun.extend_from_slice(bytes);
        while !self.begun.is_empty() {
            let values: Vec<u8> = self.begun.iter().map(|byte| byte.value).collect();
            match self.splitter.next(&values, self.size) {
                Split::More => break,
                Split::Message { end, .. } => {
                    self.last = values[..end].to_vec();
                    answers.push(self.begun.drain(..end).collect());
                }
                Split::Malformed(_) => self.begun.clear(),
            }
        }
        if self.datagram {
            self.begun.clear();
        }
    }

    fn opened(&mut self) {
        self.begun.clear();
    }

    fn unasked(&mut self, _given: &[Given], _random: &mut Random) -> Message {
        let tag = Tag::default();
        let bytes = self.last.iter().map(|&value| Byte { value, tag });
        Message {
            bytes: bytes.collect(),
            spoils: false,
        }
    }
}
