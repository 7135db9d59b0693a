//! The devices written for the simulator.

use super::{Byte, Given, Tag};
use crate::queries;
use crate::random::Random;
use crate::scenario::{Devices, Protocols, Scenario};
use wiregauge_wire as wire;
use wiregauge_wire::{Found, HelloReply, Kind, Request, Response, Status};

/// A message that nobody asked for.
pub struct Message {
    /// Its bytes, which are part of no answer.
    pub bytes: Vec<Byte>,
    /// Answers near it can be hurt by it: where it ends, or that it is none, cannot be known.
    pub spoils: bool,
}

/// What answers at the other end. Its time is the world's.
pub trait Device {
    /// Takes bytes that arrived together (over datagrams: one), and answers.
    fn take(
        &mut self,
        bytes: &[Byte],
        now_ns: u64,
        given: &mut Vec<Given>,
        answers: &mut Vec<Vec<Byte>>,
    );

    /// A link was opened.
    fn opened(&mut self) {}

    /// Forgets everything.
    fn restart(&mut self) {
        self.opened();
    }

    /// True if it sends what nobody asked for.
    fn speaks_unasked(&self) -> bool {
        false
    }

    /// What it sends now, and when it speaks again.
    fn speak(&mut self, _now_ns: u64, _random: &mut Random) -> Option<(Vec<Byte>, u64)> {
        None
    }

    /// A message that nobody asked for, as the device would send it; `given` are all answers so far.
    fn unasked(&mut self, _given: &[Given], random: &mut Random) -> Message {
        let count = random.between(1, 20);
        let bytes: Vec<u8> = (0..count).map(|_| random.any() as u8).collect();
        Message {
            bytes: tagged(&bytes, 0),
            spoils: true,
        }
    }
}

/// The device of a scenario, but for one that floods the host.
pub fn answering(scenario: &Scenario) -> Box<dyn Device> {
    let datagram = scenario.datagram;
    let plain: Box<dyn Device> = match scenario.protocol {
        Protocols::Echo => Box::new(Echo {
            datagram,
            answers_whole: answers_whole(scenario),
            surplus: surplus(scenario),
            begun: Vec::new(),
        }),
        Protocols::Lines => Box::new(Lines {
            datagram,
            end: b"\n",
            begun: Vec::new(),
        }),
        Protocols::Text | Protocols::Silence => Box::new(Lines {
            datagram,
            end: queries::END,
            begun: Vec::new(),
        }),
        Protocols::Tcp | Protocols::Rtu => Box::new(Modbus {
            protocol: scenario.protocol,
            begun: Vec::new(),
            heard_ns: 0,
        }),
        Protocols::Exchange => Box::new(Exchange {
            datagram,
            begun: Vec::new(),
            proved: true,
            heard_ns: 0,
        }),
    };
    match scenario.device {
        Devices::Plain | Devices::Flooding => plain,
        Devices::Hostile => Box::new(Hostile {
            inner: plain,
            largest: scenario.largest(),
            heard: Vec::new(),
            every_ns: scenario.timeout_ns / 7 + 1,
        }),
    }
}

/// Whether an echo comes back as a whole, so that whole ones can be dropped, doubled and held back.
fn answers_whole(scenario: &Scenario) -> bool {
    let faults = scenario.faults;
    let of_answers =
        faults.drop_answer + faults.double_answer + faults.swap_answer + faults.late_answer;
    let takes_time = faults.service_ns > 0 || faults.stall_every > 0 || faults.pause > 0;
    of_answers > 0 || faults.surplus > 0 || takes_time
}

/// What the device sends behind each echo.
fn surplus(scenario: &Scenario) -> Vec<Byte> {
    let mut random = Random::new(scenario.seed ^ 0x5042_13A7);
    let bytes = (0..scenario.faults.surplus).map(|at| Byte {
        value: match (scenario.faults.surplus, at) {
            (2, 0) => b'\r',
            (2, 1) => b'\n',
            _ => random.any() as u8,
        },
        tag: Tag {
            answer: Tag::SURPLUS,
            at,
            changed: 0,
        },
    });
    bytes.collect()
}

struct Echo {
    datagram: bool,
    answers_whole: bool,
    surplus: Vec<Byte>,
    begun: Vec<Byte>,
}

