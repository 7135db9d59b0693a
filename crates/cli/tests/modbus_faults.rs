//! Modbus devices that answer wrongly, over TCP and on a serial line: each fault has its own count or error.

use crate::common;

use common::{Desk, EchoTty, Run};
use predicates::str::contains;
use std::io::{Read, Write};
use std::net::TcpListener;
use wiregauge_record::Counts;

/// What is asked for: unit 1, 2 holding registers from 100 on.
const READ: &str = "--protocol modbus --unit 1 --read holding:100+2";

/// The right reply: unit, function, count of bytes, registers.
const RIGHT: &[u8] = &[1, 3, 4, 0, 7, 0, 8];

/// Replies to a read of 2 registers, and what a run says about each; "" of the right one.
const REPLIES: &[(&[u8], &str)] = &[
    (RIGHT, ""),
    (&[9, 3, 4, 0, 7, 0, 8], "a reply of unit 9"),
    (&[1, 4, 4, 0, 7, 0, 8], "a reply to function 4"),
    (&[1, 16, 0, 100, 0, 2], "a reply to function 16"),
    (
        &[1, 3, 2, 0, 7],
        "a reply of another size or to other registers",
    ),
    (&[1, 0x84, 1], "an exception to function 4"),
    (&[1, 0x83, 1], "exception 1 (illegal function)"),
    (&[1, 0x83, 2], "exception 2 (illegal data address)"),
    (&[1, 0x83, 6], "exception 6 (server device busy)"),
    (&[1, 0x83, 77], "exception 77"),
];

/// CRC-16 of Modbus over Serial Line V1.02, 6.2.2.
fn crc(bytes: &[u8]) -> [u8; 2] {
    let mut check = 0xffff_u16;
    for byte in bytes {
        check ^= u16::from(*byte);
        for _ in 0..8 {
            check = if check & 1 == 1 {
                check >> 1 ^ 0xa001
            } else {
                check >> 1
            };
        }
    }
    check.to_le_bytes()
}

fn serial(reply: &[u8]) -> Vec<u8> {
    [reply, &crc(reply)].concat()
}

/// A device on a serial line that answers each request of 8 bytes with the next reply, over and over.
fn on_a_line(replies: Vec<Vec<u8>>) -> EchoTty {
    let (mut begun, mut next) = (0, 0);
    EchoTty::answering(move |received| {
        begun += received.len();
        let mut answered = Vec::new();
        while begun >= 8 {
            begun -= 8;
            answered.extend(&replies[next % replies.len()]);
            next += 1;
        }
        answered
    })
}

/// The same over TCP: transaction and protocol are those of the request.
fn over_tcp(replies: Vec<Vec<u8>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("tcp://{}", listener.local_addr().expect("its address"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 12];
            for reply in replies.iter().cycle() {
                if stream.read_exact(&mut request).is_err() {
                    break;
                }
                let header = [request[0], request[1], 0, 0, 0, reply.len() as u8];
                let _ = stream.write_all(&[&header, &reply[..]].concat());
            }
        }
    });
    address
}

fn counts(run: &Run) -> Counts {
    run.accounts_for_every_exchange();
    run.counts()
}

#[test]
fn every_wrong_reply_is_counted_by_what_is_wrong_with_it() {
    let desk = Desk::new();
    let plain = REPLIES.iter().map(|(reply, _)| reply.to_vec()).collect();
    let framed = REPLIES.iter().map(|(reply, _)| serial(reply)).collect();
    let (tcp, tty) = (over_tcp(plain), on_a_line(framed));
    for (address, flags) in [(tcp, ""), (tty.address(), "--baud 115200")] {
        let flags = format!("{READ} {flags} --timeout 60s --count 40");
        let run = desk.measure(&address, &flags);
        let found = counts(&run);
        assert_eq!((found.answered, found.unexpected), (4, 36), "{address}");
        assert_eq!((found.lost, found.corrupted, found.stray_bytes), (0, 0, 0));
        let mut kinds: Vec<(&str, u64)> = run
            .point()
            .unexpected
            .iter()
            .map(|kind| (kind.what.as_str(), kind.times))
            .collect();
        kinds.sort_unstable();
        let mut expected: Vec<(&str, u64)> =
            REPLIES[1..].iter().map(|(_, said)| (*said, 4)).collect();
        expected.sort_unstable();
        assert_eq!(kinds, expected, "{address}");
    }
}

#[test]
fn a_reply_that_stops_early_is_no_answer_and_said_to_be_incomplete() {
    let desk = Desk::new();
    let tty = on_a_line(vec![serial(RIGHT)[..6].to_vec()]);
    let exchange = format!(
        "exchange {} {READ} --baud 115200 --timeout 200ms --no-calibration",
        tty.address()
    );
    desk.wiregauge(&exchange)
        .assert()
        .code(3)
        .stderr(contains("no complete reply from"))
        .stderr(contains("B were received for the first 3 exchanges"))
        .stderr(contains("without a whole reply of Modbus"))
        .stderr(contains("check --baud and parity"));
}

#[test]
fn bytes_without_end_over_tcp_end_the_run_with_an_error() {
    let desk = Desk::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    std::thread::spawn(move || {
        let babble = b"\xff\x55".repeat(2000);
        for mut stream in listener.incoming().flatten() {
            while stream.write_all(&babble).is_ok() {}
        }
    });
    let exchange = format!("exchange tcp://{address} {READ} --timeout 1s --no-calibration");
    desk.fails(&exchange, 3, &["it keeps sending unsolicited data"]);
}
