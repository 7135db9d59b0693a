//! MESSAGE as the responder answers it, asked by a host that is as small as it can be.

use crate::parts::{MAX_WAIT, Responder};
use std::net::UdpSocket;
use std::time::Duration;
use wiregauge_link::limits::Bus;
use wiregauge_record::Protocol;
use wiregauge_responder::{Faults, Model};
use wiregauge_wire as wire;
use wiregauge_wire::{Kind, Request, Response, Status};

fn request(sequence: u32, text: &[u8], in_bytes: u32) -> Vec<u8> {
    let mut header = [0; wire::REQUEST_HEADER];
    Request {
        kind: Kind::Message,
        sequence,
        out_payload: (text.len() + wire::MESSAGE_CHECK) as u32,
        in_bytes,
    }
    .encode(&mut header);
    [&header[..], text, &wire::message_check(text)].concat()
}

/// The answer to one datagram, if there is one.
fn ask(socket: &UdpSocket, frame: &[u8], timeout: Duration) -> Option<(Response, Vec<u8>)> {
    socket.send(frame).unwrap();
    socket.set_read_timeout(Some(timeout)).unwrap();
    let mut buffer = [0; 4096];
    let length = socket.recv(&mut buffer).ok()?;
    let header = Response::decode(&buffer[..length]).unwrap();
    assert_eq!(length, wire::RESPONSE_HEADER + header.in_payload as usize);
    Some((header, buffer[wire::RESPONSE_HEADER..length].to_vec()))
}

fn host(responder: &Responder) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = responder.address.strip_prefix("udp://").unwrap();
    socket.connect(address).unwrap();
    socket
}

#[test]
fn a_stranger_is_sent_no_more_bytes_than_it_sent() {
    let responder = Responder::plain("udp");
    let socket = host(&responder);
    let ask = |frame: &[u8]| ask(&socket, frame, MAX_WAIT).unwrap().0;
    assert_eq!(ask(&request(1, &[7; 60], 60)).status, Status::Ok);
    let larger = ask(&request(2, &[7; 60], 79));
    assert_eq!((larger.status, larger.in_payload), (Status::Unproven, 0));
    // The empty message is longer than this request, and the refusal too: nothing comes.
    socket.send(&request(3, b"", 34)).unwrap();
    let next = ask(&request(4, &[7; 60], 60));
    assert_eq!(next.sequence, 4);
}

#[test]
fn a_damaged_message_is_not_acted_on_and_told() {
    let responder = Responder::plain("udp");
    let socket = host(&responder);
    let mut frame = request(5, &[9; 50], 60);
    *frame.last_mut().unwrap() ^= 1;
    let (header, payload) = ask(&socket, &frame, MAX_WAIT).unwrap();
    let said = (header.status, header.flags);
    assert_eq!(said, (Status::Ok, wire::flags::OUT_CORRUPTED));
    assert!(payload.is_empty());
    let (header, payload) = ask(&socket, &request(6, &[9; 50], 0), MAX_WAIT).unwrap();
    let said = (header.flags, wire::message_of(&payload));
    assert_eq!(said, (0, Some(&b""[..])));
}

#[test]
fn more_than_the_device_can_give_is_refused() {
    let responder = Responder::plain("udp");
    let socket = host(&responder);
    let (header, _) = ask(&socket, &request(7, &[0; 80], (1 << 20) + 1), MAX_WAIT).unwrap();
    assert_eq!(header.status, Status::TooLarge);
}

#[test]
fn a_modelled_bus_carries_messages_as_it_carries_exchanges() {
    let model = Model {
        service_ns: 5_000_000,
        bus: Some(Bus::FullSpeed),
        ..Model::default()
    };
    let responder = Responder::new("tcp", Protocol::Wiregauge, model, Faults::default());
    let mut device = responder.device();
    for _ in 0..5 {
        let reply = device.exchange(b"how long?", None).unwrap();
        assert_eq!(reply.payload, b"how long?");
        let timing = reply.timing;
        let (inside, all) = (
            timing.device_tx_ticks - timing.device_rx_ticks,
            timing.rtt_ns,
        );
        assert_eq!(inside, 5_000_000);
        // A frame to the device and one back, at least in part.
        assert!(all > inside + 1_000_000, "{all}");
    }
}
