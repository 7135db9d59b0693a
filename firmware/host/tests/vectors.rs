//! Holds the firmware to docs/vectors/v1.json, as crates/wire/tests/vectors.rs holds the Rust side. What the C keeps to
//! itself is seen through what it answers.

use serde::Deserialize;
use serde_json::Value;
use wiregauge_firmware_host::recipe::{exchange, frame, hello, order, words};
use wiregauge_firmware_host::{Responder, Settings, TICKS, crc, is_header};
use wiregauge_wire as wire;
use wiregauge_wire::{HelloReply, Kind, Request, Response, Status, StreamReport, Verb};

fn vectors<T: for<'de> Deserialize<'de>>(list: &str) -> Vec<T> {
    let text = include_str!("../../../docs/vectors/v1.json");
    let vectors: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(vectors["version"], 1);
    let cases: Vec<T> =
        serde_json::from_value(vectors[list].clone()).expect("the list is as described");
    assert!(!cases.is_empty());
    cases
}

fn bytes_of(hex: &str) -> Vec<u8> {
    assert!(hex.len().is_multiple_of(2), "{hex}");
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal"))
        .collect()
}

/// All that a responder says to `bytes` in pieces of `piece`.
fn said_to(responder: &mut Responder, bytes: &[u8], piece: usize) -> Vec<u8> {
    let mut said = Vec::new();
    for mut rest in bytes.chunks(piece.max(1)) {
        while !rest.is_empty() {
            rest = &rest[responder.take(rest, TICKS)..];
            while responder.give(61, &mut said) > 0 {}
        }
    }
    said
}

fn responses(mut said: &[u8]) -> Vec<(Response, Vec<u8>)> {
    let mut found = Vec::new();
    while !said.is_empty() {
        let response = Response::decode(said).expect("a response follows");
        let end = wire::RESPONSE_HEADER + response.in_payload as usize;
        found.push((response, said[wire::RESPONSE_HEADER..end].to_vec()));
        said = &said[end..];
    }
    found
}

fn answers(settings: &Settings, bytes: &[u8]) -> Vec<(Response, Vec<u8>)> {
    let mut responder = Responder::new(settings);
    responses(&said_to(&mut responder, bytes, bytes.len()))
}

#[derive(Deserialize)]
struct CheckCase {
    bytes: String,
    crc: u16,
}

#[test]
fn checks() {
    for case in vectors::<CheckCase>("check") {
        assert_eq!(crc(&bytes_of(&case.bytes)), case.crc, "{}", case.bytes);
    }
}

#[derive(Deserialize)]
struct PatternCase {
    sequence: u32,
    index: usize,
    bytes: String,
}

#[test]
fn patterns_are_sent_and_known() {
    let settings = Settings {
        max_out: 1 << 24,
        max_in: 1 << 24,
        ..Settings::default()
    };
    for case in vectors::<PatternCase>("pattern") {
        let expected = bytes_of(&case.bytes);
        let length = case.index + expected.len();
        let in_bytes = (length + 32).min(1 << 24) as u32;
        // The last cases end beyond what a response can carry.
        let carried = in_bytes as usize - 32;
        let found = answers(&settings, &exchange(case.sequence, length, in_bytes));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0.flags, 0, "the pattern is known");
        assert_eq!(found[0].1.len(), carried);
        if carried == length {
            assert_eq!(found[0].1[case.index..], expected, "{}", case.sequence);
        }
    }
}

#[derive(Deserialize)]
struct RequestCase {
    name: String,
    kind: u8,
    sequence: u32,
    out_payload: u32,
    in_bytes: u32,
    header: String,
}

#[test]
fn requests_are_read() {
    for case in vectors::<RequestCase>("requests") {
        let header: [u8; 16] = bytes_of(&case.header).try_into().expect("16 bytes");
        assert!(is_header(&header), "{}", case.name);
        // Alone it is refused, or answered when its payload has come: the answer tells what was read.
        let settings = Settings {
            max_in: 1 << 24,
            ..Settings::default()
        };
        let kind = Kind::from_number(case.kind).expect("a kind");
        let payload = vec![0; case.out_payload as usize];
        let frame = [&header[..], &payload].concat();
        let found = answers(&settings, &frame);
        let (answer, _) = found
            .first()
            .unwrap_or_else(|| panic!("{}: no answer", case.name));
        assert_eq!(
            (answer.kind, answer.sequence),
            (kind, case.sequence),
            "{}",
            case.name
        );
        let too_large = case.out_payload + 16 > settings.max_out || case.in_bytes > 1 << 24;
        assert_eq!(
            answer.status == Status::TooLarge,
            too_large,
            "{}",
            case.name
        );
    }
}

