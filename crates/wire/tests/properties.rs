//! What must hold for every frame and every damage, not only for those someone thought of.

use std::fmt::Debug;

use proptest::prelude::*;
use wiregauge_wire::{
    Found, Header, HelloReply, HelloRequest, Kind, MAX_FRAME, Request, Response, Status,
    check_pattern, fill_pattern, message_check, message_of, next_frame, next_frame_after,
};

const LIMIT: usize = 4096;

/// A header that can be made up, to write the properties once for both directions.
pub trait Sent: Header + Debug + PartialEq {
    fn exchange(sequence: u32, payload: u32) -> Self;
    fn header(&self) -> Vec<u8>;

    fn frame(&self) -> Vec<u8> {
        let mut bytes = self.header();
        let mut payload = vec![0; self.payload_len()];
        fill_pattern(self.sequence(), &mut payload);
        bytes.append(&mut payload);
        bytes
    }
}

impl Sent for Request {
    fn exchange(sequence: u32, payload: u32) -> Self {
        Self {
            kind: Kind::Exchange,
            sequence,
            out_payload: payload,
            in_bytes: 48,
        }
    }

    fn header(&self) -> Vec<u8> {
        let mut header = [0; 16];
        self.encode(&mut header);
        header.to_vec()
    }
}

impl Sent for Response {
    fn exchange(sequence: u32, payload: u32) -> Self {
        Self {
            kind: Kind::Exchange,
            sequence,
            in_payload: payload,
            status: Status::Ok,
            flags: 0,
            rx_ticks: u64::from(sequence) << 7,
            tx_ticks: u64::from(sequence) << 9,
        }
    }

    fn header(&self) -> Vec<u8> {
        let mut header = [0; 32];
        self.encode(&mut header);
        header.to_vec()
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Received<H> {
    header: H,
    payload: Vec<u8>,
    intact: bool,
}

/// Receives `bytes` in pieces of the given sizes (repeated), and whatever is found in them.
fn receive<H: Header>(bytes: &[u8], pieces: &[usize], hint: bool) -> Vec<Received<H>> {
    let mut found = Vec::new();
    let mut buffer = Vec::new();
    let mut seen = 0;
    let mut rest = bytes;
    for piece in pieces.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (arriving, later) = rest.split_at(rest.len().min(*piece));
        rest = later;
        buffer.extend_from_slice(arriving);
        loop {
            let next = match hint {
                true => next_frame_after::<H>(&buffer, LIMIT, seen),
                false => next_frame::<H>(&buffer, LIMIT),
            };
            seen = 0;
            match next {
                Found::Incomplete { need } => {
                    assert!(need > buffer.len());
                    assert!(need <= LIMIT.max(buffer.len() + 1));
                    seen = buffer.len();
                    break;
                }
                Found::Garbage { skip } => {
                    assert!(0 < skip && skip <= buffer.len());
                    buffer.drain(..skip);
                }
                Found::Frame {
                    skip,
                    header,
                    payload,
                    end,
                    intact,
                } => {
                    assert_eq!(payload.start, skip + H::SIZE);
                    assert_eq!(payload.end, end);
                    assert!(!intact || payload.len() == header.payload_len());
                    found.push(Received {
                        header,
                        payload: buffer[payload].to_vec(),
                        intact,
                    });
                    buffer.drain(..end);
                }
            }
        }
    }
    found
}

fn headers<H: Sent>() -> impl Strategy<Value = Vec<H>> {
    let length = prop_oneof![Just(0), 0..20_u32, 0..700_u32];
    let sequence = prop_oneof![0..600_u32, any::<u32>()];
    (sequence, prop::collection::vec(length, 1..12)).prop_map(|(first, lengths)| {
        (0..)
            .zip(lengths)
            .map(|(number, length)| H::exchange(first.wrapping_add(number), length))
            .collect()
    })
}

fn stream<H: Sent>(headers: &[H]) -> Vec<u8> {
    headers.iter().flat_map(H::frame).collect()
}

pub fn pieces() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![1..4_usize, 1..40_usize, 1..5000_usize], 1..20)
}

