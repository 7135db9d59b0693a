//! For tests in virtual time: a link whose calls take known times, and a plan for it.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::time::Duration;
use wiregauge_link::Link;
use wiregauge_link::host::{TestClock, Time};
use wiregauge_record::{
    Connect, HostPlan, Limit, LinkOptions, Plan, Point, Protocol, Schedule, Wait,
};

pub const US: u64 = 1_000;
pub const MS: u64 = 1_000_000;

/// What a call of the link takes.
pub const SEND: u64 = 2 * US;
pub const RECEIVE: u64 = 3 * US;
pub const OPEN: u64 = 40 * US;

pub const TIMEOUT: u64 = 50 * MS;

/// How long a stalled receive takes.
pub const STALL: u64 = 300 * US;

/// A device that echoes, request `n` after `service(n)`, or not at all. Notes when the link was called.
pub struct Timed<S> {
    clock: TestClock,
    service: S,
    requests: u64,
    arriving: VecDeque<(u64, Vec<u8>)>,
    /// When each request was handed over, and when each reply had been received.
    pub sent: Vec<u64>,
    pub received: Vec<u64>,
    /// What a receive takes, and how many there were.
    pub receive_ns: u64,
    receives: u64,
    /// The processor does something else during this receive, for `STALL`.
    pub stalled_receive: Option<u64>,
    /// What the device sends every millisecond, unasked, and when it does so next.
    pub chatter: &'static [u8],
    next_chatter: u64,
    /// Nothing comes but replies.
    pub only_replies: bool,
    /// Requests whose datagrams are refused, and whether the system has yet to report one.
    pub refused: Range<u64>,
    refusal: bool,
    /// The longest sleep of a blocking receive.
    receive_timeout: Duration,
}

impl<S> Timed<S> {
    pub fn new(clock: TestClock, service: S) -> Timed<S> {
        Timed {
            clock,
            service,
            requests: 0,
            arriving: VecDeque::new(),
            sent: Vec::new(),
            received: Vec::new(),
            receive_ns: RECEIVE,
            receives: 0,
            stalled_receive: None,
            chatter: b"",
            next_chatter: MS,
            only_replies: false,
            refused: 0..0,
            refusal: false,
            receive_timeout: Duration::ZERO,
        }
    }
}

impl<S: FnMut(u64) -> Option<u64> + Send> Link for Timed<S> {
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let begun = self.clock.now();
        self.sent.push(begun);
        let taken = self.clock.advance(SEND);
        if self.refused.contains(&self.requests) {
            self.refusal = true;
        } else if let Some(after) = (self.service)(self.requests) {
            self.arriving.push_back((taken + after, bytes.to_vec()));
        }
        self.requests += 1;
        Ok(bytes.len())
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let begun = self.clock.now();
        let stall_ns = match self.stalled_receive {
            Some(stalled) if stalled == self.receives => STALL,
            _ => 0,
        };
        self.receives += 1;
        let ended = self.clock.advance(self.receive_ns + stall_ns);
        if std::mem::take(&mut self.refusal) {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        while !self.chatter.is_empty() && self.next_chatter <= begun {
            self.arriving
                .push_back((self.next_chatter, self.chatter.to_vec()));
            self.next_chatter += MS;
        }
        let mut count = 0;
        while self.arriving.front().is_some_and(|(at, _)| *at <= begun) {
            let (_, reply) = self.arriving.pop_front().expect("it was just seen");
            into[count..count + reply.len()].copy_from_slice(&reply);
            count += reply.len();
            self.received.push(ended);
        }
        Ok(count)
    }

    fn receive_blocking(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.wait(false, self.receive_timeout)?;
        self.receive(into)
    }

    fn set_receive_timeout(&mut self, timeout: Option<Duration>) -> io::Result<bool> {
        // Nobody wakes it, so it must wake up by itself.
        self.receive_timeout = timeout.expect("a timeout");
        Ok(true)
    }

    fn wait(&mut self, _or_writable: bool, at_most: Duration) -> io::Result<()> {
        if self.refusal {
            return Ok(());
        }
        let latest = self.clock.now() + at_most.as_nanos() as u64;
        let chatter = (!self.chatter.is_empty()).then_some(self.next_chatter);
        let reply = self.arriving.front().map(|(at, _)| *at);
        let arrives = reply.into_iter().chain(chatter).min();
        let arrives = arrives.unwrap_or(u64::MAX);
        self.clock.sleep_until(latest.min(arrives));
        Ok(())
    }

    fn only_replies(&self) -> bool {
        self.only_replies
    }

    fn close(&mut self) {}

    fn reopen(&mut self, _is_interrupted: &mut dyn FnMut() -> bool) -> io::Result<()> {
        self.clock.advance(OPEN);
        Ok(())
    }
}

pub fn point(out_bytes: u32, in_bytes: u32, depth: u32) -> Point {
    Point {
        index: 0,
        out_bytes,
        in_bytes,
        depth,
        link: 0,
        together: false,
    }
}

/// 20 exchanges of 8 bytes, and the first.
pub fn plan(connect: Connect, wait: Wait, interval_ns: Option<u64>) -> Plan {
    Plan {
        address: "memory".into(),
        more_links: Vec::new(),
        protocol: Protocol::Lines,
        queries: None,
        connect,
        points: vec![point(8, 8, 1)],
        limit: Limit::Count(20),
        warmup: 0,
        schedule: interval_ns.map_or(Schedule::AsFastAsPossible, Schedule::EveryNs),
        timeout_ns: TIMEOUT,
        give_up: 10,
        wait,
        below_ns: Vec::new(),
        keep_data: false,
        batch: None,
        calibrate: false,
        host: HostPlan::default(),
        link: LinkOptions::default(),
    }
}
