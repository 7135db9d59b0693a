//! Holds both responders, the firmware and that of `wiregauge serve`, to the `answers` of docs/vectors/v1.json.

use serde::Deserialize;
use serde_json::Value;
use wiregauge_firmware_host::recipe::hello;
use wiregauge_firmware_host::{Address, Responder, Settings, TICKS};
use wiregauge_link::host::Clock;
use wiregauge_record::Protocol;
use wiregauge_responder::{Device, DeviceConfig, Faults, Model, Trust};
use wiregauge_wire as wire;
use wiregauge_wire::{Kind, Response, StreamReport};

const ROOM: usize = 1472;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerCase {
    name: String,
    over: String,
    max_frame: u32,
    asked: Vec<String>,
    answers: Vec<Answer>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Answer {
    kind: u8,
    sequence: u32,
    status: u16,
    flags: u16,
    in_payload: u32,
    counts: Option<[u64; 5]>,
}

impl AnswerCase {
    fn asked(&self) -> Vec<Vec<u8>> {
        self.asked.iter().map(|part| bytes_of(part)).collect()
    }
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    digits
        .map(|two| std::str::from_utf8(two).expect("ASCII"))
        .map(|two| u8::from_str_radix(two, 16).expect("hexadecimal"))
        .collect()
}

/// The cases over a byte stream, or over datagrams of either kind.
fn cases(on_stream: bool) -> Vec<AnswerCase> {
    let text = include_str!("../../../docs/vectors/v1.json");
    let mut vectors: Value = serde_json::from_str(text).expect("JSON");
    let cases = vectors["answers"].take();
    let mut cases: Vec<AnswerCase> = serde_json::from_value(cases).expect("as described");
    cases.retain(|case| (case.over == "stream") == on_stream);
    assert!(cases.len() >= 20, "only {}", cases.len());
    cases
}

fn answers_in(mut said: &[u8]) -> Vec<Answer> {
    let mut found = Vec::new();
    while !said.is_empty() {
        let header = Response::decode(said).expect("a response follows");
        let end = wire::RESPONSE_HEADER + header.in_payload as usize;
        let report = StreamReport::decode(&said[wire::RESPONSE_HEADER..end]);
        found.push(Answer {
            kind: header.kind as u8,
            sequence: header.sequence,
            status: header.status as u16,
            flags: header.flags,
            in_payload: header.in_payload,
            counts: report.filter(|_| header.kind == Kind::Sink).map(|report| {
                [
                    report.bytes,
                    report.lost,
                    report.duplicated,
                    report.corrupted,
                    report.stray,
                ]
            }),
        });
        said = &said[end..];
    }
    found
}

fn device(max_frame: u32) -> Device {
    let config = DeviceConfig {
        protocol: Protocol::Wiregauge,
        name: "answers".into(),
        max_frame,
        model: Model::default(),
        modbus: wiregauge_record::ModbusLine::Tcp,
        faults: Faults::default(),
        seed: 1,
        plant: None,
    };
    Device::new(config, Clock::start())
}

fn firmware(max_frame: u32) -> Responder {
    Responder::new(&Settings {
        max_out: max_frame,
        max_in: max_frame,
        max_transfer: max_frame,
        message_room: max_frame,
        ..Settings::default()
    })
}

#[test]
fn serve_answers_a_byte_stream_however_it_is_cut() {
    for case in cases(true) {
        let bytes = case.asked().concat();
        for piece in 1..=bytes.len() {
            let mut device = device(case.max_frame);
            let (mut waiting, mut said) = (Vec::new(), Vec::new());
            for piece in bytes.chunks(piece) {
                waiting.extend(piece);
                let used = device.take_stream(&waiting, 0, &mut said);
                waiting.drain(..used);
            }
            let found = answers_in(&said);
            assert_eq!(found, case.answers, "{} in pieces of {piece}", case.name);
        }
    }
}

#[test]
fn firmware_answers_a_byte_stream_however_it_is_cut() {
    for case in cases(true) {
        let bytes = case.asked().concat();
        for piece in 1..=bytes.len() {
            let mut device = firmware(case.max_frame);
            let mut said = Vec::new();
            for mut rest in bytes.chunks(piece) {
                while !rest.is_empty() {
                    rest = &rest[device.take(rest, TICKS)..];
                    while device.give(61, &mut said) > 0 {}
                }
            }
            let found = answers_in(&said);
            assert_eq!(found, case.answers, "{} in pieces of {piece}", case.name);
        }
    }
}

#[test]
fn serve_answers_datagrams() {
    for case in cases(false) {
        let trust = match case.over.as_str() {
            "datagrams" => Trust::Proved,
            "unproven datagrams" => Trust::Unproved,
            other => panic!("{other}"),
        };
        let mut device = device(case.max_frame);
        let mut said = Vec::new();
        for datagram in case.asked() {
            device.take_datagram(&datagram, 0, trust, &mut said);
        }
        assert_eq!(answers_in(&said), case.answers, "{}", case.name);
    }
}

#[test]
fn firmware_answers_datagrams() {
    let host: Address = [7; 18];
    for case in cases(false) {
        let mut device = firmware(case.max_frame);
        if case.over == "datagrams" {
            let answer = device.take_datagram(&host, &hello(1, [0; 8]), 0, ROOM);
            let token = answer[96..104].try_into().expect("a token");
            device.take_datagram(&host, &hello(2, token), 0, ROOM);
        }
        let asked = case.asked();
        let said = asked
            .iter()
            .map(|it| device.take_datagram(&host, it, 0, ROOM));
        let said: Vec<u8> = said.flatten().collect();
        assert_eq!(answers_in(&said), case.answers, "{}", case.name);
    }
}
