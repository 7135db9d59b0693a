//! Devices that know nothing of wiregauge: an echo that nobody here wrote, a SCPI instrument in Python, and
//! peers that answer late, too much, or nonsense.

use crate::parts::{MAX_WAIT, Program, line, options, payload, peer, say};
use std::io::Read;
use std::time::{Duration, Instant};
use wiregauge_device::{Device, Framing, LengthField, Replies, Requests};
use wiregauge_link::LinkErrorKind;

fn lines() -> Option<Framing> {
    Some(Framing::Terminator {
        end: b"\n".to_vec(),
    })
}

const SCPI: &str = r#"
import os, pty, sys, tty
near, far = pty.openpty()
tty.setraw(near); tty.setraw(far)
print("serial://" + os.ttyname(far), flush=True)
line = b""
while True:
    line += os.read(near, 1)
    if not line.endswith(b"\n"):
        continue
    command, line = line[:-1].decode(), b""
    if command == "*IDN?":
        os.write(near, b"ACME,MODEL ")
        os.write(near, b"17,0,1.0\n")
    elif command.startswith("MEAS?"):
        os.write(near, command[6:].encode() * 3 + b"\n")
    elif command == "STOP":
        sys.exit()
"#;

#[test]
fn a_scpi_instrument_on_a_tty_is_asked_line_by_line() {
    let mut instrument = Program::start("python3", &["-c", SCPI]);
    let address = instrument.says();
    let mut device = Device::open(&address, &options(lines(), MAX_WAIT)).unwrap();
    let name = device.exchange(b"*IDN?", None).unwrap();
    assert_eq!(name.payload, b"ACME,MODEL 17,0,1.0");
    assert_eq!(name.timing.device_rx_ticks, 0);
    for n in 0..50 {
        let command = format!("MEAS? {n}");
        let reply = device.exchange(command.as_bytes(), None).unwrap();
        assert_eq!(reply.payload, format!("{n}{n}{n}").as_bytes());
    }
    let error = device.exchange(b"*IDN?\n", None).unwrap_err();
    assert!(
        error.to_string().contains("which the framing adds"),
        "{error}"
    );
}

#[test]
fn socats_echo_answers_every_framing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("echo");
    let listen = format!("UNIX-LISTEN:{},fork", path.display());
    let _socat = Program::start("socat", &[&listen, "EXEC:cat"]);
    let begun = Instant::now();
    while !path.exists() {
        assert!(begun.elapsed() < MAX_WAIT, "socat does not listen");
        std::thread::sleep(Duration::from_millis(10));
    }
    let address = format!("unix://{}", path.display());
    let prefix = |bytes, big_endian, counts_itself| {
        Framing::LengthPrefix(LengthField {
            bytes,
            big_endian,
            counts_itself,
        })
    };
    for framing in [
        Framing::Raw,
        Framing::Fixed { bytes: 24 },
        Framing::Terminator {
            end: b"\r\n\r\n".to_vec(),
        },
        prefix(1, true, false),
        prefix(2, false, true),
        prefix(4, true, true),
    ] {
        let mut device = Device::open(&address, &options(Some(framing.clone()), MAX_WAIT)).unwrap();
        for n in 0..20 {
            let sent: Vec<u8> = payload(n, 24).iter().map(|byte| byte | 0x80).collect();
            assert_eq!(
                device.exchange(&sent, None).unwrap().payload,
                sent,
                "{framing:?}"
            );
        }
        let requests: Vec<u8> = (0..500)
            .flat_map(|n| payload(n, 24))
            .map(|b| b | 0x80)
            .collect();
        let ends: Vec<usize> = (1..=500).map(|n| 24 * n).collect();
        let (mut rows, mut lengths) = (vec![0; 24 * 500], vec![0; 500]);
        let replies = Replies {
            bytes: &mut rows,
            row_bytes: 24,
            lengths: &mut lengths,
            timings: &mut [],
        };
        let batch = Requests {
            bytes: &requests,
            ends: &ends,
        };
        device.exchange_many(batch, replies, 32).unwrap();
        assert!(rows == requests, "{framing:?}");
    }
}

