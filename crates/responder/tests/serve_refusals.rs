//! What a responder refuses: the same however a stream was cut, and told to whoever sent a datagram.

use wiregauge_link::host::Clock;
use wiregauge_responder::{Device, DeviceConfig, Trust};
use wiregauge_wire as wire;
use wiregauge_wire::{Kind, Request, Response, Status};

const MAX_FRAME: u32 = 2048;

fn device() -> Device {
    let config = DeviceConfig {
        max_frame: MAX_FRAME,
        ..DeviceConfig::default()
    };
    Device::new(config, Clock::start())
}

fn header(kind: Kind, sequence: u32, out_payload: u32) -> [u8; wire::REQUEST_HEADER] {
    let mut header = [0; wire::REQUEST_HEADER];
    Request {
        kind,
        sequence,
        out_payload,
        in_bytes: 32,
    }
    .encode(&mut header);
    header
}

/// The statuses of answers that are headers alone, by sequence number.
fn printed(answers: &[u8]) -> Vec<(u32, Status)> {
    let printed = |bytes| Response::decode(bytes).expect("a header");
    let printed = answers.chunks(wire::RESPONSE_HEADER).map(printed);
    printed
        .map(|header| (header.sequence, header.status))
        .collect()
}

#[test]
fn a_frame_that_is_too_large_is_refused_however_the_stream_was_cut() {
    let stream = [
        &[0x55; 3][..],
        &header(Kind::Exchange, 1, MAX_FRAME),
        &[0x55; 40],
        &header(Kind::Exchange, 2, 0),
    ]
    .concat();
    for piece in [1, 2, 7, 20, stream.len()] {
        let (mut device, mut answers, mut waiting) = (device(), Vec::new(), Vec::new());
        for bytes in stream.chunks(piece) {
            waiting.extend_from_slice(bytes);
            let used = device.take_stream(&waiting, 0, &mut answers);
            waiting.drain(..used);
        }
        let expected = [(1, Status::TooLarge), (2, Status::Ok)];
        assert_eq!(printed(&answers), expected, "in pieces of {piece} B");
    }
}

/// The header's check, made for what [`Request`] does not write.
fn sealed(mut header: [u8; wire::REQUEST_HEADER]) -> [u8; wire::REQUEST_HEADER] {
    header[2..4].fill(0);
    let check = wire::crc16(&header);
    header[2..4].copy_from_slice(&check.to_le_bytes());
    header
}

#[test]
fn a_datagram_of_another_version_or_kind_is_told_so() {
    let mut version = header(Kind::Exchange, 7, 0);
    version[1] = 0x21;
    let mut kind = header(Kind::Exchange, 8, 0);
    kind[1] = 0x1f;
    for (bytes, expected) in [
        (sealed(version), (7, Status::Version)),
        (sealed(kind), (8, Status::Unsupported)),
    ] {
        let mut answers = Vec::new();
        device().take_datagram(&bytes, 0, Trust::Proved, &mut answers);
        assert_eq!(printed(&answers), [expected]);
        // A stranger is never sent more than came.
        answers.clear();
        device().take_datagram(&bytes, 0, Trust::Unproved, &mut answers);
        assert!(answers.is_empty());
        let longer = [&bytes[..], &[0; 16]].concat();
        device().take_datagram(&longer, 0, Trust::Unproved, &mut answers);
        assert_eq!(printed(&answers), [expected]);
        // Damage is no version.
        answers.clear();
        let mut damaged = bytes;
        damaged[2] ^= 1;
        device().take_datagram(&damaged, 0, Trust::Proved, &mut answers);
        assert!(answers.is_empty());
    }
}

#[test]
fn a_datagram_that_is_too_large_is_told_so() {
    let datagram = [
        &header(Kind::Exchange, 9, MAX_FRAME)[..],
        &[0; MAX_FRAME as usize],
    ]
    .concat();
    let mut answers = Vec::new();
    device().take_datagram(&datagram, 0, Trust::Unproved, &mut answers);
    assert_eq!(printed(&answers), [(9, Status::TooLarge)]);
    // Not as long as it says: dropped.
    answers.clear();
    device().take_datagram(&datagram[..500], 0, Trust::Proved, &mut answers);
    assert!(answers.is_empty());
}

/// Later versions may append fields to a HELLO: its token proves the address all the same.
#[test]
fn a_longer_hello_carries_its_token() {
    let token = [1, 2, 3, 4, 5, 6, 7, 8];
    let frame = |appended: usize| {
        let payload = [
            &wire::HelloRequest { token }.encode()[..],
            &vec![0; appended],
        ]
        .concat();
        let header = header(Kind::Hello, 1, payload.len() as u32);
        [&header[..], &payload].concat()
    };
    assert_eq!(Device::token_in(&frame(0)), Some(token));
    assert_eq!(Device::token_in(&frame(12)), Some(token));
    // Not as long as it says.
    assert_eq!(Device::token_in(&frame(12)[..110]), None);
}