/// The frames found intact are among those sent, in order, and at most two of those are missing.
fn at_most_two_are_missing<H: Sent>(sent: &[H], found: &[Received<H>]) {
    let intact: Vec<_> = found.iter().filter(|frame| frame.intact).collect();
    let mut remaining = sent.iter();
    for frame in &intact {
        assert!(
            remaining.any(|header| *header == frame.header),
            "never sent, or out of order: {frame:?}"
        );
        assert_eq!(check_pattern(frame.header.sequence(), &frame.payload), None);
    }
    assert!(intact.len() + 2 >= sent.len(), "found only {intact:?}");
}

/// Whether a damaged header passes its 16-bit check all the same, as one in 65,536 does. The check's
/// own strength is not what is tested here.
fn unlucky<H: Sent>(sent: &[H], damaged: &[u8]) -> bool {
    let starts = sent.iter().scan(0, |end, header| {
        let start = *end;
        *end += H::SIZE + header.payload_len();
        Some(start)
    });
    starts
        .filter_map(|start| H::decode_header(damaged.get(start..)?).ok())
        .any(|header| !sent.contains(&header))
}

fn all_are_found<H: Sent>(sent: &[H], cut: &[usize]) {
    let bytes = stream(sent);
    for hint in [false, true] {
        let found = receive::<H>(&bytes, cut, hint);
        assert!(found.iter().all(|frame| frame.intact));
        assert!(found.iter().map(|frame| &frame.header).eq(sent));
    }
}

fn damage_is_contained<H: Sent>(sent: &[H], damaged: &[u8], cut: &[usize]) {
    if unlucky(sent, damaged) {
        return;
    }
    let whole = receive::<H>(damaged, &[damaged.len()], false);
    at_most_two_are_missing(sent, &whole);
    for hint in [false, true] {
        assert_eq!(receive::<H>(damaged, cut, hint), whole);
    }
}

fn a_flipped_bit_is_noticed<H: Sent>(sent: &[H], at: prop::sample::Index) {
    let mut bytes = stream(sent);
    let bit = at.index(bytes.len() * 8);
    bytes[bit / 8] ^= 1 << (bit % 8);
    let found = receive::<H>(&bytes, &[bytes.len()], false);
    at_most_two_are_missing(sent, &found);
    let intact = found.iter().filter(|frame| frame.intact).count();
    assert!(intact < sent.len(), "a changed frame was called intact");
}

