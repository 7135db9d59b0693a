//! HELLO, without I/O: who the device is and what it can do. Over datagrams it also proves this host's
//! address, without which a responder sends no more bytes than it received.

use wiregauge_wire as wire;
use wiregauge_wire::{Found, HelloReply, HelloRequest, Request, Response};

/// A datagram may be lost, so HELLO is sent more than once.
pub const ATTEMPTS: u32 = 3;

/// Rounds after which numbers come again.
const ROUNDS: u32 = 1 << 16;

/// Received bytes kept for the error message.
const SHOWN: usize = 16;

/// How HELLO ended.
#[derive(Clone, Debug)]
pub enum HelloEnd {
    /// The device replied, and where that is needed it knows this host's address now.
    Reply(Box<HelloReply>),
    /// No reply to any attempt.
    NoReply,
}

/// One HELLO, with its attempts.
#[derive(Debug)]
pub struct Hello {
    datagram: bool,
    timeout_ns: u64,
    /// Number of the first request of the first attempt.
    highest: u32,
    attempt: u32,
    /// Over datagrams the second request carries the token of the first reply.
    proving: bool,
    number: u32,
    until_ns: u64,
    request: [u8; wire::HELLO_REQUEST],
    sent: usize,
    input: Vec<u8>,
    seen: Vec<u8>,
    seen_count: u64,
    reply: Option<HelloReply>,
}

impl Hello {
    /// HELLO over a link of this kind, with so much time for each reply.
    pub fn new(datagram: bool, timeout_ns: u64, now_ns: u64) -> Hello {
        Hello::again(datagram, timeout_ns, now_ns, 0)
    }

    /// The same for the `round`th time after the first: a straggler of an earlier one is no reply to it.
    pub fn again(datagram: bool, timeout_ns: u64, now_ns: u64, round: u32) -> Hello {
        let mut hello = Hello {
            datagram,
            timeout_ns,
            // Far from the numbers of exchanges.
            highest: u32::MAX - 2 * ATTEMPTS * (round % ROUNDS),
            attempt: 0,
            proving: false,
            number: 0,
            until_ns: 0,
            request: [0; wire::HELLO_REQUEST],
            sent: 0,
            input: Vec::with_capacity(4 * wire::HELLO_RESPONSE),
            seen: Vec::with_capacity(SHOWN),
            seen_count: 0,
            reply: None,
        };
        hello.ask([0; 8], now_ns);
        hello
    }

    fn ask(&mut self, token: [u8; 8], now_ns: u64) {
        self.number = self.highest - 2 * self.attempt - u32::from(self.proving);
        let (header, payload) = self.request.split_at_mut(wire::REQUEST_HEADER);
        Request {
            kind: wire::Kind::Hello,
            sequence: self.number,
            out_payload: payload.len() as u32,
            in_bytes: wire::HELLO_RESPONSE as u32,
        }
        .encode(header.try_into().expect("split at the header's size"));
        payload.copy_from_slice(&HelloRequest { token }.encode());
        self.sent = 0;
        self.until_ns = now_ns.saturating_add(self.timeout_ns);
    }

    /// The bytes to hand over now.
    pub fn outgoing(&self) -> &[u8] {
        &self.request[self.sent..]
    }

    /// The system took `count` of them.
    pub fn sent(&mut self, count: usize) {
        self.sent += count;
    }

    /// When [`Hello::poll`] must be asked again at the latest.
    pub fn wake_ns(&self) -> u64 {
        self.until_ns
    }

    /// Takes received bytes; over datagrams one datagram. True if a reply to this HELLO was in them.
    pub fn received(&mut self, bytes: &[u8], now_ns: u64) -> bool {
        self.input.extend_from_slice(bytes);
        let mut at = 0;
        let mut found = None;
        while at < self.input.len() && found.is_none() {
            match wire::next_frame::<Response>(&self.input[at..], wire::HELLO_RESPONSE) {
                Found::Incomplete { .. } => break,
                Found::Garbage { skip } => {
                    self.note(at..at + skip.max(1));
                    at += skip.max(1);
                }
                Found::Frame {
                    skip,
                    header,
                    payload,
                    end,
                    ..
                } => {
                    self.note(at..at + skip);
                    let ours = header.kind == wire::Kind::Hello && header.sequence == self.number;
                    let payload = &self.input[at + payload.start..at + payload.end];
                    found = HelloReply::decode(payload).filter(|_| ours);
                    at += end.max(1);
                }
            }
        }
        if self.datagram {
            self.note(at..self.input.len());
            self.input.clear();
        } else {
            self.input.drain(..at);
        }
        match found {
            None => return false,
            Some(reply) if self.datagram && !self.proving => {
                self.proving = true;
                self.ask(reply.token, now_ns);
            }
            Some(reply) => self.reply = Some(reply),
        }
        true
    }

    fn note(&mut self, place: std::ops::Range<usize>) {
        self.seen_count += place.len() as u64;
        let room = SHOWN - self.seen.len();
        let shown = &self.input[place];
        self.seen.extend_from_slice(&shown[..shown.len().min(room)]);
    }

    /// Begins the next attempt if it is time to; returns how it ended, once it has.
    pub fn poll(&mut self, now_ns: u64) -> Option<HelloEnd> {
        if let Some(reply) = &self.reply {
            return Some(HelloEnd::Reply(Box::new(*reply)));
        }
        if now_ns < self.until_ns {
            return None;
        }
        self.note(0..self.input.len());
        self.input.clear();
        self.attempt += 1;
        self.proving = false;
        if self.attempt >= ATTEMPTS {
            return Some(HelloEnd::NoReply);
        }
        self.ask([0; 8], now_ns);
        None
    }

    /// The first bytes that came and were no reply, and how many there were in all.
    pub fn seen(&self) -> (&[u8], u64) {
        (&self.seen, self.seen_count)
    }
}