impl Device for Echo {
    fn take(
        &mut self,
        bytes: &[Byte],
        _now_ns: u64,
        given: &mut Vec<Given>,
        answers: &mut Vec<Vec<Byte>>,
    ) {
        if self.datagram || !self.answers_whole {
            answers.push(bytes.to_vec());
            return;
        }
        for byte in bytes {
            self.begun.push(*byte);
            let index = (byte.tag.answer as usize).checked_sub(1);
            let request = index.and_then(|index| given.get(index));
            if request.is_some_and(|request| byte.tag.at + 1 == request.bytes) {
                let mut answer = std::mem::take(&mut self.begun);
                answer.extend_from_slice(&self.surplus);
                answers.push(answer);
            }
        }
    }

    fn opened(&mut self) {
        self.begun.clear();
    }
}

struct Lines {
    datagram: bool,
    end: &'static [u8],
    begun: Vec<Byte>,
}

impl Device for Lines {
    fn take(
        &mut self,
        bytes: &[Byte],
        _now_ns: u64,
        _given: &mut Vec<Given>,
        answers: &mut Vec<Vec<Byte>>,
    ) {
        self.begun.extend_from_slice(bytes);
        if self.datagram {
            answers.push(std::mem::take(&mut self.begun));
            return;
        }
        let ends = |bytes: &[Byte]| bytes.iter().map(|byte| &byte.value).eq(self.end);
        while let Some(at) = self.begun.windows(self.end.len()).position(ends) {
            answers.push(self.begun.drain(..at + self.end.len()).collect());
        }
    }

    fn opened(&mut self) {
        self.begun.clear();
    }

    fn unasked(&mut self, given: &[Given], random: &mut Random) -> Message {
        let usual = given.last().map_or(8, |given| given.bytes as usize);
        let size = random.pick(&[usual, usual, 3, 30]).max(self.end.len());
        let line = vec![random.pick(b"ax7"); size - self.end.len()];
        Message {
            bytes: tagged(&[&line, self.end].concat(), 0),
            spoils: false,
        }
    }
}

/// Reads registers.
struct Modbus {
    protocol: Protocols,
    begun: Vec<Byte>,
    heard_ns: u64,
}

/// Behind this silence a serial frame begins.
const FRAME_GAP_NS: u64 = 1_000_000;

impl Device for Modbus {
    fn take(
        &mut self,
        bytes: &[Byte],
        now_ns: u64,
        given: &mut Vec<Given>,
        answers: &mut Vec<Vec<Byte>>,
    ) {
        let is_serial = self.protocol == Protocols::Rtu;
        if is_serial && now_ns - self.heard_ns > FRAME_GAP_NS {
            self.begun.clear();
        }
        self.heard_ns = now_ns;
        self.begun.extend(bytes);
        let size = if is_serial { 8 } else { 12 };
        while self.begun.len() >= size {
            let frame: Vec<Byte> = self.begun.drain(..size).collect();
            let request = of_one_request(&frame, given);
            let frame: Vec<u8> = frame.iter().map(|byte| byte.value).collect();
            let (body, number, is_right) = match is_serial {
                true => (&frame[..6], 0, queries::check(&frame[..6]) == frame[6..]),
                false => (
                    &frame[6..],
                    u16::from_be_bytes([frame[0], frame[1]]),
                    frame[2..6] == [0, 0, 0, 6],
                ),
            };
            if let Some(reply) = queries::modbus_reply(body).filter(|_| is_right) {
                let reply = queries::framed(self.protocol, number, &reply);
                let answer = request.map_or(0, |number| {
                    let bytes = reply.len() as u32;
                    given.push(Given { number, bytes });
                    given.len() as u32
                });
                answers.push(tagged(&reply, answer));
            }
        }
    }

    fn opened(&mut self) {
        self.begun.clear();
    }

    fn unasked(&mut self, given: &[Given], random: &mut Random) -> Message {
        let body = queries::modbus_reply(&[1, 3, 0, 7, 0, random.pick(&[1, 3, 20])]);
        // A number that no request had for long.
        let number = given.last().map_or(0, |given| given.number) as u16;
        let number = number.wrapping_add(random.between(20_000, 40_000) as u16);
        let frame = queries::framed(self.protocol, number, &body.unwrap_or_default());
        Message {
            bytes: tagged(&frame, 0),
            spoils: false,
        }
    }
}

/// The number of the request whose bytes these are, all of them and unchanged.
fn of_one_request(bytes: &[Byte], given: &[Given]) -> Option<u64> {
    let first = bytes.first()?.tag;
    let request = given.get((first.answer as usize).checked_sub(1)?)?;
    let is_whole = request.bytes as usize == bytes.len();
    let mut places = bytes.iter().zip(0..);
    let are_its = places.all(|(byte, at)| byte.tag == Tag { at, ..first } && first.changed == 0);
    (is_whole && are_its).then_some(request.number)
}

