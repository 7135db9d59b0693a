//! Devices that know nothing of wiregauge: an echo that nobody here wrote, and peers that answer half a reply, or
//! nonsense.

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
