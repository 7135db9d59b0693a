//! The responder itself, without any I/O: received bytes in, answers with the time when they are
//! due out. Everything that it holds is bounded.

use super::faults::{Fate, Fates, Faults};
use super::model::{Model, ModelledDevice};
use crate::host::Clock;
use crate::limits::Bus;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use wiregauge_record::Protocol;
use wiregauge_wire as wire;
use wiregauge_wire::{Found, HelloReply, HelloRequest, Kind, Request, Response, Status};

/// Bytes of answers held at most before requests are left unread.
const HELD: usize = 1 << 20;

/// How much later a reordered answer is sent.
const REORDER_NS: u64 = 5_000_000;

/// What a responder is.
#[derive(Clone, Debug)]
pub struct Character {
    /// What it speaks.
    pub protocol: Protocol,
    /// The name that it gives.
    pub name: String,
    /// Largest frame in either direction.
    pub max_frame: u32,
    /// What is modelled.
    pub model: Model,
    /// What goes wrong.
    pub faults: Faults,
    /// Seed of all that is random.
    pub seed: u64,
}

/// An answer and when it is due.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Reply {
    due_ns: u64,
    order: u64,
    bytes: Vec<u8>,
}

/// One device, seen by one peer.
pub struct Device {
    character: Character,
    clock: Clock,
    modelled: Option<ModelledDevice>,
    fates: Option<Fates>,
    later: BinaryHeap<Reverse<Reply>>,
    held: usize,
    order: u64,
    scratch: Vec<u8>,
    /// Bytes of an incomplete request at the front of the stream that were compared already.
    seen: usize,
    /// The modelled bus that carries its packets outside of it; its time is that bus's.
    on_bus: Option<Bus>,
}

/// How much a peer may be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Anything: a connection, or a datagram's address that was proved.
    Proved,
    /// Not more bytes than it sent.
    Unproved,
}

impl Device {
    /// A device at rest, whose own clock is `clock`.
    pub fn new(character: Character, clock: Clock) -> Device {
        let (model, faults, seed) = (character.model, character.faults, character.seed);
        Device {
            modelled: (model != Model::default() || faults.stall.is_some())
                .then(|| ModelledDevice::new(model, seed)),
            fates: (faults != Faults::default()).then(|| Fates::new(faults, seed ^ 0x5eed)),
            character,
            clock,
            later: BinaryHeap::new(),
            held: 0,
            order: 0,
            scratch: Vec::new(),
            seen: 0,
            on_bus: None,
        }
    }

    /// A device whose packets a modelled bus carries: what it is told is the time, and nothing else.
    pub fn on_bus(character: Character, clock: Clock, bus: Bus) -> Device {
        Device {
            on_bus: Some(bus),
            ..Device::new(character, clock)
        }
    }

    /// True if it has disconnected itself and owes no more answers.
    pub fn is_gone(&self) -> bool {
        self.has_left() && self.later.is_empty()
    }

    fn has_left(&self) -> bool {
        self.fates.as_ref().is_some_and(Fates::is_gone)
    }

    /// Takes requests from received bytes of a stream; answers due at once are appended to
    /// `ready`. Returns how many bytes were used up; it stops early when it holds enough answers.
    pub fn take_stream(&mut self, bytes: &[u8], now_ns: u64, ready: &mut Vec<u8>) -> usize {
        if self.character.protocol == Protocol::Echo {
            if self.held + ready.len() >= HELD || self.has_left() {
                return 0;
            }
            self.answer(bytes.len(), now_ns, ready, |to| to.extend_from_slice(bytes));
            return bytes.len();
        }
        let mut used = 0;
        while used < bytes.len() && self.held + ready.len() < HELD && !self.has_left() {
            let rest = &bytes[used..];
            if let Some(request) = self.oversized(rest) {
                self.refuse(&request, Status::TooLarge, now_ns, ready);
                // What follows the header is noise, and skipped as such.
                used += wire::REQUEST_HEADER;
                continue;
            }
            let (most, seen) = (
                self.character.max_frame as usize,
                std::mem::take(&mut self.seen),
            );
            match wire::next_frame_after::<Request>(rest, most, seen) {
                Found::Incomplete { .. } => {
                    self.seen = rest.len();
                    break;
                }
                Found::Garbage { skip } => used += skip.max(1),
                Found::Frame {
                    header,
                    payload,
                    end,
                    intact,
                    ..
                } => {
                    let payload = &rest[payload];
                    self.take_request(&header, payload, intact, now_ns, Trust::Proved, ready);
                    used += end.max(1);
                }
            }
        }
        used
    }

