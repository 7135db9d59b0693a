//! The responder in Rust and the C of the boards as the device: what is served and what is flashed, in virtual time.

use wiregauge_firmware_host::{Responder, Settings};
use wiregauge_link::host::Clock;
use wiregauge_link::limits::Bus;
use wiregauge_record::Protocol;
use wiregauge_responder::{Device as Served, DeviceConfig, Trust};
use wiregauge_sim::{Byte, Device, Fault, Given, Protocols, Scenario, Tag, run_with};

/// Larger than any message of a scenario.
pub const MAX_FRAME: u32 = 4096;

fn values(bytes: &[Byte]) -> Vec<u8> {
    bytes.iter().map(|byte| byte.value).collect()
}

fn untagged(bytes: &[u8]) -> Vec<Byte> {
    let tag = Tag::default();
    bytes.iter().map(|&value| Byte { value, tag }).collect()
}

pub fn in_rust(protocol: Protocol) -> Served {
    let config = DeviceConfig {
        protocol,
        max_frame: MAX_FRAME,
        ..DeviceConfig::default()
    };
    // A device on a bus is given the time, instead of reading a clock.
    Served::on_bus(config, Clock::start(), Bus::FullSpeed)
}

pub fn in_c() -> Responder {
    Responder::new(&Settings {
        name: "sim",
        max_out: MAX_FRAME,
        max_in: MAX_FRAME,
        max_transfer: MAX_FRAME,
        message_room: MAX_FRAME,
        ..Settings::default()
    })
}

/// The responder of `wiregauge serve`.
struct InRust {
    protocol: Protocol,
    datagram: bool,
    device: Served,
    held: Vec<u8>,
}

impl InRust {
    fn new(scenario: &Scenario) -> InRust {
        let protocol = match scenario.protocol {
            Protocols::Exchange => Protocol::Wiregauge,
            _ => Protocol::Echo,
        };
        InRust {
            protocol,
            datagram: scenario.datagram,
            device: in_rust(protocol),
            held: Vec::new(),
        }
    }
}

impl Device for InRust {
    fn take(
        &mut self,
        bytes: &[Byte],
        now_ns: u64,
        _given: &mut Vec<Given>,
        answers: &mut Vec<Vec<Byte>>,
    ) {
        let mut ready = Vec::new();
        if self.datagram {
            let datagram = values(bytes);
            self.device
                .take_datagram(&datagram, now_ns, Trust::Proved, &mut ready);
        } else {
            self.held.extend(values(bytes));
            let used = self.device.take_stream(&self.held, now_ns, &mut ready);
            self.held.drain(..used);
        }
        if !ready.is_empty() {
            answers.push(untagged(&ready));
        }
    }

    fn opened(&mut self) {
        self.device = in_rust(self.protocol);
        self.held.clear();
    }
}

/// firmware/common.
struct InC {
    datagram: bool,
    responder: Responder,
}

impl InC {
    fn new(scenario: &Scenario) -> InC {
        InC {
            datagram: scenario.datagram,
            responder: in_c(),
        }
    }
}

impl Device for InC {
    fn take(
        &mut self,
        bytes: &[Byte],
        now_ns: u64,
        _given: &mut Vec<Given>,
        answers: &mut Vec<Vec<Byte>>,
    ) {
        let bytes = values(bytes);
        if self.datagram {
            let now_ms = (now_ns / 1_000_000) as u32;
            let room = MAX_FRAME as usize;
            let host = &[1; 18];
            let answer = self.responder.take_datagram(host, &bytes, now_ms, room);
            if !answer.is_empty() {
                answers.push(untagged(&answer));
            }
            return;
        }
        let mut rest = &bytes[..];
        let mut given = Vec::new();
        while !rest.is_empty() {
            let used = self.responder.take(rest, now_ns);
            rest = &rest[used..];
            while self.responder.give(MAX_FRAME as usize, &mut given) > 0 {}
        }
        if !given.is_empty() {
            answers.push(untagged(&given));
        }
    }

    fn opened(&mut self) {
        self.responder.begin();
    }
}

/// Runs the random scenarios of a protocol with this device.
fn all_pass(protocol: Protocols, device: fn(&Scenario) -> Box<dyn Device>) {
    let mut rows = 0;
    for seed in 0..2_000 {
        let scenario = Scenario::random(seed);
        if scenario.protocol != protocol {
            continue;
        }
        match run_with(&scenario, device(&scenario), false) {
            Ok(outcome) => rows += outcome.rows,
            Err(Fault { at_ns, what }) => panic!("seed {seed} at {at_ns} ns: {what}"),
        }
    }
    assert!(rows > 20_000, "{rows}");
}

#[test]
fn the_responder_in_rust_is_a_device_of_the_simulator() {
    for protocol in [Protocols::Exchange, Protocols::Echo] {
        all_pass(protocol, |scenario| Box::new(InRust::new(scenario)));
    }
}

#[test]
fn the_firmware_in_c_is_a_device_of_the_simulator() {
    all_pass(Protocols::Exchange, |scenario| Box::new(InC::new(scenario)));
}
