//! The machine as the kernel sees it: USB/IP commands in, answers out, in virtual time.

use super::descriptors::Identity;
use super::machine::Machine;
use super::usbip::{self, Command, HEADER, Submit};
use crate::bus::{BusTiming, DeviceTiming, Direction};
use crate::gadget::Function;
use crate::streams_tests::{end, start};
use crate::{DeviceConfig, Faults};
use wiregauge_link::host::Clock;
use wiregauge_link::limits::Bus;
use wiregauge_wire as wire;
use wiregauge_wire::{Kind, Request, Response, StreamReport};

const MS: u64 = 1_000_000;

/// Endpoint number of the first function, if that is `bulk`.
const BULK: u8 = 1;

fn machine_with(faults: Faults, devices: usize) -> Machine {
    let config = DeviceConfig {
        faults,
        ..DeviceConfig::default()
    };
    plugged(&[Function::Bulk, Function::Acm], &config, devices)
}

/// A machine with so many devices of these functions.
pub(super) fn plugged(functions: &[Function], config: &DeviceConfig, devices: usize) -> Machine {
    let mut machine = Machine::new(
        Bus::FullSpeed,
        BusTiming::of(Bus::FullSpeed),
        Clock::start(),
    );
    for _ in 0..devices {
        let identity = identity(Bus::FullSpeed, functions);
        machine.add(identity, config.clone(), DeviceTiming::default());
    }
    machine
}

/// A device of these functions.
pub(super) fn identity(speed: Bus, functions: &[Function]) -> Identity {
    Identity {
        vendor: 0x1d6b,
        product: 0x0104,
        name: "test".into(),
        serial: "1".into(),
        speed,
        functions: functions.to_vec(),
        interval: 1,
        report_bytes: 64,
    }
}

pub(super) fn submit(
    direction: Direction,
    endpoint: u8,
    sequence: u32,
    length: usize,
) -> Submit<'static> {
    Submit {
        sequence,
        endpoint,
        direction,
        close: false,
        length,
        setup: [0; 8],
        data: &[],
        isochronous: &[],
    }
}

fn ask_for(machine: &mut Machine, node: usize, sequence: u32, length: usize, now_ns: u64) {
    let submit = submit(Direction::In, BULK, sequence, length);
    machine.command(node, Command::Submit(submit), now_ns);
}

fn request(machine: &mut Machine, node: usize, sequence: u32, in_bytes: u32, now_ns: u64) {
    let mut data = [0; wire::REQUEST_HEADER];
    let request = Request {
        kind: Kind::Exchange,
        sequence,
        out_payload: 0,
        in_bytes,
    };
    request.encode(&mut data);
    out(machine, node, sequence, &data, now_ns);
}

fn out(machine: &mut Machine, node: usize, number: u32, data: &[u8], now_ns: u64) {
    let submit = Submit {
        data,
        ..submit(Direction::Out, BULK, number, data.len())
    };
    machine.command(node, Command::Submit(submit), now_ns);
}

fn take_back(machine: &mut Machine, sequence: u32, target: u32, now_ns: u64) {
    machine.command(0, Command::Unlink { sequence, target }, now_ns);
}

/// An answer of the machine: what it answers, status, data.
#[derive(Debug, PartialEq)]
pub(super) struct Said {
    pub(super) sequence: u32,
    unlinked: bool,
    status: i32,
    pub(super) data: Vec<u8>,
}

/// Takes what was answered, given the numbers of submissions IN.
pub(super) fn said(machine: &mut Machine, node: usize, is_in: impl Fn(u32) -> bool) -> Vec<Said> {
    let bytes = std::mem::take(machine.answers(node));
    let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    let (mut at, mut all) = (0, Vec::new());
    while at < bytes.len() {
        let (unlinked, sequence) = (word(at) == 4, word(at + 4));
        let actual = if is_in(sequence) && !unlinked {
            word(at + 24) as usize
        } else {
            0
        };
        all.push(Said {
            sequence,
            unlinked,
            status: word(at + 20) as i32,
            data: bytes[at + HEADER..at + HEADER + actual].to_vec(),
        });
        at += HEADER + actual;
    }
    all
}

/// Numbers of transfers IN are above these of requests in all tests.
pub(super) fn high(sequence: u32) -> bool {
    sequence >= 1000
}

#[test]
fn an_answer_comes_back_two_frames_after_its_request() {
    let mut machine = machine_with(Faults::default(), 1);
    ask_for(&mut machine, 0, 1000, 512, 0);
    request(&mut machine, 0, 1, 100, 0);
    machine.advance(2 * MS - 1);
    assert!(said(&mut machine, 0, high).is_empty());
    assert_eq!(machine.next_ns(), Some(2 * MS));
    machine.advance(2 * MS);
    let said = said(&mut machine, 0, high);
    assert_eq!(said.len(), 2);
    assert_eq!(said[1].data.len(), 100);
    let response = Response::decode(&said[1].data).unwrap();
    assert_eq!(response.sequence, 1);
    // The model's own times: the request arrived in the second frame.
    assert!((MS..2 * MS).contains(&response.rx_ticks));
    assert_eq!(response.rx_ticks, response.tx_ticks);
}

