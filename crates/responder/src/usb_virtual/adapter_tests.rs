//! Adapters as their drivers see them: USB/IP commands in, answers out, in virtual time.

use super::machine::Machine;
use super::machine_tests::{high, plugged, said, submit};
use super::usbip::{Command, Submit};
use crate::DeviceConfig;
use crate::bus::Direction;
use crate::gadget::Function;
use wiregauge_record::Protocol;

const MS: u64 = 1_000_000;

/// A byte at 115,200 baud.
const BYTE: u64 = 86_805;

/// A host with the machine; it always has two transfers pending, as the drivers do.
struct Host {
    machine: Machine,
    /// Endpoints IN and OUT, status bytes of a packet, its size, the size of a transfer.
    chip: (u8, u8, usize, usize, usize),
    now_ns: u64,
    sequence: u32,
    /// What was received without status bytes, with the time of each transfer that brought some.
    received: Vec<(u64, Vec<u8>)>,
    transfers: Vec<usize>,
}

impl Host {
    /// An adapter that echoes, at 115,200 baud.
    fn with(function: Function) -> Host {
        let config = DeviceConfig {
            protocol: Protocol::Echo,
            ..DeviceConfig::default()
        };
        let machine = plugged(&[function], &config, 1);
        let chip = match function {
            Function::Ftdi => (1, 2, 2, 64, 512),
            Function::Cp210x => (1, 1, 0, 64, 256),
            _ => (2, 2, 0, 32, 32),
        };
        let mut host = Host {
            machine,
            chip,
            now_ns: 0,
            sequence: 0,
            received: Vec::new(),
            transfers: Vec::new(),
        };
        match function {
            Function::Ftdi => host.request([0x40, 3, 0x1a, 0, 0, 0, 0, 0], &[]),
            Function::Cp210x => {
                host.request([0x41, 0x1e, 0, 0, 0, 0, 4, 0], &115_200_u32.to_le_bytes());
            }
            _ => {
                host.request([0x40, 0x9a, 0x12, 0x13, 0x83, 0xcc, 0, 0], &[]);
                host.request([0x40, 0x9a, 0x18, 0x25, 0xc3, 0, 0, 0], &[]);
            }
        }
        for sequence in [1000, 1001] {
            host.ask(sequence);
        }
        host
    }

    fn request(&mut self, setup: [u8; 8], data: &[u8]) {
        self.sequence += 1;
        self.submit(Submit {
            setup,
            data,
            ..submit(Direction::Out, 0, self.sequence, data.len())
        });
    }

    fn submit(&mut self, submit: Submit) {
        let command = Command::Submit(submit);
        self.machine.command(0, command, self.now_ns);
    }

    fn ask(&mut self, sequence: u32) {
        self.submit(submit(Direction::In, self.chip.0, sequence, self.chip.4));
    }

    fn write(&mut self, data: &[u8]) {
        self.sequence += 1;
        self.submit(Submit {
            data,
            ..submit(Direction::Out, self.chip.1, self.sequence, data.len())
        });
    }

    /// Lets time pass event by event, and asks again for each transfer that is over.
    fn run_until(&mut self, until_ns: u64) {
        while let Some(next) = self.machine.next_ns().filter(|next| *next <= until_ns) {
            self.now_ns = self.now_ns.max(next);
            self.machine.advance(self.now_ns);
            for said in said(&mut self.machine, 0, high) {
                if !high(said.sequence) {
                    continue;
                }
                let (_, _, status, packet, _) = self.chip;
                let packets = said.data.chunks(packet);
                let data: Vec<u8> = packets.flat_map(|p| p[status..].to_vec()).collect();
                self.transfers.push(said.data.len());
                if !data.is_empty() {
                    self.received.push((self.now_ns, data));
                }
                self.ask(said.sequence);
            }
        }
        self.now_ns = until_ns;
        self.machine.advance(until_ns);
    }

    fn bytes(&self) -> Vec<u8> {
        let all = self.received.iter().flat_map(|(_, data)| data.clone());
        all.collect()
    }