/// Answers EXCHANGE and HELLO.
struct Exchange {
    datagram: bool,
    begun: Vec<u8>,
    /// The host's address is proved, so long as it is heard of.
    proved: bool,
    heard_ns: u64,
}

/// A proof of address ends so long after the last request (docs/protocol.md).
const PROOF_NS: u64 = 60_000_000_000;

/// What the host must repeat to prove its address.
const TOKEN: [u8; 8] = *b"prove it";

/// Frames that are larger are noise.
const LARGEST: usize = 4096;

impl Exchange {
    fn answer(
        &mut self,
        request: &Request,
        payload: &[u8],
        intact: bool,
        now_ns: u64,
        given: &mut Vec<Given>,
    ) -> Option<Vec<Byte>> {
        let out_bytes = wire::REQUEST_HEADER + payload.len();
        if now_ns.saturating_sub(self.heard_ns) > PROOF_NS {
            self.proved = false;
        }
        let mut response = Response {
            kind: request.kind,
            sequence: request.sequence,
            in_payload: 0,
            status: Status::Ok,
            flags: u16::from(!intact) * wire::flags::OUT_CORRUPTED,
            rx_ticks: now_ns,
            tx_ticks: now_ns,
        };
        let mut body = Vec::new();
        let unproved = self.datagram && !self.proved;
        match request.kind {
            Kind::Hello => {
                let token = wire::HelloRequest::decode(payload)?.token;
                self.proved |= token == TOKEN;
                body.extend_from_slice(&hello_reply().encode());
            }
            Kind::Exchange if unproved && request.in_bytes as usize > out_bytes => {
                if out_bytes < wire::RESPONSE_HEADER {
                    return None;
                }
                response.status = Status::Unproven;
            }
            Kind::Exchange => {
                body.resize(
                    (request.in_bytes as usize).saturating_sub(wire::RESPONSE_HEADER),
                    0,
                );
                wire::fill_pattern(request.sequence, &mut body);
            }
            _ => response.status = Status::Unsupported,
        }
        if self.proved {
            self.heard_ns = now_ns;
        }
        response.in_payload = body.len() as u32;
        let mut header = [0; wire::RESPONSE_HEADER];
        response.encode(&mut header);
        let bytes = [&header[..], &body[..]].concat();
        let is_answer = request.kind == Kind::Exchange && response.status == Status::Ok;
        if is_answer {
            given.push(Given {
                number: u64::from(request.sequence),
                bytes: bytes.len() as u32,
            });
        }
        let answer = if is_answer { given.len() as u32 } else { 0 };
        Some(tagged(&bytes, answer))
    }
}

fn tagged(bytes: &[u8], answer: u32) -> Vec<Byte> {
    let tag = |at| match answer {
        0 => Tag::default(),
        _ => Tag {
            answer,
            at,
            changed: 0,
        },
    };
    let bytes = bytes.iter().enumerate();
    bytes
        .map(|(at, value)| Byte {
            value: *value,
            tag: tag(at as u32),
        })
        .collect()
}

fn hello_header(sequence: u32, now_ns: u64) -> [u8; wire::RESPONSE_HEADER] {
    let mut header = [0; wire::RESPONSE_HEADER];
    Response {
        kind: Kind::Hello,
        sequence,
        in_payload: 72,
        status: Status::Ok,
        flags: 0,
        rx_ticks: now_ns,
        tx_ticks: now_ns,
    }
    .encode(&mut header);
    header
}

fn hello_reply() -> HelloReply {
    HelloReply {
        min_version: 1,
        max_version: 1,
        tick_bits: 64,
        bus: 0,
        abilities: wire::abilities::EXCHANGE | wire::abilities::CHECKS_OUT,
        max_out: LARGEST as u32,
        max_in: LARGEST as u32,
        max_outstanding: 0,
        tick_hz: 1_000_000_000,
        name: [0; 32],
        token: TOKEN,
    }
}