#[test]
fn an_answer_that_fills_its_last_packet_ends_by_a_packet_of_length_zero() {
    let mut machine = machine_with(Faults::default(), 1);
    ask_for(&mut machine, 0, 1000, 512, 0);
    ask_for(&mut machine, 0, 1001, 512, 0);
    request(&mut machine, 0, 1, 128, 0);
    machine.advance(5 * MS);
    let answers = said(&mut machine, 0, high);
    // The second one has nothing to be answered with.
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[1].data.len(), 128);

    // As a serial port's driver asks: with just as much room, the empty packet is another transfer.
    let mut machine = machine_with(Faults::default(), 1);
    ask_for(&mut machine, 0, 1000, 128, 0);
    ask_for(&mut machine, 0, 1001, 128, 0);
    request(&mut machine, 0, 1, 128, 0);
    machine.advance(5 * MS);
    let answers = said(&mut machine, 0, high);
    let lengths: Vec<usize> = answers.iter().map(|said| said.data.len()).collect();
    assert_eq!(lengths, [0, 128, 0]);
}

#[test]
fn a_transfer_taken_back_before_anything_was_carried_is_gone() {
    let mut machine = machine_with(Faults::default(), 1);
    ask_for(&mut machine, 0, 1000, 512, 0);
    machine.advance(3 * MS);
    take_back(&mut machine, 7, 1000, 3 * MS);
    let answers = said(&mut machine, 0, high);
    assert_eq!(answers.len(), 1);
    assert!(answers[0].unlinked && answers[0].status == usbip::TAKEN_BACK);
}

#[test]
fn a_transfer_taken_back_too_late_is_reported_with_its_data_first() {
    let mut machine = machine_with(Faults::default(), 1);
    ask_for(&mut machine, 0, 1000, 512, 0);
    request(&mut machine, 0, 1, 100, 0);
    machine.advance(2 * MS - 1);
    take_back(&mut machine, 7, 1000, 2 * MS - 1);
    let answers = said(&mut machine, 0, high);
    assert_eq!(answers[0].data.len(), 100);
    assert!(answers[1].unlinked && answers[1].status == 0);
    machine.advance(3 * MS);
    let rest = said(&mut machine, 0, high);
    assert_eq!(rest.len(), 1, "the request alone: {rest:?}");
}

#[test]
fn isochronous_transfers_are_answered_in_their_frames_or_taken_back() {
    let mut machine = plugged(&[Function::Iso], &DeviceConfig::default(), 1);
    let descriptors: Vec<u8> = (0..8_u32)
        .flat_map(|at| [at * 192, 192, 0, 0])
        .flat_map(u32::to_be_bytes)
        .collect();
    for sequence in 1000..1003 {
        let submit = Submit {
            isochronous: &descriptors,
            ..submit(Direction::In, 1, sequence, 8 * 192)
        };
        machine.command(0, Command::Submit(submit), MS / 2);
    }
    take_back(&mut machine, 1, 1002, MS);
    let taken_back = std::mem::take(machine.answers(0));
    assert_eq!(taken_back.len(), HEADER);
    assert_eq!(taken_back[20..24], usbip::TAKEN_BACK.to_be_bytes());
    for (sequence, end) in [(1000_u32, 9 * MS), (1001, 17 * MS)] {
        assert_eq!(machine.next_ns(), Some(end));
        machine.advance(end - 1);
        assert!(machine.answers(0).is_empty());
        machine.advance(end);
        let answer = std::mem::take(machine.answers(0));
        assert_eq!(answer[4..8], sequence.to_be_bytes());
        assert_eq!(answer.len(), HEADER + 8 * (192 + 16));
    }
    assert_eq!(machine.next_ns(), None);
}

#[test]
fn an_endpoint_that_is_not_there_is_stalled() {
    let mut machine = machine_with(Faults::default(), 1);
    let submit = submit(Direction::In, 9, 1000, 64);
    machine.command(0, Command::Submit(submit), 0);
    let answers = said(&mut machine, 0, high);
    assert_eq!(answers[0].status, usbip::STALLED);
}

#[test]
fn a_device_that_disconnects_itself_is_gone_after_its_last_answer() {
    let faults = Faults {
        disconnect_after: Some(1),
        ..Faults::default()
    };
    let mut machine = machine_with(faults, 1);
    ask_for(&mut machine, 0, 1000, 512, 0);
    request(&mut machine, 0, 1, 100, 0);
    let mut answers = 0;
    while let Some(at) = machine.next_ns() {
        let holds = !machine.is_gone(0);
        assert!(holds, "gone at {at} ns after {answers} answers");
        machine.advance(at);
        answers += said(&mut machine, 0, high).len();
    }
    assert_eq!(answers, 2);
    assert!(machine.is_gone(0));
}