#[test]
fn the_null_link_echoes_whatever_the_framing() {
    for framing in [Framing::Raw, lines().unwrap()] {
        let mut device = Device::open("null://", &options(Some(framing), MAX_WAIT)).unwrap();
        assert_eq!(device.exchange(b"hello", None).unwrap().payload, b"hello");
        for n in 0..10_u8 {
            device.submit(&[b'a' + n; 7], None).unwrap();
        }
        for n in 0..10_u8 {
            assert_eq!(device.next_reply().unwrap().payload, [b'a' + n; 7]);
        }
    }
}

#[test]
fn a_device_that_ignores_a_request_is_used_on_after_a_silence() {
    let address = peer(|mut stream| {
        while let Some(line) = line(&mut stream) {
            if line != b"ignore\n" {
                say(&mut stream, &line);
            }
        }
    });
    let timeout = Duration::from_millis(200);
    let mut device = Device::open(&address, &options(lines(), timeout)).unwrap();
    let error = device.exchange(b"ignore", None).unwrap_err();
    assert_eq!(error.kind(), LinkErrorKind::Timeout);
    let begun = Instant::now();
    device.set_timeout(MAX_WAIT).unwrap();
    assert_eq!(device.exchange(b"answer", None).unwrap().payload, b"answer");
    assert!(
        begun.elapsed() >= timeout - Duration::from_millis(20),
        "no silence was waited for"
    );
}

#[test]
fn half_a_reply_is_reported_from_none() {
    let address = peer(|mut stream| {
        line(&mut stream);
        say(&mut stream, b"half a rep");
        std::thread::sleep(MAX_WAIT);
    });
    let mut device = Device::open(&address, &options(lines(), Duration::from_millis(150))).unwrap();
    let text = device.exchange(b"?", None).unwrap_err().to_string();
    for part in [
        "received 10 bytes, beginning 68 61 6c 66",
        "terminator",
        &address,
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn nonsense_is_an_error_and_not_a_reply() {
    let prefix = Framing::LengthPrefix(LengthField {
        bytes: 4,
        big_endian: true,
        counts_itself: false,
    });
    let address = peer(|mut stream| {
        let mut request = [0; 5];
        let _ = stream.read_exact(&mut request);
        say(&mut stream, b"\xff\xff\xff\xffand so on");
        let _ = stream.read_exact(&mut request);
        say(&mut stream, b"\0\0\0\x02ok");
        let _ = stream.read(&mut request);
    });
    let mut device = Device::open(&address, &options(Some(prefix), MAX_WAIT)).unwrap();
    let error = device.exchange(b"a", None).unwrap_err();
    assert_eq!(error.kind(), LinkErrorKind::Protocol);
    assert!(
        error.to_string().contains("declares 4294967295 bytes"),
        "{error}"
    );
    assert_eq!(device.exchange(b"b", None).unwrap().payload, b"ok");
}

#[test]
fn what_a_device_said_before_it_was_asked_is_no_reply() {
    let address = peer(|mut stream| {
        while let Some(line) = line(&mut stream) {
            // Each reply, and something that nobody asked for.
            say(&mut stream, &[&line[..], b"event\n"].concat());
        }
    });
    let mut device = Device::open(&address, &options(lines(), MAX_WAIT)).unwrap();
    for n in b'0'..=b'9' {
        assert_eq!(device.exchange(&[n], None).unwrap().payload, [n]);
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_datagram_is_a_message_whatever_the_framing_adds() {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = format!("udp://{}", socket.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut buffer = [0; 2000];
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            let _ = socket.send_to(&buffer[..length], from);
            if buffer[..length] == *b"end\n" {
                return;
            }
        }
    });
    let mut device = Device::open(&address, &options(lines(), MAX_WAIT)).unwrap();
    assert_eq!(device.exchange(b"*IDN?", None).unwrap().payload, b"*IDN?");
    let mut fixed = Device::open(
        &address,
        &options(Some(Framing::Fixed { bytes: 9 }), MAX_WAIT),
    )
    .unwrap();
    assert_eq!(
        fixed.exchange(b"nine byte", None).unwrap().payload,
        b"nine byte"
    );
    let error = fixed.exchange(b"eight by", None).unwrap_err();
    assert!(error.to_string().contains("datagram of 8 bytes"), "{error}");
    assert_eq!(
        fixed.exchange(b"nine byte", None).unwrap().payload,
        b"nine byte"
    );
    assert_eq!(device.exchange(b"end", None).unwrap().payload, b"end");
}
