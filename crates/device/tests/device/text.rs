//! Text and SCPI: where replies end, commands without a reply; against a shell, the responder and peers made by hand.

use crate::parts::{MAX_WAIT, Program, Responder, assert_fails, line, peer, say, speaking};
use std::io::Read;
use std::time::Duration;
use wiregauge_device::{Device, DeviceProtocol, Replies, ReplyEnd, Requests};
use wiregauge_link::LinkErrorKind;
use wiregauge_record::Protocol;

fn text(end: ReplyEnd) -> DeviceProtocol {
    DeviceProtocol::Text(end)
}

fn instrument() -> Responder {
    Responder::speaking("tcp", Protocol::Scpi)
}

#[test]
fn a_shell_behind_socat_answers_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shell");
    let listen = format!("UNIX-LISTEN:{},fork", path.display());
    let _socat = Program::start("socat", &[&listen, "EXEC:sh"]);
    while std::os::unix::net::UnixStream::connect(&path).is_err() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let address = format!("unix://{}", path.display());
    let mut device = Device::open(&address, &speaking(DeviceProtocol::lines())).unwrap();
    let reply = device.exchange(b"echo $((6 * 7))\n", None).unwrap();
    assert_eq!(reply.payload, b"42");
    assert!(reply.timing.rtt_ns > 0);
    // A command without a reply, and what it changed.
    device.write(b"answer=seven\n").unwrap();
    let reply = device.exchange(b"echo $answer\n", None).unwrap();
    assert_eq!(reply.payload, b"seven");
    // A query in two calls.
    device.write(b"echo one; echo two\n").unwrap();
    assert_eq!(device.read(None).unwrap().payload, b"one");
    assert_eq!(device.read(None).unwrap().payload, b"two");
    let many = "echo 1\necho 22\necho 333\n";
    let ends = [7, 15, 24];
    let (mut bytes, mut lengths) = ([0; 12], [0; 3]);
    let requests = Requests {
        bytes: many.as_bytes(),
        ends: &ends,
    };
    let replies = Replies {
        bytes: &mut bytes,
        row_bytes: 4,
        lengths: &mut lengths,
        timings: &mut [],
    };
    device.exchange_many(requests, replies, 3).unwrap();
    assert_eq!((&bytes, lengths), (b"1\0\0\x0022\0\x00333\0", [1, 2, 3]));
}

#[test]
fn an_instrument_gets_newlines_and_its_block_data_ends_where_it_says() {
    let responder = instrument();
    let mut device = responder.device_with(&speaking(text(ReplyEnd::Scpi)));
    let name = device.exchange(b"*IDN?", None).unwrap().payload.to_vec();
    assert!(name.starts_with(b"wiregauge,device test,0,"), "{name:?}");
    let again = device.exchange(b"*IDN?\n", None).unwrap();
    assert_eq!(again.payload, &name[..]);
    let block = device.exchange(b"CURV? 1000", None).unwrap();
    assert_eq!(&block.payload[..6], b"#41000");
    let expected: Vec<u8> = (0..1000).map(|at| at as u8).collect();
    assert_eq!(&block.payload[6..], &expected[..]);
    // What it does not know is not answered, and the late silence costs no later reply.
    device.set_timeout(Duration::from_millis(50)).unwrap();
    let done = device.exchange(b"NOPE?", None);
    assert_fails(done, LinkErrorKind::Timeout, "SYST:ERR?");
    device.set_timeout(MAX_WAIT).unwrap();
    let queue = device.exchange(b"SYST:ERR?", None).unwrap();
    assert_eq!(queue.payload, b"-113,\"Undefined header\"");
}

#[test]
fn an_instrument_is_asked_one_query_at_a_time() {
    let responder = instrument();
    let mut device = responder.device_with(&speaking(text(ReplyEnd::Scpi)));
    device.submit(b"*IDN?", None).unwrap();
    let done = device.submit(b"*IDN?", None);
    assert_fails(done, LinkErrorKind::Usage, "Query INTERRUPTED");
    assert!(device.next_reply().is_ok());
}

#[test]
fn a_block_of_sixteen_megabytes_is_no_unsolicited_data() {
    let address = peer(|mut stream| {
        let _ = line(&mut stream);
        say(&mut stream, b"#816000000");
        for _ in 0..16 {
            say(&mut stream, &vec![7; 1_000_000]);
        }
        say(&mut stream, b"\n");
        let _ = line(&mut stream);
    });
    let mut device = Device::open(&address, &speaking(text(ReplyEnd::Scpi))).unwrap();
    let reply = device.exchange(b"CURV?", None).unwrap();
    assert_eq!(reply.payload.len(), 16_000_010);
}

#[test]
fn what_a_command_was_answered_all_the_same_is_no_reply_to_the_next_query() {
    let (tell, answered) = std::sync::mpsc::channel();
    let address = peer(move |mut stream| {
        while let Some(query) = line(&mut stream) {
            say(&mut stream, &query);
            let _ = tell.send(());
        }
    });
    let mut device = Device::open(&address, &speaking(DeviceProtocol::lines())).unwrap();
    device.write(b"LED 1\n").unwrap();
    answered.recv_timeout(MAX_WAIT).unwrap();
    // On loopback what was written is there.
    assert_eq!(device.exchange(b"T?\n", None).unwrap().payload, b"T?");
}

#[test]
fn a_reply_without_end_is_an_error_of_its_own() {
    let only_begins = "received 4 bytes, beginning 31 32";
    for (bytes, timeout, kind, words) in [
        (
            vec![b'x'; (1 << 20) + 10],
            MAX_WAIT,
            LinkErrorKind::Protocol,
            "without a terminator",
        ),
        (
            b"12.5".to_vec(),
            Duration::from_millis(100),
            LinkErrorKind::Timeout,
            only_begins,
        ),
    ] {
        let address = peer(move |mut stream| {
            let _ = line(&mut stream);
            say(&mut stream, &bytes);
            let _ = stream.read(&mut [0]);
        });
        let mut device = Device::open(&address, &speaking(DeviceProtocol::lines())).unwrap();
        device.set_timeout(timeout).unwrap();
        assert_fails(device.exchange(b"T?\n", None), kind, words);
    }
}

#[test]
fn what_a_protocol_does_not_have_is_refused() {
    let responder = instrument();
    let modbus = DeviceProtocol::Modbus { unit: 1 };
    let mut device = responder.device_with(&speaking(modbus));
    assert_fails(device.write(b"\x01\x03"), LinkErrorKind::Usage, "");
    assert_fails(device.read(None), LinkErrorKind::Usage, "");
    for end in [
        ReplyEnd::Bytes(0),
        ReplyEnd::IdleNs(0),
        ReplyEnd::Until(vec![]),
    ] {
        let opened = Device::open(&responder.address, &speaking(text(end)));
        assert_fails(opened, LinkErrorKind::Usage, "");
    }
    let mut device = responder.device_with(&speaking(DeviceProtocol::lines()));
    let said = device.exchange(b"", None).unwrap_err().to_string();
    assert!(said.contains("the request is empty"), "{said}");
    let read = device.read_registers(None, wiregauge_device::Table::Holding, 0, &mut [0]);
    let said = read.unwrap_err().to_string();
    assert!(said.contains("not opened for Modbus"), "{said}");
}