#[derive(Deserialize)]
struct ResponseCase {
    name: String,
    kind: u8,
    sequence: u32,
    in_payload: u32,
    status: u16,
    flags: u16,
    rx_ticks: u64,
    tx_ticks: u64,
    header: String,
}

/// A device writes its own ticks and flags, so that each vector's header is compared with what is sent for the same
/// kind and sequence, those fields and the check put in.
#[test]
fn responses_are_written() {
    let mut seen = 0;
    for case in vectors::<ResponseCase>("responses") {
        let kind = Kind::from_number(case.kind).expect("a kind");
        if kind != Kind::Exchange || case.status != 0 {
            continue;
        }
        let settings = Settings {
            max_in: 1 << 24,
            ..Settings::default()
        };
        let mut responder = Responder::new(&settings);
        let said = said_to(
            &mut responder,
            &exchange(case.sequence, 0, case.in_payload + 32),
            99,
        );
        let mut header: [u8; 32] = said[..32].try_into().expect("a header");
        header[14..16].copy_from_slice(&case.flags.to_le_bytes());
        header[16..24].copy_from_slice(&case.rx_ticks.to_le_bytes());
        header[24..32].copy_from_slice(&case.tx_ticks.to_le_bytes());
        header[2..4].fill(0);
        let check = crc(&header);
        header[2..4].copy_from_slice(&check.to_le_bytes());
        assert_eq!(header[..], bytes_of(&case.header), "{}", case.name);
        seen += 1;
    }
    assert!(seen >= 5, "only {seen}");
}

#[derive(Deserialize)]
struct HelloRequestCase {
    name: String,
    sequence: u32,
    frame: String,
}

#[test]
fn hello_is_answered() {
    for case in vectors::<HelloRequestCase>("hello_requests") {
        for clock in [false, true] {
            let settings = Settings {
                clock,
                name: "a name that is longer than its field of 32",
                ..Settings::default()
            };
            let found = answers(&settings, &bytes_of(&case.frame));
            assert_eq!(found.len(), 1, "{}", case.name);
            let (header, payload) = &found[0];
            assert_eq!((header.kind, header.sequence), (Kind::Hello, case.sequence));
            assert_eq!(header.rx_ticks, if clock { TICKS } else { 0 });
            assert_eq!(header.tx_ticks, if clock { TICKS } else { 0 });
            let mut expected = HelloReply {
                min_version: 1,
                max_version: 1,
                tick_bits: if clock { 64 } else { 0 },
                bus: 2,
                abilities: if clock { 0b111111 } else { 0b110111 },
                max_out: 4096,
                max_in: 4096,
                max_outstanding: wiregauge_firmware_host::waiting() as u32,
                tick_hz: if clock { 1_000_000_000 } else { 0 },
                ..HelloReply::default()
            };
            expected.set_name(settings.name);
            assert_eq!(payload[..], expected.encode());
        }
    }
}

#[derive(Deserialize)]
struct InvalidCase {
    name: String,
    of: String,
    header: String,
    error: String,
}

#[test]
fn invalid_headers_are_noise_and_the_next_frame_is_found() {
    let mut seen = 0;
    for case in vectors::<InvalidCase>("invalid") {
        let header = bytes_of(&case.header);
        if case.of != "request" || case.error == "short" {
            continue;
        }
        let header: [u8; 16] = header.try_into().expect("16 bytes");
        assert!(!is_header(&header), "{}", case.name);
        let bytes = [&header[..], &exchange(77, 5, 40)].concat();
        let found = answers(&Settings::default(), &bytes);
        assert_eq!(found.len(), 1, "{}", case.name);
        assert_eq!(found[0].0.sequence, 77, "{}", case.name);
        seen += 1;
    }
    assert!(seen >= 12, "only {seen}");
}

#[derive(Deserialize)]
struct StreamCase {
    name: String,
    of: String,
    max_frame: u32,
    bytes: String,
    frames: Vec<FrameCase>,
}

#[derive(Deserialize)]
struct FrameCase {
    sequence: u32,
    intact: bool,
    skipped: usize,
    payload: usize,
}

/// Sequence and intactness of the answers to these frames, which stand in `bytes`. A HELLO that was cut short is not
/// answered, and an order tells nothing of its payload.
fn answered(frames: &[FrameCase], bytes: &[u8]) -> Vec<(u32, bool)> {
    let mut at = 0;
    let mut answers = Vec::new();
    for frame in frames {
        at += frame.skipped;
        let header = Request::decode(&bytes[at..]).expect("a request");
        at += wire::REQUEST_HEADER + frame.payload;
        match header.kind {
            Kind::Hello if frame.payload < header.out_payload as usize => {}
            Kind::Hello | Kind::Sink | Kind::Source => answers.push((frame.sequence, true)),
            Kind::Exchange | Kind::Message => answers.push((frame.sequence, frame.intact)),
        }
    }
    answers
}

