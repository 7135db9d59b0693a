//! Holds the crate to docs/vectors/v1.json, which an independent program wrote. Firmware is held to
//! the same file.

use std::fmt::Debug;

use serde::Deserialize;
use serde::de::IgnoredAny;
use wiregauge_wire::{
    BUS_COUNTS, BusCounts, Found, HELLO_REQUEST, HELLO_RESPONSE, Header, HeaderError, HelloReply,
    HelloRequest, Kind, REQUEST_HEADER, RESPONSE_HEADER, Request, Response, STREAM_ORDER,
    STREAM_REPORT, Status, StreamChecker, StreamCounts, StreamOrder, StreamReport, Taken, Verb,
    check_pattern, crc16, fill_pattern, fill_stream, next_frame, next_frame_after,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vectors {
    protocol: String,
    version: u8,
    check: Vec<CheckCase>,
    pattern: Vec<PatternCase>,
    requests: Vec<RequestCase>,
    responses: Vec<ResponseCase>,
    hello_requests: Vec<HelloRequestCase>,
    hello_replies: Vec<HelloReplyCase>,
    invalid: Vec<InvalidCase>,
    streams: Vec<StreamCase>,
    stream_pattern: Vec<StreamPatternCase>,
    stream_orders: Vec<StreamOrderCase>,
    stream_reports: Vec<StreamReportCase>,
    bus_counts: Vec<BusCountCase>,
    stream_checks: Vec<StreamCheckCase>,
    /// For responders, of which there is none in this crate.
    #[serde(rename = "answers")]
    _answers: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StreamPatternCase {
    position: u64,
    bytes: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StreamOrderCase {
    name: String,
    verb: u8,
    transfer_bytes: u32,
    stop_after: u64,
    payload: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StreamReportCase {
    name: String,
    bytes: u64,
    lost: u64,
    duplicated: u64,
    corrupted: u64,
    stray: u64,
    transfers: u64,
    overruns: u64,
    first_ticks: u64,
    last_ticks: u64,
    payload: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BusCountCase {
    name: String,
    packets: u64,
    naks: u64,
    packets_ns: u64,
    naks_ns: u64,
    others_ns: u64,
    not_ready_ns: u64,
    elapsed_ns: u64,
    payload: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
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

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct PlaceCase {
    sequence: u32,
    place: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckCase {
    bytes: String,
    crc: u16,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PatternCase {
    sequence: u32,
    index: usize,
    bytes: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestCase {
    name: String,
    kind: u8,
    sequence: u32,
    out_payload: u32,
    in_bytes: u32,
    header: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HelloRequestCase {
    name: String,
    sequence: u32,
    token: String,
    frame: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HelloReplyCase {
    case: String,
    sequence: u32,
    min_version: u8,
    max_version: u8,
    tick_bits: u8,
    bus: u8,
    abilities: u32,
    max_out: u32,
    max_in: u32,
    max_outstanding: u32,
    tick_hz: u64,
    name: String,
    token: String,
    frame: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InvalidCase {
    name: String,
    of: String,
    header: String,
    error: String,
    number: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StreamCase {
    name: String,
    of: String,
    max_frame: usize,
    bytes: String,
    frames: Vec<FrameCase>,
    left: usize,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct FrameCase {
    sequence: u32,
    intact: bool,
    skipped: usize,
    payload: usize,
}

fn vectors() -> Vectors {
    let text = include_str!("../../../docs/vectors/v1.json");
    let vectors: Vectors = serde_json::from_str(text).expect("the vectors are as described");
    assert_eq!(vectors.protocol, "wiregauge");
    assert_eq!(vectors.version, wiregauge_wire::VERSION);
    vectors
}

fn bytes_of(hex: &str) -> Vec<u8> {
    assert!(hex.len().is_multiple_of(2), "{hex}");
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal"))
        .collect()
}

fn array_of<const N: usize>(hex: &str) -> [u8; N] {
    bytes_of(hex).try_into().expect("of the right length")
}

#[test]
fn checks() {
    for case in vectors().check {
        assert_eq!(crc16(&bytes_of(&case.bytes)), case.crc, "{}", case.bytes);
    }
}

#[test]
fn patterns() {
    for case in vectors().pattern {
        let expected = bytes_of(&case.bytes);
        let mut payload = vec![0; case.index + expected.len()];
        fill_pattern(case.sequence, &mut payload);
        assert_eq!(payload[case.index..], expected, "{}", case.sequence);
        assert_eq!(check_pattern(case.sequence, &payload), None);
    }
}

#[test]
fn requests_both_ways() {
    for case in vectors().requests {
        let request = Request {
            kind: Kind::from_number(case.kind).expect("a kind"),
            sequence: case.sequence,
            out_payload: case.out_payload,
            in_bytes: case.in_bytes,
        };
        let expected = array_of::<REQUEST_HEADER>(&case.header);
        let mut header = [0xEE; REQUEST_HEADER];
        request.encode(&mut header);
        assert_eq!(header, expected, "{}", case.name);
        assert_eq!(Request::decode(&expected), Ok(request), "{}", case.name);
    }
}

#[test]
fn responses_both_ways() {
    for case in vectors().responses {
        let response = Response {
            kind: Kind::from_number(case.kind).expect("a kind"),
            sequence: case.sequence,
            in_payload: case.in_payload,
            status: Status::from_number(case.status).expect("a status"),
            flags: case.flags,
            rx_ticks: case.rx_ticks,
            tx_ticks: case.tx_ticks,
        };
        let expected = array_of::<RESPONSE_HEADER>(&case.header);
        let mut header = [0xEE; RESPONSE_HEADER];
        response.encode(&mut header);
        assert_eq!(header, expected, "{}", case.name);
        assert_eq!(Response::decode(&expected), Ok(response), "{}", case.name);
    }
}

#[test]
fn hello_requests_both_ways() {
    for case in vectors().hello_requests {
        let frame = array_of::<HELLO_REQUEST>(&case.frame);
        let header = Request::decode(&frame).expect("a request");
        assert_eq!(header.kind, Kind::Hello, "{}", case.name);
        assert_eq!(header.sequence, case.sequence, "{}", case.name);
        assert_eq!(header.in_bytes as usize, HELLO_RESPONSE, "{}", case.name);
        let payload = &frame[REQUEST_HEADER..];
        assert_eq!(payload.len(), header.out_payload as usize, "{}", case.name);
        let token = array_of(&case.token);
        let hello = HelloRequest { token };
        assert_eq!(HelloRequest::decode(payload), Some(hello), "{}", case.name);
        assert_eq!(hello.encode(), payload, "{}", case.name);
    }
}

#[test]
fn hello_replies_both_ways() {
    for case in vectors().hello_replies {
        let mut hello = HelloReply {
            min_version: case.min_version,
            max_version: case.max_version,
            tick_bits: case.tick_bits,
            bus: case.bus,
            abilities: case.abilities,
            max_out: case.max_out,
            max_in: case.max_in,
            max_outstanding: case.max_outstanding,
            tick_hz: case.tick_hz,
            name: [0; 32],
            token: array_of(&case.token),
        };
        hello.set_name(&case.name);
        let frame = array_of::<HELLO_RESPONSE>(&case.frame);
        let header = Response::decode(&frame).expect("a response");
        assert_eq!(header.kind, Kind::Hello, "{}", case.case);
        assert_eq!(header.sequence, case.sequence, "{}", case.case);
        let payload = &frame[RESPONSE_HEADER..];
        assert_eq!(payload.len(), header.in_payload as usize, "{}", case.case);
        assert_eq!(HelloReply::decode(payload), Some(hello), "{}", case.case);
        assert_eq!(hello.encode(), payload, "{}", case.case);
        assert_eq!(hello.name_str(), case.name, "{}", case.case);
    }
}

#[test]
fn invalid_headers_are_named_alike_everywhere() {
    for case in vectors().invalid {
        let header = bytes_of(&case.header);
        let error = match case.of.as_str() {
            "request" => Request::decode(&header).expect_err(&case.name),
            "response" => Response::decode(&header).expect_err(&case.name),
            other => panic!("{other}"),
        };
        let (name, number) = match error {
            HeaderError::Short => ("short", None),
            HeaderError::Magic => ("magic", None),
            HeaderError::Check => ("check", None),
            HeaderError::Version(number) => ("version", Some(number.into())),
            HeaderError::Kind(number) => ("kind", Some(number.into())),
            HeaderError::Status(number) => ("status", Some(number.into())),
            HeaderError::Length(number) => ("length", Some(number)),
            other => panic!("{other:?} has no vector"),
        };
        assert_eq!((name, number), (&*case.error, case.number), "{}", case.name);
    }
}

#[test]
fn streams_give_the_same_frames_however_they_are_cut() {
    for case in vectors().streams {
        let bytes = bytes_of(&case.bytes);
        let found = |piece, hint| match case.of.as_str() {
            "request" => receive::<Request>(&bytes, case.max_frame, piece, hint),
            "response" => receive::<Response>(&bytes, case.max_frame, piece, hint),
            other => panic!("{other}"),
        };
        for piece in 1..=bytes.len() {
            for hint in [false, true] {
                let (frames, left) = found(piece, hint);
                assert_eq!(frames, case.frames, "{} in pieces of {piece}", case.name);
                assert_eq!(left, case.left, "{} in pieces of {piece}", case.name);
            }
        }
    }
}

#[test]
fn streams_are_made_of_numbered_words() {
    for case in vectors().stream_pattern {
        let expected = bytes_of(&case.bytes);
        let mut bytes = vec![0xEE; expected.len()];
        fill_stream(case.position, &mut bytes);
        assert_eq!(bytes, expected, "at {}", case.position);
    }
}

#[test]
fn stream_orders_both_ways() {
    for case in vectors().stream_orders {
        let order = StreamOrder {
            verb: match case.verb {
                1 => Verb::Start,
                2 => Verb::End,
                other => panic!("{other}"),
            },
            transfer_bytes: case.transfer_bytes,
            stop_after: case.stop_after,
        };
        let payload = array_of::<STREAM_ORDER>(&case.payload);
        assert_eq!(order.encode(), payload, "{}", case.name);
        assert_eq!(StreamOrder::decode(&payload), Some(order), "{}", case.name);
    }
}

#[test]
fn bus_counts_both_ways() {
    for case in vectors().bus_counts {
        let counts = BusCounts {
            packets: case.packets,
            naks: case.naks,
            packets_ns: case.packets_ns,
            naks_ns: case.naks_ns,
            others_ns: case.others_ns,
            not_ready_ns: case.not_ready_ns,
            elapsed_ns: case.elapsed_ns,
        };
        let payload = array_of::<BUS_COUNTS>(&case.payload);
        assert_eq!(counts.encode(), payload, "{}", case.name);
        assert_eq!(BusCounts::decode(&payload), Some(counts), "{}", case.name);
        assert_eq!(BusCounts::decode(&payload[1..]), None, "{}", case.name);
    }
}

#[test]
fn stream_reports_both_ways() {
    for case in vectors().stream_reports {
        let report = StreamReport {
            bytes: case.bytes,
            lost: case.lost,
            duplicated: case.duplicated,
            corrupted: case.corrupted,
            stray: case.stray,
            transfers: case.transfers,
            overruns: case.overruns,
            first_ticks: case.first_ticks,
            last_ticks: case.last_ticks,
        };
        let payload = array_of::<STREAM_REPORT>(&case.payload);
        assert_eq!(report.encode(), payload, "{}", case.name);
        assert_eq!(
            StreamReport::decode(&payload),
            Some(report),
            "{}",
            case.name
        );
    }
}

#[test]
fn stream_checks_give_the_same_counts_however_they_are_cut() {
    for case in vectors().stream_checks {
        let bytes = bytes_of(&case.bytes);
        let counts = StreamCounts {
            received: case.received,
            lost: case.lost,
            duplicated: case.duplicated,
            corrupted: case.corrupted,
            stray: case.stray,
        };
        for piece in (1..80).chain([511, 512, 513, bytes.len().max(1)]) {
            let found = match case.of.as_str() {
                "request" => check_stream::<Request>(&bytes, piece),
                "response" => check_stream::<Response>(&bytes, piece),
                other => panic!("{other}"),
            };
            assert_eq!(found.0, counts, "{} in pieces of {piece}", case.name);
            assert_eq!(found.1, case.frames, "{} in pieces of {piece}", case.name);
        }
    }
}

/// The receiver of a stream, to which `bytes` come in pieces of `piece`.
fn check_stream<H: Header>(bytes: &[u8], piece: usize) -> (StreamCounts, Vec<PlaceCase>) {
    let mut checker = StreamChecker::new();
    let mut frames = Vec::new();
    let mut payload = 0;
    let mut place = 0;
    for arriving in bytes.chunks(piece) {
        let mut rest = arriving;
        while !rest.is_empty() {
            let skipped = payload.min(rest.len());
            payload -= skipped;
            place += skipped;
            rest = &rest[skipped..];
            let used = match checker.take::<H>(rest) {
                Taken::All => rest.len(),
                Taken::Frame { header, used } => {
                    frames.push(PlaceCase {
                        sequence: header.sequence(),
                        place: place + used - H::SIZE,
                    });
                    payload = header.payload_len();
                    used
                }
            };
            place += used;
            rest = &rest[used..];
        }
    }
    (checker.finish(), frames)
}

/// A receiver, to which `bytes` come in pieces of `piece`.
fn receive<H: Header + Debug>(
    bytes: &[u8],
    max_frame: usize,
    piece: usize,
    hint: bool,
) -> (Vec<FrameCase>, usize) {
    let mut frames = Vec::new();
    let mut buffer = Vec::new();
    let mut skipped = 0;
    let mut seen = 0;
    for arriving in bytes.chunks(piece) {
        buffer.extend_from_slice(arriving);
        loop {
            let found = match hint {
                true => next_frame_after::<H>(&buffer, max_frame, seen),
                false => next_frame::<H>(&buffer, max_frame),
            };
            seen = 0;
            match found {
                Found::Incomplete { need } => {
                    assert!(need > buffer.len());
                    seen = buffer.len();
                    break;
                }
                Found::Garbage { skip } => {
                    assert!(skip > 0);
                    skipped += skip;
                    buffer.drain(..skip);
                }
                Found::Frame {
                    skip,
                    header,
                    payload,
                    end,
                    intact,
                } => {
                    assert_eq!(payload.end, end);
                    frames.push(FrameCase {
                        sequence: header.sequence(),
                        intact,
                        skipped: skipped + skip,
                        payload: payload.len(),
                    });
                    skipped = 0;
                    buffer.drain(..end);
                }
            }
        }
    }
    (frames, buffer.len())
}
