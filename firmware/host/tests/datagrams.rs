//! What holds on datagrams only: no address is sent more than it sent until it is proved, each has streams of its own,
//! and a source whose host has gone falls silent.

use proptest::prelude::*;
use wiregauge_firmware_host::differential::MAX_FRAME;
use wiregauge_firmware_host::recipe::{cook, exchange, frame, hello, message, order, words};
use wiregauge_firmware_host::{Address, Responder, Settings, peers, siphash};
use wiregauge_wire as wire;
use wiregauge_wire::{HelloReply, Kind, Response, Status, StreamReport, Verb};

const ROOM: usize = 1472;
const MINUTE: u32 = 60_000;

fn address(number: u8) -> Address {
    let mut address = [0; 18];
    address[..4].copy_from_slice(&[192, 0, 2, number]);
    address[16..].copy_from_slice(&[0x1E, 0x14]);
    address
}

fn device() -> Responder {
    Responder::new(&Settings {
        max_out: 65_535,
        max_in: 65_535,
        ..Settings::default()
    })
}

fn ask(device: &mut Responder, from: &Address, datagram: &[u8], now: u32) -> Option<Response> {
    let answer = device.take_datagram(from, datagram, now, ROOM);
    (!answer.is_empty()).then(|| Response::decode(&answer).expect("a response"))
}

fn prove(device: &mut Responder, from: &Address, now: u32) -> [u8; 8] {
    let answer = device.take_datagram(from, &hello(1, [0; 8]), now, ROOM);
    assert_eq!(answer.len(), 104);
    let token = HelloReply::decode(&answer[32..]).expect("a HELLO").token;
    let again = device.take_datagram(from, &hello(2, token), now, ROOM);
    assert_eq!(again.len(), 104);
    token
}

fn status(device: &mut Responder, from: &Address, datagram: &[u8], now: u32) -> Option<Status> {
    ask(device, from, datagram, now).map(|answer| answer.status)
}

/// The first of the vectors in the reference implementation (vectors.h: SipHash-2-4, 64 bits, key 00 to 0f).
#[test]
fn siphash_is_the_one_of_the_reference() {
    let key: [u8; 16] = std::array::from_fn(|at| at as u8);
    let message: Vec<u8> = (0..64).collect();
    assert_eq!(siphash(&key, &[]), 0x726f_db47_dd0e_0e31);
    assert_eq!(siphash(&key, &message[..1]), 0x74f8_39c5_93dc_67fd);
    assert_eq!(siphash(&key, &message[..8]), 0x93f5_f579_9a93_2462);
    assert_eq!(siphash(&key, &message[..15]), 0xa129_ca61_49be_45e5);
}

#[test]
fn a_stranger_is_answered_no_more_than_it_sent() {
    let mut device = device();
    let stranger = address(1);
    let mut of = |datagram: &[u8]| status(&mut device, &stranger, datagram, 0);
    assert_eq!(of(&exchange(1, 32, 48)), Some(Status::Ok));
    assert_eq!(of(&exchange(1, 32, 49)), Some(Status::Unproven));
    assert_eq!(of(&exchange(1, 16, 33)), Some(Status::Unproven));
    assert_eq!(
        of(&exchange(1, 15, 0)),
        None,
        "31 bytes are fewer than an answer has"
    );
    assert_eq!(of(&exchange(1, 0, 2000)), None);
    assert_eq!(
        of(&message(1, b"twenty bytes of text", 54)),
        Some(Status::Unproven)
    );
    assert_eq!(
        of(&message(1, b"twenty bytes of text", 38)),
        Some(Status::Ok)
    );
    assert_eq!(
        of(&order(Kind::Sink, 1, Verb::Start, 64, 0)),
        Some(Status::Unproven)
    );
    assert_eq!(
        of(&order(Kind::Source, 1, Verb::End, 64, 0)),
        Some(Status::Unproven)
    );
    assert_eq!(of(&hello(1, [0; 8])[..103]), None);
    assert_eq!(of(&frame(Kind::Hello, 1, &[0; 20], 104)), None);
    assert!(device.give_datagram(0, ROOM).is_none());
}