#[test]
fn streams_give_the_same_frames_however_they_are_cut() {
    let mut seen = 0;
    for case in vectors::<StreamCase>("streams") {
        if case.of != "request" {
            continue;
        }
        let bytes = bytes_of(&case.bytes);
        let settings = Settings {
            max_out: case.max_frame,
            ..Settings::default()
        };
        for piece in 1..=bytes.len() {
            let mut responder = Responder::new(&settings);
            let found = responses(&said_to(&mut responder, &bytes, piece));
            // A frame over the limit is refused, which a receiver of frames does not do.
            let found: Vec<_> = found
                .iter()
                .filter(|(answer, _)| answer.status != Status::TooLarge)
                .map(|(answer, _)| (answer.sequence, answer.flags & 1 == 0))
                .collect();
            let mut expected = answered(&case.frames, &bytes);
            // The firmware answers a damaged message before it knows where it ends.
            if case.name == "a damaged message that ends like a header has begun"
                || case.name == "two bytes of a reply lost, and nothing comes behind it"
            {
                expected.push((33, false));
            }
            assert_eq!(found, expected, "{} in pieces of {piece}", case.name);
        }
        seen += 1;
    }
    assert!(seen >= 130, "only {seen}");
}

#[derive(Deserialize)]
struct StreamPatternCase {
    position: u64,
    bytes: String,
}

#[test]
fn streams_are_made_of_numbered_words() {
    let mut seen = 0;
    for case in vectors::<StreamPatternCase>("stream_pattern") {
        let expected = bytes_of(&case.bytes);
        // A judge that is shown the place by what comes before it knows the bytes, wherever they are.
        // The nearest place is meant, so that it is led to a far one in steps.
        let mut responder = Responder::new(&Settings::default());
        let near = case.position.min(4096);
        let mut before = near;
        for place in (0..case.position - near).step_by(1 << 32) {
            responder.sink_take(&words(place, 16));
            before += 16;
        }
        responder.sink_take(&words(case.position - near, near as usize));
        responder.sink_take(&expected);
        let [received, _, _, corrupted, stray] = responder.sink_end();
        assert_eq!(received, before + expected.len() as u64);
        assert_eq!([corrupted, stray], [0; 2], "at {}", case.position);
        // A source comes there only if it is not far.
        if case.position < 1 << 20 {
            let mut responder = Responder::new(&Settings::default());
            let length = case.position + expected.len() as u64;
            let start = order(Kind::Source, 1, Verb::Start, 777, length);
            let said = said_to(&mut responder, &start, 9);
            assert_eq!(said.len() as u64, 32 + length);
            assert_eq!(said[32 + case.position as usize..], expected);
        }
        seen += 1;
    }
    assert!(seen >= 9);
}

#[derive(Deserialize)]
struct StreamOrderCase {
    name: String,
    verb: u8,
    transfer_bytes: u32,
    stop_after: u64,
    payload: String,
}

#[test]
fn stream_orders_are_obeyed() {
    for case in vectors::<StreamOrderCase>("stream_orders") {
        let payload = bytes_of(&case.payload);
        for kind in [Kind::Sink, Kind::Source] {
            let mut responder = Responder::new(&Settings::default());
            let mut said = Vec::new();
            responder.take(&frame(kind, 5, &payload, 32), TICKS);
            // The answer alone, then a transfer.
            responder.give(32, &mut said);
            let answer = Response::decode(&said).expect("an answer");
            assert_eq!(answer.status, Status::Ok, "{}", case.name);
            let starts = case.verb == 1;
            assert_eq!(responder.sinks(), starts && kind == Kind::Sink);
            assert_eq!(responder.sources(), starts && kind == Kind::Source);
            assert_eq!(answer.in_payload, if starts { 0 } else { 72 });
            if starts && kind == Kind::Source {
                let room = 70_000;
                said.clear();
                responder.give(room, &mut said);
                let all = match case.stop_after {
                    0 => room,
                    bytes => room.min(bytes as usize),
                };
                assert_eq!(said, words(0, all), "{}", case.name);
                // So many transfers were begun.
                responder.take(&order(kind, 6, Verb::End, 0, 0), TICKS);
                said.clear();
                while responder.give(1 << 20, &mut said) > 0 {
                    if said.len() > 1 << 22 {
                        break;
                    }
                }
                if case.transfer_bytes < 1 << 20 {
                    let report = StreamReport::decode(&said[said.len() - 72..]).expect("a report");
                    let transfers = report.bytes.div_ceil(u64::from(case.transfer_bytes));
                    assert_eq!(report.transfers, transfers);
                }
            }
        }
    }
}