proptest! {
    #[test]
    fn requests_survive_the_wire(
        kind in 0..5_u8, sequence: u32, out_payload in 0..=MAX_FRAME - 16, in_bytes: u32,
    ) {
        let kind = Kind::from_number(kind).unwrap();
        let request = Request { kind, sequence, out_payload, in_bytes };
        prop_assert_eq!(Request::decode(&request.header()), Ok(request));
    }

    #[test]
    fn responses_survive_the_wire(
        kind in 0..5_u8, sequence: u32, in_payload in 0..=MAX_FRAME - 32, status in 0..5_u16,
        flags: u16, rx_ticks: u64, tx_ticks: u64,
    ) {
        let kind = Kind::from_number(kind).unwrap();
        let status = Status::from_number(status).unwrap();
        let in_payload = if status == Status::Ok { in_payload } else { 0 };
        let response = Response { kind, sequence, in_payload, status, flags, rx_ticks, tx_ticks };
        prop_assert_eq!(Response::decode(&response.header()), Ok(response));
    }

    #[test]
    fn hello_survives_the_wire(bytes: [u8; 32], more: [u8; 40], token: [u8; 8], name: String) {
        let payload = [&bytes[..20], &[0; 4], &more[..40], &token].concat();
        let mut hello = HelloReply::decode(&payload).unwrap();
        prop_assert_eq!(&hello.encode()[..], payload);
        let _ = hello.name_str();
        hello.set_name(&name);
        prop_assert!(name.starts_with(hello.name_str()));
        prop_assert_eq!(HelloReply::decode(&hello.encode()), Some(hello));
        let request = HelloRequest { token };
        prop_assert_eq!(HelloRequest::decode(&request.encode()), Some(request));
    }

    #[test]
    fn the_pattern_has_no_wrong_byte_until_one_is_changed(
        sequence: u32, length in 1..40_000_usize, at: prop::sample::Index, change in 1..=255_u8,
    ) {
        let mut payload = vec![0; length];
        fill_pattern(sequence, &mut payload);
        prop_assert_eq!(check_pattern(sequence, &payload), None);
        let at = at.index(length);
        payload[at] ^= change;
        prop_assert_eq!(check_pattern(sequence, &payload), Some(at));
    }

    #[test]
    fn every_frame_is_found_however_the_stream_is_cut(
        requests in headers::<Request>(), responses in headers::<Response>(), cut in pieces(),
    ) {
        all_are_found(&requests, &cut);
        all_are_found(&responses, &cut);
    }

    #[test]
    fn one_lost_byte_costs_two_frames_at_most(
        requests in headers::<Request>(), responses in headers::<Response>(),
        at: prop::sample::Index, cut in pieces(),
    ) {
        let mut bytes = stream(&requests);
        bytes.remove(at.index(bytes.len()));
        damage_is_contained(&requests, &bytes, &cut);
        let mut bytes = stream(&responses);
        bytes.remove(at.index(bytes.len()));
        damage_is_contained(&responses, &bytes, &cut);
    }

    #[test]
    fn one_inserted_byte_costs_two_frames_at_most(
        requests in headers::<Request>(), responses in headers::<Response>(),
        at: prop::sample::Index, byte in prop_oneof![Just(0xA7), Just(0x7A), any::<u8>()],
        cut in pieces(),
    ) {
        let mut bytes = stream(&requests);
        bytes.insert(at.index(bytes.len()), byte);
        damage_is_contained(&requests, &bytes, &cut);
        let mut bytes = stream(&responses);
        bytes.insert(at.index(bytes.len()), byte);
        damage_is_contained(&responses, &bytes, &cut);
    }

    #[test]
    fn a_lost_packet_costs_what_it_touched(
        sent in headers::<Response>(), at: prop::sample::Index, cut in pieces(),
    ) {
        let mut bytes = stream(&sent);
        let packets = bytes.len().div_ceil(64);
        let from = at.index(packets) * 64;
        let to = bytes.len().min(from + 64);
        let mut ends = sent.iter().scan(0, |end, header| {
            *end += header.frame().len();
            Some(*end)
        });
        let first = ends.position(|end| end > from).unwrap();
        bytes.drain(from..to);
        prop_assume!(!unlucky(&sent, &bytes));
        let found = receive::<Response>(&bytes, &cut, true);
        for header in &sent[..first] {
            prop_assert!(found.iter().any(|frame| frame.header == *header && frame.intact));
        }
        for frame in found.iter().filter(|frame| frame.intact) {
            prop_assert!(sent.contains(&frame.header));
        }
    }

    #[test]
    fn one_flipped_bit_never_passes(
        requests in headers::<Request>(), responses in headers::<Response>(),
        at: prop::sample::Index,
    ) {
        a_flipped_bit_is_noticed(&requests, at);
        a_flipped_bit_is_noticed(&responses, at);
    }

    #[test]
    fn a_message_is_found_whatever_it_holds_and_however_it_is_cut(
        sequence: u32, texts in prop::collection::vec(anything(), 1..6), cut in pieces(),
    ) {
        let frames: Vec<Vec<u8>> = texts.iter().zip(sequence..=u32::MAX).map(message).collect();
        for hint in [false, true] {
            let found = receive::<Request>(&frames.concat(), &cut, hint);
            prop_assert!(found.iter().all(|frame| frame.intact && frame.header.kind == Kind::Message));
            let found = found.iter().map(|frame| message_of(&frame.payload).unwrap());
            prop_assert!(found.eq(texts.iter().map(|text| &text[..]).take(frames.len())));
        }
    }

    #[test]
    fn a_damaged_message_is_never_intact_and_costs_no_frame_behind_it(
        text in anything(), change in damage(), behind in headers::<Request>(), cut in pieces(),
    ) {
        let whole = message((&text, 9));
        let mut bytes = change.of(&whole);
        // Enough behind it that what was lost is made up for.
        let mut sent = behind;
        sent.push(Request::exchange(1 << 31, 600));
        bytes.extend(stream(&sent));
        let found = receive::<Request>(&bytes, &[bytes.len()], false);
        // A check of 16 bits misses one damage in 65,536, and a text may hold headers of its own.
        let lucky = found.iter().any(|frame| {
            frame.intact && frame.header.kind == Kind::Message && frame.payload != whole[16..]
        });
        prop_assume!(!lucky);
        for hint in [false, true] {
            prop_assert_eq!(&receive::<Request>(&bytes, &cut, hint), &found);
        }
        let behind = found.iter().filter(|frame| frame.intact && sent.contains(&frame.header));
        prop_assert!(behind.count() + 1 >= sent.len(), "{:?}", found);
    }

    #[test]
    fn arbitrary_bytes_are_survived(
        bytes in prop::collection::vec(
            prop_oneof![Just(0xA7), Just(0x7A), Just(0x11), any::<u8>()], 0..400),
        cut in pieces(),
    ) {
        receive::<Request>(&bytes, &cut, true);
        receive::<Response>(&bytes, &cut, false);
        let _ = HelloReply::decode(&bytes).map(|hello| hello.name_str().len());
        let _ = HelloRequest::decode(&bytes);
    }
}