    /// Takes one datagram; its answer, if it is due at once, is put into `ready`.
    pub fn take_datagram(&mut self, bytes: &[u8], now_ns: u64, trust: Trust, ready: &mut Vec<u8>) {
        if self.held >= HELD || self.has_left() {
            return;
        }
        if self.character.protocol == Protocol::Echo {
            self.answer(bytes.len(), now_ns, ready, |to| to.extend_from_slice(bytes));
            return;
        }
        if let Found::Frame {
            header,
            payload,
            intact,
            skip: 0,
            end,
        } = wire::next_frame::<Request>(bytes, self.character.max_frame as usize)
            && end == bytes.len()
        {
            self.take_request(&header, &bytes[payload], intact, now_ns, trust, ready);
        }
    }

    /// The token in a HELLO, if the datagram is one.
    pub fn token_in(bytes: &[u8]) -> Option<[u8; 8]> {
        match wire::next_frame::<Request>(bytes, wire::HELLO_REQUEST) {
            Found::Frame {
                header, payload, ..
            } if header.kind == Kind::Hello => {
                HelloRequest::decode(&bytes[payload]).map(|hello| hello.token)
            }
            _ => None,
        }
    }

    /// A request at the front whose size alone is over the limit: nobody waits for its payload.
    fn oversized(&self, bytes: &[u8]) -> Option<Request> {
        let request = Request::decode(bytes).ok()?;
        let size = wire::REQUEST_HEADER as u64 + u64::from(request.out_payload);
        (size > u64::from(self.character.max_frame)).then_some(request)
    }

    fn refuse(&self, request: &Request, status: Status, now_ns: u64, ready: &mut Vec<u8>) {
        let response = Response {
            kind: request.kind,
            sequence: request.sequence,
            in_payload: 0,
            status,
            flags: 0,
            rx_ticks: now_ns,
            tx_ticks: now_ns,
        };
        put_header(&response, ready);
    }

    fn take_request(
        &mut self,
        request: &Request,
        payload: &[u8],
        intact: bool,
        now_ns: u64,
        trust: Trust,
        ready: &mut Vec<u8>,
    ) {
        let out_bytes = wire::REQUEST_HEADER + payload.len();
        // A request for less is one for the header alone.
        let in_bytes = (request.in_bytes as usize).max(wire::RESPONSE_HEADER);
        let status = match request.kind {
            Kind::Hello => {
                self.hello(request, payload, now_ns, ready);
                return;
            }
            Kind::Exchange if request.in_bytes > self.character.max_frame => Status::TooLarge,
            Kind::Exchange
                if trust == Trust::Unproved && self.most_sent_for(in_bytes) > out_bytes =>
            {
                Status::Unproven
            }
            Kind::Exchange => Status::Ok,
            _ => Status::Unsupported,
        };
        if status != Status::Ok {
            if trust == Trust::Proved || out_bytes >= wire::RESPONSE_HEADER {
                self.refuse(request, status, now_ns, ready);
            }
            return;
        }
        let response = Response {
            kind: request.kind,
            sequence: request.sequence,
            in_payload: 0,
            status,
            flags: if intact {
                0
            } else {
                wire::flags::OUT_CORRUPTED
            },
            rx_ticks: now_ns,
            tx_ticks: now_ns,
        };
        let in_payload = in_bytes - wire::RESPONSE_HEADER;
        let (clock, on_bus) = (self.clock, self.on_bus);
        self.answer(out_bytes, now_ns, ready, |to| {
            let begin = to.len();
            to.resize(begin + in_bytes, 0);
            let (header, payload) = to[begin..].split_at_mut(wire::RESPONSE_HEADER);
            wire::fill_pattern(response.sequence, payload);
            Response {
                in_payload: in_payload as u32,
                tx_ticks: on_bus.map_or_else(|| clock.now(), |_| now_ns),
                ..response
            }
            .encode(header.try_into().expect("split at the header's size"));
        });
    }

