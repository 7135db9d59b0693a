//! Devices that know nothing of wiregauge: an echo that nobody here wrote, a SCPI instrument in Python, and
//! peers that answer late, too much, or nonsense.

use crate::parts::{
    MAX_WAIT, Program, assert_echo, assert_fails, batch, line, lines, options, payload, peer, say,
};
use std::io::Read;
use std::time::{Duration, Instant};
use wiregauge_device::{Device, Framing, LengthField};
use wiregauge_link::LinkErrorKind;

/// Opens a device whose messages are lines.
fn open(address: &str, timeout: Duration) -> Device {
    Device::open(address, &options(Some(lines()), timeout)).unwrap()
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
    let mut device = open(&address, MAX_WAIT);
    let name = device.exchange(b"*IDN?", None).unwrap();
    assert_eq!(name.payload, b"ACME,MODEL 17,0,1.0");
    assert_eq!(name.timing.device_rx_ticks, 0);
    for n in 0..50 {
        let command = format!("MEAS? {n}");
        let reply = device.exchange(command.as_bytes(), None).unwrap();
        assert_eq!(reply.payload, format!("{n}{n}{n}").as_bytes());
    }
    let error = device.exchange(b"*IDN?\n", None).unwrap_err();
    let said = error.to_string();
    assert!(said.contains("which the framing adds"), "{said}");
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
    let end = b"\r\n\r\n".to_vec();
    for framing in [
        Framing::Raw,
        Framing::Fixed { bytes: 24 },
        Framing::Terminator { end },
        prefix(1, true, false),
        prefix(2, false, true),
        prefix(4, true, true),
    ] {
        let mut device = Device::open(&address, &options(Some(framing.clone()), MAX_WAIT)).unwrap();
        for n in 0..20 {
            let sent: Vec<u8> = payload(n, 24).iter().map(|byte| byte | 0x80).collect();
            assert_echo(&mut device, &sent);
        }
        let requests = (0..500).flat_map(|n| payload(n, 24));
        let requests: Vec<u8> = requests.map(|byte| byte | 0x80).collect();
        let came = batch(&mut device, &requests, (24, 24), 32);
        came.done.unwrap();
        assert!(came.rows == requests, "{framing:?}");
    }
}

#[test]
fn the_null_link_echoes_whatever_the_framing() {
    for framing in [Framing::Raw, lines()] {
        let mut device = Device::open("null://", &options(Some(framing), MAX_WAIT)).unwrap();
        assert_echo(&mut device, b"hello");
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
    let mut device = open(&address, timeout);
    let done = device.exchange(b"ignore", None);
    assert_fails(done, LinkErrorKind::Timeout, "");
    let begun = Instant::now();
    device.set_timeout(MAX_WAIT).unwrap();
    assert_echo(&mut device, b"answer");
    let silence = timeout - Duration::from_millis(20);
    assert!(begun.elapsed() >= silence, "no silence was waited for");
}

#[test]
fn half_a_reply_is_reported_from_none() {
    let address = peer(|mut stream| {
        line(&mut stream);
        say(&mut stream, b"half a rep");
        std::thread::sleep(MAX_WAIT);
    });
    let mut device = open(&address, Duration::from_millis(150));
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
    let done = device.exchange(b"a", None);
    assert_fails(done, LinkErrorKind::Protocol, "declares 4294967295 bytes");
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
    let mut device = open(&address, MAX_WAIT);
    for n in b'0'..=b'9' {
        assert_echo(&mut device, &[n]);
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
    let mut device = open(&address, MAX_WAIT);
    assert_echo(&mut device, b"*IDN?");
    let nine = options(Some(Framing::Fixed { bytes: 9 }), MAX_WAIT);
    let mut fixed = Device::open(&address, &nine).unwrap();
    assert_echo(&mut fixed, b"nine byte");
    let error = fixed.exchange(b"eight by", None).unwrap_err();
    assert!(error.to_string().contains("datagram of 8 bytes"), "{error}");
    assert_echo(&mut fixed, b"nine byte");
    assert_echo(&mut device, b"end");
}