    /// Round-trip times of so many requests, one after the other.
    fn round_trips(&mut self, bytes: usize, count: usize) -> Vec<u64> {
        let mut times = Vec::new();
        for _ in 0..count {
            let (begun, have) = (self.now_ns, self.bytes().len());
            self.write(&vec![7; bytes]);
            while self.bytes().len() < have + bytes {
                let next = self.machine.next_ns().expect("the answer comes");
                self.run_until(next);
                assert!(self.now_ns < begun + 1_000 * MS, "no answer");
            }
            times.push(self.now_ns - begun);
        }
        times
    }
}

#[test]
fn behind_ftdi_a_short_answer_takes_the_time_of_the_latency_timer() {
    let mut host = Host::with(Function::Ftdi);
    host.round_trips(20, 1);
    for rtt in host.round_trips(20, 20) {
        assert!((16 * MS..18 * MS).contains(&rtt), "{rtt}");
    }
    // One millisecond, as `doctor --fix` sets it: what remains is the line, and at most the timer.
    host.request([0x40, 9, 1, 0, 0, 0, 0, 0], &[]);
    host.round_trips(20, 1);
    // Each byte is echoed as soon as it has arrived.
    let line = 21 * BYTE;
    for rtt in host.round_trips(20, 20) {
        assert!((line..line + 4 * MS).contains(&rtt), "{rtt}");
    }
}

#[test]
fn an_idle_ftdi_sends_two_status_bytes_each_time_the_timer_runs_out() {
    let mut host = Host::with(Function::Ftdi);
    host.run_until(165 * MS);
    let transfers = &host.transfers;
    assert!((9..=10).contains(&transfers.len()), "{transfers:?}");
    assert!(transfers.iter().all(|bytes| *bytes == 2));
}

#[test]
fn a_long_answer_comes_in_packets_of_62_bytes_ended_by_the_timer() {
    let mut host = Host::with(Function::Ftdi);
    host.run_until(50 * MS);
    host.transfers.clear();
    let sent: Vec<u8> = (0..100).collect();
    host.write(&sent);
    host.run_until(150 * MS);
    assert_eq!(host.bytes(), sent);
    // A full packet does not end the host's transfer; the one of the timer does.
    let transfers = &host.transfers;
    assert!(transfers.contains(&(64 + 2 + 38)), "{transfers:?}");
}

#[test]
fn the_event_character_makes_depth_and_timer_irrelevant() {
    let mut host = Host::with(Function::Ftdi);
    host.request([0x40, 6, 7, 1, 0, 0, 0, 0], &[]);
    host.round_trips(1, 1);
    for rtt in host.round_trips(1, 10) {
        assert!(rtt < 4 * MS, "{rtt}");
    }
}

#[test]
fn the_others_answer_as_soon_as_the_line_is_idle() {
    for function in [Function::Cp210x, Function::Ch341] {
        let mut host = Host::with(function);
        // 64 bytes fill the last packet of either.
        for bytes in [20, 64] {
            let line = 2 * bytes as u64 * BYTE;
            for rtt in host.round_trips(bytes, 5) {
                assert!((BYTE..line + 4 * MS).contains(&rtt), "{function:?} {rtt}");
            }
        }
    }
}

#[test]
fn bytes_pass_at_the_baud_rate_and_none_is_lost() {
    for function in [Function::Ftdi, Function::Cp210x, Function::Ch341] {
        let mut host = Host::with(function);
        let sent: Vec<u8> = (0..4000_u32).map(|at| at as u8).collect();
        for part in sent.chunks(200) {
            host.write(part);
        }
        let line = 4000 * BYTE;
        host.run_until(line + 60 * MS);
        assert_eq!(host.bytes(), sent, "{function:?}");
        let last = host.received.last().map_or(0, |(at, _)| *at);
        assert!(last > line - 5 * MS, "{function:?} {last}");
    }
}

#[test]
fn a_program_that_opens_the_port_finds_nothing_left_of_the_one_before() {
    let mut host = Host::with(Function::Ftdi);
    host.write(&[7; 40]);
    host.run_until(8 * MS);
    // DTR.
    host.request([0x40, 1, 1, 1, 0, 0, 0, 0], &[]);
    host.run_until(100 * MS);
    assert_eq!(host.bytes(), []);
    let rtts = host.round_trips(10, 2);
    assert!(rtts.iter().all(|rtt| *rtt < 20 * MS), "{rtts:?}");
}