    /// Bytes that may go out for an answer of so many, with the faults that add to it.
    fn most_sent_for(&self, in_bytes: usize) -> usize {
        let faults = self.character.faults;
        let once = in_bytes + usize::from(faults.insert_byte.is_some());
        once * (1 + usize::from(faults.duplicate.is_some()))
    }

    /// Composes an answer and sends it on its way: at once, later, twice or never.
    fn answer(
        &mut self,
        out_bytes: usize,
        now_ns: u64,
        ready: &mut Vec<u8>,
        compose: impl FnOnce(&mut Vec<u8>),
    ) {
        if self.modelled.is_none() && self.fates.is_none() {
            compose(ready);
            return;
        }
        let fate = self.fates.as_mut().map_or(Fate::default(), Fates::next);
        // The model must know the answer's size before the answer can tell the model's times, so
        // its header is written again below.
        let mut bytes = std::mem::take(&mut self.scratch);
        bytes.clear();
        compose(&mut bytes);
        let mut due_ns = now_ns;
        if let Some(device) = &mut self.modelled {
            let in_bytes = bytes.len() as u64;
            let passage = device.pass(now_ns, out_bytes as u64, in_bytes, fate.stall_ns);
            due_ns = passage.delivered_ns;
            if self.character.protocol == Protocol::Wiregauge
                && let Ok(response) = Response::decode(&bytes)
            {
                let header = &mut bytes[..wire::RESPONSE_HEADER];
                let rewritten = Response {
                    rx_ticks: passage.arrived_ns,
                    tx_ticks: passage.ready_ns,
                    ..response
                };
                rewritten.encode(header.try_into().expect("cut to the header's size"));
            }
        }
        if fate.reorder {
            due_ns += REORDER_NS;
        }
        fate.mangle(&mut bytes);
        let copies = if fate.drop {
            0
        } else {
            1 + usize::from(fate.duplicate)
        };
        for _ in 0..copies {
            self.order += 1;
            self.held += bytes.len();
            self.later.push(Reverse(Reply {
                due_ns,
                order: self.order,
                bytes: bytes.clone(),
            }));
        }
        self.scratch = bytes;
    }

    fn hello(&self, request: &Request, payload: &[u8], now_ns: u64, ready: &mut Vec<u8>) {
        // A short HELLO could make a responder send more than it got.
        let Some(hello) = HelloRequest::decode(payload) else {
            return;
        };
        let max = self.character.max_frame;
        let mut reply = HelloReply {
            min_version: wire::VERSION,
            max_version: wire::VERSION,
            tick_bits: 64,
            bus: match self.on_bus.or(self.character.model.bus) {
                None => 0,
                Some(Bus::FullSpeed) => 2,
                Some(Bus::HighSpeed) => 3,
            },
            abilities: wire::abilities::EXCHANGE
                | wire::abilities::TIMESTAMPS
                | wire::abilities::CHECKS_OUT,
            max_out: max,
            max_in: max,
            max_outstanding: 0,
            tick_hz: 1_000_000_000,
            name: [0; 32],
            token: hello.token,
        };
        reply.set_name(&self.character.name);
        let payload = reply.encode();
        let response = Response {
            kind: Kind::Hello,
            sequence: request.sequence,
            in_payload: payload.len() as u32,
            status: Status::Ok,
            flags: 0,
            rx_ticks: now_ns,
            tx_ticks: now_ns,
        };
        put_header(&response, ready);
        ready.extend_from_slice(&payload);
    }

    /// When the next answer is due.
    pub fn next_due_ns(&self) -> Option<u64> {
        self.later.peek().map(|Reverse(reply)| reply.due_ns)
    }

    /// Takes the next answer if it is due.
    pub fn pop_due(&mut self, now_ns: u64) -> Option<Vec<u8>> {
        if self.next_due_ns()? > now_ns {
            return None;
        }
        let Reverse(reply) = self.later.pop()?;
        self.held -= reply.bytes.len();
        Some(reply.bytes)
    }

    /// True if it can take more requests.
    pub fn has_room(&self, ready: usize) -> bool {
        self.held + ready < HELD && !self.has_left()
    }
}

fn put_header(response: &Response, to: &mut Vec<u8>) {
    let mut header = [0; wire::RESPONSE_HEADER];
    response.encode(&mut header);
    to.extend_from_slice(&header);
}