impl Device for Exchange {
    fn take(
        &mut self,
        bytes: &[Byte],
        now_ns: u64,
        given: &mut Vec<Given>,
        answers: &mut Vec<Vec<Byte>>,
    ) {
        self.begun.extend(bytes.iter().map(|byte| byte.value));
        while !self.begun.is_empty() {
            match wire::next_frame::<Request>(&self.begun, LARGEST) {
                Found::Incomplete { .. } => break,
                Found::Garbage { skip } => drop(self.begun.drain(..skip)),
                Found::Frame {
                    header,
                    payload,
                    end,
                    intact,
                    skip,
                } => {
                    let whole = skip == 0 && end == self.begun.len();
                    let payload = self.begun[payload.start..payload.end.min(end)].to_vec();
                    self.begun.drain(..end);
                    if !self.datagram || whole {
                        answers.extend(self.answer(&header, &payload, intact, now_ns, given));
                    }
                }
            }
        }
        if self.datagram {
            self.begun.clear();
        }
    }

    fn opened(&mut self) {
        self.begun.clear();
    }

    fn restart(&mut self) {
        self.begun.clear();
        self.proved = false;
    }

    /// Frames of other kinds, with the numbers of requests that are under way, too.
    fn unasked(&mut self, given: &[Given], random: &mut Random) -> Message {
        let near = given.last().map_or(0, |given| given.number) as u32;
        let sequence = near.wrapping_add(random.below(3) as u32);
        let kind = random.pick(&[Kind::Hello, Kind::Message, Kind::Sink, Kind::Source]);
        let body = match kind {
            Kind::Hello => hello_reply().encode().to_vec(),
            Kind::Message => {
                let said = vec![random.any() as u8; random.pick(&[0, 1, 14, 200])];
                [&said[..], &wire::message_check(&said)].concat()
            }
            _ => Vec::new(),
        };
        let mut header = [0; wire::RESPONSE_HEADER];
        Response {
            kind,
            sequence,
            in_payload: body.len() as u32,
            status: Status::Ok,
            flags: 0,
            rx_ticks: 0,
            tx_ticks: 0,
        }
        .encode(&mut header);
        Message {
            bytes: tagged(&[&header[..], &body].concat(), 0),
            spoils: false,
        }
    }
}

/// Answers, and sends what nobody expects.
struct Hostile {
    inner: Box<dyn Device>,
    largest: u64,
    /// What the host sent last, to be sent back out of place.
    heard: Vec<u8>,
    every_ns: u64,
}

impl Device for Hostile {
    fn take(
        &mut self,
        bytes: &[Byte],
        now_ns: u64,
        given: &mut Vec<Given>,
        answers: &mut Vec<Vec<Byte>>,
    ) {
        self.heard.extend(bytes.iter().map(|byte| byte.value));
        let surplus = self.heard.len().saturating_sub(4096);
        self.heard.drain(..surplus);
        self.inner.take(bytes, now_ns, given, answers);
    }

    fn opened(&mut self) {
        self.inner.opened();
    }

    fn restart(&mut self) {
        self.inner.restart();
    }

    fn unasked(&mut self, given: &[Given], random: &mut Random) -> Message {
        self.inner.unasked(given, random)
    }

    fn speaks_unasked(&self) -> bool {
        true
    }

    fn speak(&mut self, now_ns: u64, random: &mut Random) -> Option<(Vec<Byte>, u64)> {
        let size = random.between(1, self.largest.min(200)) as usize;
        let noise = |random: &mut Random| (0..size).map(|_| random.any() as u8).collect::<Vec<_>>();
        let bytes = match random.below(5) {
            0 => noise(random),
            1 => {
                let from = random.below(self.heard.len() as u64) as usize;
                let to = self.heard.len().min(from + size);
                self.heard[from..to].to_vec()
            }
            // A reply to HELLO that the next header cuts short.
            2 => [hello_header(0, now_ns), hello_header(1, now_ns)].concat(),
            _ => {
                let mut header = [0; wire::RESPONSE_HEADER];
                let near = random.below(20) as u32;
                Response {
                    kind: random.pick(&[
                        Kind::Exchange,
                        Kind::Exchange,
                        Kind::Hello,
                        Kind::Message,
                    ]),
                    sequence: random.pick(&[near, u32::MAX - near, random.clone().any() as u32]),
                    in_payload: random.pick(&[0, 1, 16, self.largest as u32, 1 << 20, 16 << 20]),
                    status: Status::Ok,
                    flags: 0,
                    rx_ticks: random.any(),
                    tx_ticks: random.any(),
                }
                .encode(&mut header);
                [&header[..], &noise(random)].concat()
            }
        };
        let again = random.between(1, self.every_ns);
        Some((tagged(&bytes, 0), again))
    }
}