/// A program's bytes; some are frames.
fn anything() -> impl Strategy<Value = Vec<u8>> {
    let bytes = prop_oneof![Just(0xA7), Just(0x14), any::<u8>()];
    prop_oneof![
        prop::collection::vec(bytes, 0..300),
        headers::<Request>().prop_map(|headers| stream(&headers[..headers.len().min(3)])),
    ]
}

/// A whole MESSAGE request.
fn message<T: AsRef<[u8]>>((text, sequence): (T, u32)) -> Vec<u8> {
    let text = text.as_ref();
    let header = Request {
        kind: Kind::Message,
        sequence,
        out_payload: (text.len() + 2) as u32,
        in_bytes: 64,
    };
    [&header.header()[..], text, &message_check(text)].concat()
}

#[derive(Clone, Debug)]
struct Damage {
    at: prop::sample::Index,
    /// Bytes that are missing there; or one that is changed.
    lost: Option<usize>,
    change: u8,
}

fn damage() -> impl Strategy<Value = Damage> {
    (
        any::<prop::sample::Index>(),
        prop::option::of(1..30_usize),
        1..=255_u8,
    )
        .prop_map(|(at, lost, change)| Damage { at, lost, change })
}

impl Damage {
    /// The frame with its payload damaged.
    fn of(&self, frame: &[u8]) -> Vec<u8> {
        let mut bytes = frame.to_vec();
        let at = 16 + self.at.index(frame.len() - 16);
        match self.lost {
            Some(count) => drop(bytes.drain(at..frame.len().min(at + count))),
            None => bytes[at] ^= self.change,
        }
        bytes
    }
}

#[test]
fn the_next_request_frees_a_receiver_that_waits_for_a_lost_byte() {
    let one = Request::exchange(1, 500);
    let two = Request::exchange(2, 0);
    let mut bytes = one.frame();
    bytes.remove(100);
    assert_eq!(
        next_frame::<Request>(&bytes, LIMIT),
        Found::Incomplete { need: 516 }
    );
    let end = bytes.len();
    bytes.extend(two.frame());
    for seen in [0, 100, end] {
        assert_eq!(
            next_frame_after::<Request>(&bytes, LIMIT, seen),
            Found::Frame {
                skip: 0,
                header: one,
                payload: 16..end,
                end,
                intact: false,
            }
        );
    }
}