/// Keeps four requests of 8000 B outstanding at each device as a driver would; returns the bytes
/// that each got in a second, and all that was said.
fn a_second_of_exchanges(devices: usize) -> (Vec<usize>, Vec<Vec<Said>>) {
    let mut machine = machine_with(Faults::default(), devices);
    let mut bytes = vec![0; devices];
    let mut transcript: Vec<Vec<Said>> = (0..devices).map(|_| Vec::new()).collect();
    let mut next = vec![(0, 1000); devices];
    for (node, next) in next.iter_mut().enumerate() {
        for _ in 0..4 {
            request(&mut machine, node, next.0, 8000, 0);
            ask_for(&mut machine, node, next.1, 8192, 0);
            *next = (next.0 + 1, next.1 + 1);
        }
    }
    while let Some(at) = machine.next_ns().filter(|at| *at <= 1000 * MS) {
        machine.advance(at);
        for node in 0..devices {
            for said in said(&mut machine, node, high) {
                if high(said.sequence) {
                    assert_eq!(said.data.len(), 8000);
                    bytes[node] += 8016;
                    request(&mut machine, node, next[node].0, 8000, at);
                    ask_for(&mut machine, node, next[node].1, 8192, at);
                    next[node] = (next[node].0 + 1, next[node].1 + 1);
                }
                transcript[node].push(said);
            }
        }
    }
    (bytes, transcript)
}

#[test]
fn one_two_and_four_devices_share_the_bus_evenly_and_fill_it() {
    for devices in [1, 2, 4] {
        let (bytes, _) = a_second_of_exchanges(devices);
        let sum: usize = bytes.iter().sum();
        assert!((1_155_200..=1_216_000).contains(&sum), "{bytes:?}");
        let fair = sum / devices;
        for one in &bytes {
            assert!(one.abs_diff(fair) <= 2 * 8016, "{bytes:?}");
        }
    }
}

#[test]
fn what_is_said_is_the_same_to_the_bit_when_it_is_said_again() {
    assert_eq!(a_second_of_exchanges(2).1, a_second_of_exchanges(2).1);
}

#[test]
fn a_stream_to_the_host_fills_the_bus_and_is_the_stream_that_was_ordered() {
    let mut machine = machine_with(Faults::default(), 1);
    out(&mut machine, 0, 1, &start(Kind::Source, 1, 512), 0);
    for number in 1000..1008 {
        ask_for(&mut machine, 0, number, 512, 0);
    }
    let (mut number, mut bytes) = (1008, Vec::new());
    while let Some(at) = machine.next_ns().filter(|at| *at <= 1000 * MS) {
        machine.advance(at);
        for said in said(&mut machine, 0, high) {
            if high(said.sequence) {
                bytes.extend_from_slice(&said.data);
                ask_for(&mut machine, 0, number, 512, at);
                number += 1;
            }
        }
    }
    // The answer to START comes first, closed by its short packet.
    let stream = &bytes[wire::RESPONSE_HEADER..];
    assert!(
        (1_155_200..=1_216_000).contains(&stream.len()),
        "{}",
        stream.len()
    );
    let mut expected = vec![0; stream.len()];
    wire::fill_stream(0, &mut expected);
    assert!(stream == expected);
}

#[test]
fn a_stream_from_the_host_is_counted_to_the_byte() {
    let mut machine = machine_with(Faults::default(), 1);
    ask_for(&mut machine, 0, 1000, 512, 0);
    ask_for(&mut machine, 0, 1001, 512, 0);
    out(&mut machine, 0, 1, &start(Kind::Sink, 1, 512), 0);
    machine.advance(5 * MS);
    let mut data = vec![0; 100_000];
    wire::fill_stream(0, &mut data);
    for (at, piece) in data.chunks(5000).enumerate() {
        out(&mut machine, 0, 2 + at as u32, piece, 5 * MS);
    }
    out(&mut machine, 0, 900, &end(Kind::Sink, 900), 5 * MS);
    machine.advance(500 * MS);
    let answers = said(&mut machine, 0, high);
    let last = answers.iter().rfind(|said| high(said.sequence)).unwrap();
    let response = Response::decode(&last.data).unwrap();
    assert_eq!(response.sequence, 900);
    let report = StreamReport::decode(&last.data[wire::RESPONSE_HEADER..]).unwrap();
    assert_eq!(report.bytes, 100_000);
    assert_eq!((report.lost, report.corrupted, report.stray), (0, 0, 0));
}