#[test]
fn a_token_proves_the_address_that_it_was_sent_to_and_no_other() {
    let mut device = device();
    let (mine, other) = (address(1), address(2));
    let mut port = mine;
    port[17] ^= 1;
    let token = prove(&mut device, &mine, 5);
    let large = exchange(3, 0, 1000);
    assert_eq!(status(&mut device, &mine, &large, 5), Some(Status::Ok));
    for stranger in [other, port] {
        device.take_datagram(&stranger, &hello(2, token), 5, ROOM);
        assert_eq!(status(&mut device, &stranger, &large, 5), None);
    }
    // Another start, another key: an old token proves nothing.
    let mut restarted = Responder::new(&Settings {
        key: [8; 16],
        ..Settings::default()
    });
    restarted.take_datagram(&mine, &hello(2, token), 5, ROOM);
    assert_eq!(status(&mut restarted, &mine, &large, 5), None);
}

#[test]
fn a_proof_ends_a_minute_after_the_last_request() {
    // Across the clock's wrap.
    let begin = u32::MAX - MINUTE;
    let mut device = device();
    let mine = address(1);
    prove(&mut device, &mine, begin);
    let large = exchange(3, 0, 1000);
    let mut at = begin;
    for _ in 0..3 {
        at = at.wrapping_add(MINUTE - 1);
        assert_eq!(status(&mut device, &mine, &large, at), Some(Status::Ok));
    }
    at = at.wrapping_add(MINUTE);
    assert_eq!(status(&mut device, &mine, &large, at), None);
}

#[test]
fn the_address_that_was_silent_longest_is_forgotten_first() {
    let mut device = device();
    let large = exchange(3, 0, 1000);
    let all: Vec<Address> = (0..=peers() as u8).map(address).collect();
    for (now, one) in all[..peers()].iter().enumerate() {
        prove(&mut device, one, now as u32);
    }
    assert_eq!(status(&mut device, &all[0], &large, 50), Some(Status::Ok));
    prove(&mut device, &all[peers()], 60);
    assert_eq!(status(&mut device, &all[0], &large, 70), Some(Status::Ok));
    assert_eq!(status(&mut device, &all[1], &large, 70), None);
    assert_eq!(
        status(&mut device, &all[peers()], &large, 70),
        Some(Status::Ok)
    );
}

#[test]
fn an_answer_is_one_datagram() {
    let mut device = device();
    let mine = address(1);
    prove(&mut device, &mine, 0);
    let answer = device.take_datagram(&mine, &hello(1, [0; 8]), 0, ROOM);
    let hello = HelloReply::decode(&answer[32..]).expect("a HELLO");
    assert_eq!((hello.max_out, hello.max_in), (1472, 1472));
    let answer = device.take_datagram(&mine, &exchange(3, 5, 1472), 0, ROOM);
    assert_eq!(answer.len(), 1472);
    assert_eq!(wire::check_pattern(3, &answer[32..]), None);
    let mut of = |datagram: &[u8]| status(&mut device, &mine, datagram, 0);
    assert_eq!(of(&exchange(3, 5, 1473)), Some(Status::TooLarge));
    assert_eq!(
        of(&order(Kind::Source, 1, Verb::Start, 1473, 0)),
        Some(Status::TooLarge)
    );
    assert_eq!(
        of(&order(Kind::Source, 1, Verb::Start, 0, 0)),
        Some(Status::Unsupported)
    );
    assert_eq!(
        of(&frame(Kind::Source, 1, &[9; 16], 32)),
        Some(Status::Unsupported)
    );
}

#[test]
fn what_is_no_frame_of_this_version_is_told_so_and_all_else_is_dropped() {
    let mut device = device();
    let mine = address(1);
    let header = |version_kind: u8, length: usize| {
        let mut bytes = exchange(9, 0, 32);
        bytes[1] = version_kind;
        bytes[2..4].fill(0);
        let check = wire::crc16(&bytes[..16]);
        bytes[2..4].copy_from_slice(&check.to_le_bytes());
        bytes.resize(length, 0);
        bytes
    };
    let status_for = |device: &mut Responder, bytes: &[u8]| {
        ask(device, &mine, bytes, 0).map(|a| (a.kind, a.sequence, a.status))
    };
    let version = Some((Kind::Hello, 9, Status::Version));
    let unsupported = Some((Kind::Hello, 9, Status::Unsupported));
    assert_eq!(status_for(&mut device, &header(0x21, 32)), version);
    assert_eq!(status_for(&mut device, &header(0x21, 31)), None);
    assert_eq!(status_for(&mut device, &header(0x17, 32)), unsupported);
    prove(&mut device, &mine, 0);
    assert_eq!(status_for(&mut device, &header(0x21, 16)), version);
    // Neither damaged nor of another length.
    let mut damaged = header(0x21, 32);
    damaged[5] ^= 1;
    assert_eq!(status_for(&mut device, &damaged), None);
    let good = exchange(3, 20, 64);
    assert_eq!(status_for(&mut device, &good[..35]), None);
    assert_eq!(status_for(&mut device, &[&good[..], &[0]].concat()), None);
    let mut wrong = good.clone();
    wrong[30] ^= 1;
    let answer = ask(&mut device, &mine, &wrong, 0).expect("an answer");
    assert_eq!((answer.status, answer.flags), (Status::Ok, 1));
}