#[derive(Deserialize)]
struct StreamCheckCase {
    name: String,
    of: String,
    bytes: String,
    received: u64,
    lost: u64,
    duplicated: u64,
    corrupted: u64,
    stray: u64,
    frames: Vec<PlaceCase>,
}

#[derive(Clone, Debug, Deserialize, PartialEq)]
struct PlaceCase {
    sequence: u32,
    place: usize,
}

/// A device looks for requests. In the vectors of what a host hears, the responses are replaced by requests of the same
/// number and payload.
#[test]
fn stream_checks_give_the_same_counts_however_they_are_cut() {
    for case in vectors::<StreamCheckCase>("stream_checks") {
        if case.name == "a request is none of the answers" {
            continue;
        }
        let (bytes, places) = as_requests(&case);
        let counts = [
            case.received,
            case.lost,
            case.duplicated,
            case.corrupted,
            case.stray,
        ];
        for piece in (1..80).chain([511, 512, 513, bytes.len().max(1)]) {
            let mut responder = Responder::new(&Settings::default());
            let found = judge(&mut responder, &bytes, piece);
            assert_eq!(found.0, counts, "{} in pieces of {piece}", case.name);
            assert_eq!(found.1, places, "{} in pieces of {piece}", case.name);
        }
    }
}

fn as_requests(case: &StreamCheckCase) -> (Vec<u8>, Vec<PlaceCase>) {
    let bytes = bytes_of(&case.bytes);
    if case.of == "request" {
        return (bytes, case.frames.clone());
    }
    let mut made = Vec::new();
    let mut places = Vec::new();
    let mut from = 0;
    for frame in &case.frames {
        made.extend(&bytes[from..frame.place]);
        places.push(PlaceCase {
            sequence: frame.sequence,
            place: made.len(),
        });
        let header = Response::decode(&bytes[frame.place..]).expect("a response");
        let mut request = [0; 16];
        Request {
            kind: Kind::Sink,
            sequence: frame.sequence,
            out_payload: header.in_payload,
            in_bytes: 32,
        }
        .encode(&mut request);
        made.extend(request);
        from = frame.place + wire::RESPONSE_HEADER;
    }
    made.extend(&bytes[from..]);
    (made, places)
}

/// The judge of a stream alone, to which `bytes` come in pieces of `piece`.
fn judge(responder: &mut Responder, bytes: &[u8], piece: usize) -> ([u64; 5], Vec<PlaceCase>) {
    let mut frames = Vec::new();
    let mut payload = 0;
    let mut place = 0;
    for mut rest in bytes.chunks(piece) {
        while !rest.is_empty() {
            let skipped = payload.min(rest.len());
            payload -= skipped;
            place += skipped;
            rest = &rest[skipped..];
            let (used, header) = responder.sink_take(rest);
            place += used;
            rest = &rest[used..];
            if let Some(header) = header {
                let header = Request::decode(&header).expect("a header");
                frames.push(PlaceCase {
                    sequence: header.sequence,
                    place: place - 16,
                });
                payload = header.out_payload as usize;
            }
        }
    }
    (responder.sink_end(), frames)
}

#[derive(Deserialize)]
struct StreamReportCase {
    name: String,
    overruns: u64,
    payload: String,
}

/// A device cannot be made to report a vector's numbers, so that its own are held to the layout that the vectors show.
#[test]
fn stream_reports_have_their_fields_in_place() {
    for case in vectors::<StreamReportCase>("stream_reports") {
        let decoded = StreamReport::decode(&bytes_of(&case.payload)).expect("a report");
        assert_eq!(decoded.overruns, case.overruns, "{}", case.name);
    }
    let mut responder = Responder::new(&Settings::default());
    said_to(&mut responder, &hello(1, [0; 8]), 200);
    said_to(
        &mut responder,
        &order(Kind::Sink, 2, Verb::Start, 64, 0),
        200,
    );
    let mut stream = words(0, 4000);
    stream.drain(1000..1200);
    stream[2000] ^= 1;
    stream.splice(3000..3000, [0x55; 9]);
    stream.extend(words(3900, 64));
    said_to(&mut responder, &stream, 100);
    responder.overrun(false);
    let said = said_to(&mut responder, &order(Kind::Sink, 3, Verb::End, 0, 0), 200);
    let report = StreamReport::decode(&said[32..]).expect("a report");
    let expected = StreamReport {
        bytes: 3800 + 9 + 64,
        lost: 200,
        duplicated: 64,
        corrupted: 1,
        stray: 9,
        transfers: 39,
        overruns: 1,
        first_ticks: TICKS,
        last_ticks: TICKS,
    };
    assert_eq!(report, expected);
}
