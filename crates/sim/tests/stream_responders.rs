//! The responder in Rust and the C of the boards as devices of simulated streams.

use crate::responders::{MAX_FRAME, in_c, in_rust};
use std::collections::VecDeque;
use wiregauge_firmware_host::Responder;
use wiregauge_record::Protocol;
use wiregauge_responder::{Device as Served, Trust};
use wiregauge_sim::{Fault, StreamByte, StreamDevice, Streaming};
use wiregauge_wire::{HelloRequest, Kind, REQUEST_HEADER, Request};

fn values(bytes: &[StreamByte]) -> Vec<u8> {
    bytes.iter().map(|byte| byte.value).collect()
}

/// The responder of `wiregauge serve`.
struct InRust {
    datagram: bool,
    device: Served,
    held: Vec<u8>,
    answers: VecDeque<Vec<u8>>,
}

impl InRust {
    fn new(datagram: bool) -> InRust {
        InRust {
            datagram,
            device: in_rust(Protocol::Wiregauge),
            held: Vec::new(),
            answers: VecDeque::new(),
        }
    }
}

impl StreamDevice for InRust {
    fn take(&mut self, bytes: &[StreamByte], now_ns: u64) -> usize {
        let mut ready = Vec::new();
        if self.datagram {
            let datagram = values(bytes);
            let trust = Trust::Proved;
            self.device
                .take_datagram(&datagram, now_ns, trust, &mut ready);
        } else {
            self.held.extend(values(bytes));
            let used = self.device.take_stream(&self.held, now_ns, &mut ready);
            self.held.drain(..used);
        }
        if !ready.is_empty() {
            self.answers.push_back(ready);
        }
        bytes.len()
    }

    fn give(&mut self, now_ns: u64) -> Vec<u8> {
        if let Some(answer) = self.answers.pop_front() {
            return answer;
        }
        let mut ready = Vec::new();
        if let Some(room) = self.device.source_bytes() {
            let _ = self.device.pull(now_ns, room, &mut ready);
        }
        ready
    }

    fn flows(&self) -> [bool; 2] {
        let device = &self.device;
        [
            device.source_bytes().is_some(),
            device.sink_bytes().is_some(),
        ]
    }

    fn reset(&mut self) {
        *self = InRust::new(self.datagram);
    }
}

/// firmware/common.
struct InC {
    datagram: bool,
    responder: Responder,
    answers: VecDeque<Vec<u8>>,
    /// The address of the host is proved.
    proved: bool,
}

const HOST: [u8; 18] = [1; 18];

impl InC {
    fn new(datagram: bool) -> InC {
        InC {
            datagram,
            responder: in_c(),
            answers: VecDeque::new(),
            proved: false,
        }
    }

    /// Proves the host's address, as it is before a stream.
    fn prove(&mut self, now_ms: u32) {
        let room = MAX_FRAME as usize;
        let mut token = [0; 8];
        for _ in 0..2 {
            let hello = hello(token);
            let answer = self.responder.take_datagram(&HOST, &hello, now_ms, room);
            token.copy_from_slice(&answer[96..104]);
        }
    }
}

/// HELLO with a token.
fn hello(token: [u8; 8]) -> Vec<u8> {
    let payload = HelloRequest { token }.encode();
    let mut header = [0; REQUEST_HEADER];
    Request {
        kind: Kind::Hello,
        sequence: 1,
        out_payload: payload.len() as u32,
        in_bytes: 104,
    }
    .encode(&mut header);
    [&header[..], &payload].concat()
}

impl StreamDevice for InC {
    fn take(&mut self, bytes: &[StreamByte], now_ns: u64) -> usize {
        let bytes = values(bytes);
        if !self.datagram {
            return self.responder.take(&bytes, now_ns);
        }
        let now_ms = (now_ns / 1_000_000) as u32;
        if !self.proved {
            self.prove(now_ms);
            self.proved = true;
        }
        let room = MAX_FRAME as usize;
        let answer = self.responder.take_datagram(&HOST, &bytes, now_ms, room);
        if !answer.is_empty() {
            self.answers.push_back(answer);
        }
        bytes.len()
    }

    fn give(&mut self, now_ns: u64) -> Vec<u8> {
        if !self.datagram {
            let mut given = Vec::new();
            self.responder.give(200, &mut given);
            return given;
        }
        if let Some(answer) = self.answers.pop_front() {
            return answer;
        }
        let given = self
            .responder
            .give_datagram((now_ns / 1_000_000) as u32, MAX_FRAME as usize);
        given.map(|(_, bytes)| bytes).unwrap_or_default()
    }

    fn flows(&self) -> [bool; 2] {
        match self.datagram {
            // Its streams are those of an address, and not reported.
            true => [false; 2],
            false => [self.responder.sources(), self.responder.sinks()],
        }
    }

    fn reset(&mut self) {
        *self = InC::new(self.datagram);
    }
}

/// Runs random streams; returns how many rows were compared.
fn all_pass(seeds: u64, device: impl Fn(bool) -> Box<dyn StreamDevice>) -> u64 {
    let mut rows = 0;
    for seed in 0..seeds {
        let streaming = Streaming::random(seed);
        match streaming.run_with(device(streaming.datagram), false) {
            Ok(outcome) => rows += outcome.rows,
            Err(Fault { at_ns, what }) => panic!("seed {seed} at {at_ns} ns: {what}"),
        }
    }
    rows
}

#[test]
fn the_responder_in_rust_streams_as_it_reports() {
    let rows = all_pass(2_000, |datagram| Box::new(InRust::new(datagram)));
    assert!(rows > 20_000, "{rows}");
}

#[test]
fn the_firmware_in_c_streams_as_it_reports() {
    let rows = all_pass(2_000, |datagram| Box::new(InC::new(datagram)));
    assert!(rows > 20_000, "{rows}");
}