#[test]
fn each_address_has_streams_of_its_own() {
    let mut device = device();
    let (one, other) = (address(1), address(2));
    for peer in [one, other] {
        prove(&mut device, &peer, 0);
        let start = order(Kind::Sink, 5, Verb::Start, 100, 0);
        assert_eq!(status(&mut device, &peer, &start, 0), Some(Status::Ok));
    }
    for piece in 0..10 {
        let data = words(piece * 100, 100);
        assert!(device.take_datagram(&one, &data, 0, ROOM).is_empty());
        if piece != 4 {
            device.take_datagram(&other, &data, 0, ROOM);
        }
    }
    // A piece of a stream is none of a stranger's business.
    assert!(
        device
            .take_datagram(&address(3), &words(0, 100), 0, ROOM)
            .is_empty()
    );
    let mut report = |of| {
        let said = device.take_datagram(of, &order(Kind::Sink, 6, Verb::End, 0, 0), 0, ROOM);
        StreamReport::decode(&said[32..]).expect("a report")
    };
    let (whole, holed) = (report(&one), report(&other));
    assert_eq!((whole.bytes, whole.lost, whole.transfers), (1000, 0, 10));
    assert_eq!((holed.bytes, holed.lost, holed.transfers), (900, 100, 9));
}

#[test]
fn sources_take_turns_and_fall_silent_ten_seconds_after_the_last_request() {
    let mut device = device();
    let (one, other) = (address(1), address(2));
    let start = order(Kind::Source, 5, Verb::Start, 700, 0);
    for peer in [one, other] {
        prove(&mut device, &peer, 0);
        assert_eq!(status(&mut device, &peer, &start, 0), Some(Status::Ok));
    }
    let mut heard = [Vec::new(), Vec::new()];
    for _ in 0..6 {
        let (whom, bytes) = device.give_datagram(0, ROOM).expect("data");
        heard[usize::from(whom == other)].extend(bytes);
    }
    assert_eq!(heard, [words(0, 2100), words(0, 2100)]);
    // START again keeps one of them alive.
    assert_eq!(status(&mut device, &one, &start, 9_000), Some(Status::Ok));
    assert!(device.give_datagram(10_000, ROOM).is_some());
    assert!(device.give_datagram(10_000, ROOM).is_some());
    for _ in 0..4 {
        let (whom, _) = device.give_datagram(10_001, ROOM).expect("data");
        assert_eq!(whom, one);
    }
    assert!(device.give_datagram(19_001, ROOM).is_none());
    let said = device.take_datagram(
        &other,
        &order(Kind::Source, 6, Verb::End, 0, 0),
        19_001,
        ROOM,
    );
    let report = StreamReport::decode(&said[32..]).expect("a report");
    assert_eq!(report.bytes, 700 * report.transfers);
    assert!(report.transfers >= 3);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a stranger says, it never hears more than that.
    #[test]
    fn no_datagram_is_worth_more_than_itself(
        recipe in prop::collection::vec(any::<u8>(), 0..60),
        cuts in prop::collection::vec(0_usize..600, 0..20),
    ) {
        let mut device = device();
        let said = cook(&recipe, MAX_FRAME, true);
        let mut rest = &said[..];
        for cut in cuts.iter().chain([&usize::MAX]) {
            let (datagram, behind) = rest.split_at((*cut).min(rest.len()));
            let answer = device.take_datagram(&address(9), datagram, 0, ROOM);
            prop_assert!(answer.len() <= datagram.len());
            prop_assert!(device.give_datagram(0, ROOM).is_none());
            rest = behind;
        }
    }
}
