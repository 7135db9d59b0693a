//! A device in virtual time: one that answers late, and one that never stops sending.

use crate::{Device, DeviceOptions, DeviceProtocol, Framing};
use std::collections::VecDeque;
use std::io;
use std::time::Duration;
use wiregauge_link::host::{TestClock, Time};
use wiregauge_link::{Address, Link, LinkErrorKind};
use wiregauge_session::{Messages, Splitter};

const MS: u64 = 1_000_000;
const TIMEOUT: Duration = Duration::from_millis(150);

/// What a call of the link takes.
const CALL: u64 = 2_000;

/// A device, and the line to it.
struct Peer<S> {
    clock: TestClock,
    /// What it sends for a request, and how long after it.
    answer: S,
    /// What it sends every millisecond, unasked.
    chatter: &'static [u8],
    next_chatter: u64,
    arriving: VecDeque<(u64, Vec<u8>)>,
}

impl<S: FnMut(&[u8]) -> Option<(u64, Vec<u8>)> + Send + 'static> Peer<S> {
    fn open(clock: TestClock, chatter: &'static [u8], framing: &Framing, answer: S) -> Device {
        let address = Address::parse("tcp://host:1").unwrap();
        let codec = Messages::Foreign(Splitter::new(framing, false, 1 << 16).unwrap());
        let options = DeviceOptions {
            protocol: DeviceProtocol::Framing(framing.clone()),
            timeout: TIMEOUT,
            ..DeviceOptions::default()
        };
        let peer = Peer {
            clock: clock.clone(),
            answer,
            chatter,
            next_chatter: MS,
            arriving: VecDeque::new(),
        };
        let mut device = Device::over(Box::new(peer), &address, codec, &options, None, 0).unwrap();
        device.driver.as_mut().unwrap().clock = Box::new(clock);
        device
    }
}

impl<S: FnMut(&[u8]) -> Option<(u64, Vec<u8>)> + Send> Peer<S> {
    /// Lets time pass, in which the device goes on sending.
    fn pass(&mut self, ns: u64) {
        let now = self.clock.advance(ns);
        while !self.chatter.is_empty() && self.next_chatter <= now {
            self.arriving
                .push_back((self.next_chatter, self.chatter.to_vec()));
            self.next_chatter += MS;
        }
    }

    /// When something comes next.
    fn next_ns(&self) -> Option<u64> {
        let chatter = (!self.chatter.is_empty()).then_some(self.next_chatter);
        let answer = self.arriving.front().map(|(at, _)| *at);
        answer.into_iter().chain(chatter).min()
    }
}

impl<S: FnMut(&[u8]) -> Option<(u64, Vec<u8>)> + Send> Link for Peer<S> {
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pass(CALL);
        let reply = (self.answer)(bytes);
        let at = |(after, reply)| (self.clock.now() + after, reply);
        self.arriving.extend(reply.map(at));
        Ok(bytes.len())
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.pass(CALL);
        let now = self.clock.now();
        let mut count = 0;
        while let Some((at, piece)) = self.arriving.front()
            && *at <= now
            && count + piece.len() <= into.len()
        {
            into[count..count + piece.len()].copy_from_slice(piece);
            count += piece.len();
            self.arriving.pop_front();
        }
        Ok(count)
    }

    fn receive_blocking(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.wait(false, TIMEOUT / 4)?;
        self.receive(into)
    }

    fn set_receive_timeout(&mut self, _: Option<Duration>) -> io::Result<bool> {
        Ok(true)
    }

    fn wait(&mut self, _or_writable: bool, at_most: Duration) -> io::Result<()> {
        let now = self.clock.now();
        let latest = now.saturating_add(at_most.as_nanos() as u64);
        let until = self.next_ns().map_or(latest, |at| at.clamp(now, latest));
        self.pass(until - now);
        Ok(())
    }

    fn close(&mut self) {}

    fn reopen(&mut self, _: &mut dyn FnMut() -> bool) -> io::Result<()> {
        Ok(())
    }
}

fn lines() -> Framing {
    Framing::Terminator {
        end: b"\n".to_vec(),
    }
}

#[test]
fn a_reply_that_comes_after_the_timeout_is_not_the_reply_to_the_next_request() {
    for framing in [lines(), Framing::Fixed { bytes: 2 }, Framing::Raw] {
        let mut requests = 0;
        let ends = framing == lines();
        let mut device = Peer::open(TestClock::default(), b"", &framing, move |request| {
            requests += 1;
            let reply = [request[0], if ends { b'\n' } else { b'.' }];
            let after = if requests == 1 { 250 * MS } else { MS / 10 };
            Some((after, reply.to_vec()))
        });
        let request = |n: u8| if ends { vec![n] } else { vec![n, b'?'] };
        let error = device.exchange(&request(b'0'), Some(2)).unwrap_err();
        assert_eq!(error.kind(), LinkErrorKind::Timeout);
        for n in b'1'..b'5' {
            let reply = device.exchange(&request(n), Some(2)).unwrap();
            assert_eq!(reply.payload[0], n, "{framing:?}");
        }
    }
}

#[test]
fn a_device_that_never_stops_sending_is_an_error() {
    // A reply of that many bytes takes longer than the timeout.
    let fixed = Framing::Fixed { bytes: 1001 };
    for framing in [fixed, lines()] {
        let mut device = Peer::open(TestClock::default(), b"blah", &framing, |_| None);
        let error = device.exchange(b"?", None).unwrap_err();
        assert_eq!(error.kind(), LinkErrorKind::Timeout, "{error}");
        for _ in 0..3 {
            let error = device.exchange(b"?", None).unwrap_err();
            assert_eq!(error.kind(), LinkErrorKind::Protocol, "{error}");
            let said = error.to_string();
            assert!(said.contains("keeps sending unsolicited data"), "{said}");
        }
    }
}

#[test]
fn a_pause_of_this_thread_is_no_silence_of_the_device() {
    for at in 0..100 {
        let clock = TestClock::pausing_at(at, TIMEOUT.as_nanos() as u64);
        let never = |_: &[u8]| panic!("a request was sent into a message");
        let mut device = Peer::open(clock.clone(), b"blah", &lines(), never);
        clock.advance(5 * MS);
        let error = device.exchange(b"?", None).unwrap_err();
        let said = error.to_string();
        assert!(said.contains("keeps sending unsolicited data"), "{said}");
    }
}
