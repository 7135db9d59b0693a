//! Modbus: registers and bits of the responder, over TCP and on a pty; exceptions, and replies that are wrong.

use crate::parts::{MAX_WAIT, Responder, assert_fails, batch, peer, say, speaking};
use std::io::Read;
use std::net::TcpStream;
use std::time::Duration;
use wiregauge_device::{Device, DeviceOptions, DeviceProtocol, Table, Timing};
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_record::Protocol;

fn server(link: &str) -> Responder {
    Responder::speaking(link, Protocol::Modbus)
}

/// Reads holding registers.
fn read(device: &mut Device, first: u16, into: &mut [u16]) -> Result<Timing, LinkError> {
    device.read_registers(None, Table::Holding, first, into)
}

fn modbus() -> DeviceOptions {
    speaking(DeviceProtocol::Modbus { unit: 1 })
}

#[test]
fn registers_and_coils_are_read_and_written() {
    for link in ["tcp", "pty"] {
        let responder = server(link);
        let mut device = responder.device_with(&modbus());
        let mut registers = [0; 5];
        let timing = read(&mut device, 39, &mut registers).unwrap();
        assert_eq!(registers, [39, 40, 41, 42, 43], "{link}");
        assert!(timing.rtt_ns > 0);
        device.write_registers(None, 40, &[7, 8, 65535]).unwrap();
        device.write_registers(None, 43, &[9]).unwrap();
        read(&mut device, 39, &mut registers).unwrap();
        assert_eq!(registers, [39, 7, 8, 65535, 9], "{link}");
        device.write_coils(None, 3, &[true, false, true]).unwrap();
        device.write_coils(None, 6, &[true]).unwrap();
        let mut coils = [false; 6];
        device.read_bits(None, Table::Coil, 2, &mut coils).unwrap();
        assert_eq!(coils[1..], [true, false, true, true, coils[5]], "{link}");
        let inputs = device.read_registers(None, Table::Input, 0, &mut registers);
        inputs.unwrap();
        let discrete = device.read_bits(None, Table::Discrete, 0, &mut coils);
        discrete.unwrap();
        // As bytes: unit, function and data.
        let reply = device.exchange(&[1, 3, 0, 40, 0, 1], None).unwrap();
        assert_eq!(reply.payload, [1, 3, 2, 0, 7], "{link}");
    }
}

#[test]
fn an_exception_is_an_error_with_its_code_and_the_device_can_be_used_on() {
    for link in ["tcp", "pty"] {
        let responder = server(link);
        let mut device = responder.device_with(&modbus());
        let mut registers = [0; 10];
        let error = read(&mut device, 9995, &mut registers).unwrap_err();
        assert_eq!(error.exception_code(), Some(2));
        let words = "exception 2 (illegal data address)";
        assert_fails(Err::<(), _>(error), LinkErrorKind::Exception, words);
        // Submitted requests say the same.
        device.submit(&[1, 3, 0x27, 0x0f, 0, 9], None).unwrap();
        let error = device.next_reply().err().unwrap();
        assert_eq!(error.exception_code(), Some(2), "{error}");
        read(&mut device, 0, &mut registers).unwrap();
        assert_eq!(registers[9], 9);
    }
}

#[test]
fn a_batch_over_tcp_has_many_requests_outstanding_and_a_serial_line_one() {
    let request = |n: u8| [1, 3, 0, n, 0, 1];
    let bytes: Vec<u8> = (0..200).flat_map(request).collect();
    let run = |device: &mut Device, depth: u32| {
        let came = batch(device, &bytes, (6, 5), depth);
        came.done.map(|()| came.rows).map_err(|(_, error)| error)
    };
    for (link, depth) in [("tcp", 16), ("pty", 1)] {
        let responder = server(link);
        let rows = run(&mut responder.device_with(&modbus()), depth).unwrap();
        for (n, row) in rows.chunks(5).enumerate() {
            assert_eq!(row, [1, 3, 2, 0, n as u8], "{link}");
        }
    }
    let responder = server("pty");
    let error = run(&mut responder.device_with(&modbus()), 2).unwrap_err();
    let said = error.to_string();
    assert!(said.contains("one request at a time"), "{said}");
}

/// A request over TCP: its number and what follows the header.
fn request(from: &mut TcpStream) -> Option<([u8; 2], Vec<u8>)> {
    let mut header = [0; 6];
    from.read_exact(&mut header).ok()?;
    let mut rest = vec![0; usize::from(header[5])];
    from.read_exact(&mut rest).ok()?;
    Some(([header[0], header[1]], rest))
}

fn frame(number: [u8; 2], reply: &[u8]) -> Vec<u8> {
    [&number[..], &[0, 0, 0, reply.len() as u8], reply].concat()
}

#[test]
fn replies_of_another_unit_or_function_are_told_apart() {
    let replies: [(&[u8], &str); 3] = [
        (&[5, 3, 2, 0, 1], "a reply of unit 5"),
        (&[1, 4, 2, 0, 1], "a reply to function 4"),
        (&[1, 3, 4, 0, 1, 0, 2], "a reply of another size"),
    ];
    let address = peer(move |mut stream| {
        for (reply, _) in replies {
            let Some((number, _)) = request(&mut stream) else {
                return;
            };
            say(&mut stream, &frame(number, reply));
        }
        let _ = stream.read(&mut [0]);
    });
    let mut device = Device::open(&address, &modbus()).unwrap();
    for (_, said) in replies {
        let done = read(&mut device, 0, &mut [0]);
        assert_fails(done, LinkErrorKind::Protocol, said);
    }
}

#[test]
fn a_late_reply_over_tcp_is_known_by_its_number() {
    let address = peer(|mut stream| {
        let (first, _) = request(&mut stream).unwrap();
        let (second, _) = request(&mut stream).unwrap();
        say(&mut stream, &frame(first, &[1, 3, 2, 0, 1]));
        say(&mut stream, &frame(second, &[1, 3, 2, 0, 2]));
        let _ = stream.read(&mut [0]);
    });
    let mut device = Device::open(&address, &modbus()).unwrap();
    device.set_timeout(Duration::from_millis(50)).unwrap();
    let mut value = [0];
    let done = read(&mut device, 0, &mut value);
    assert_fails(done, LinkErrorKind::Timeout, "is silent: check it");
    device.set_timeout(MAX_WAIT).unwrap();
    read(&mut device, 0, &mut value).unwrap();
    assert_eq!(value, [2]);
}

/// A pty whose other end answers each request with the next of these; returns its address and that end.
fn serial(replies: Vec<Vec<u8>>) -> (String, std::thread::JoinHandle<()>) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let path = ptsname(&master, Vec::new()).unwrap();
    let mut settings = tcgetattr(&master).unwrap();
    settings.make_raw();
    tcsetattr(&master, OptionalActions::Now, &settings).unwrap();
    let thread = std::thread::spawn(move || {
        for reply in replies {
            let mut request = [0; 8];
            let mut come = 0;
            while come < 8 {
                come += rustix::io::read(&master, &mut request[come..]).unwrap();
            }
            if !reply.is_empty() {
                rustix::io::write(&master, &reply).unwrap();
            }
        }
        // Until the device is closed.
        let _ = rustix::io::read(&master, &mut [0; 8]);
    });
    (format!("serial://{}", path.to_str().unwrap()), thread)
}

#[test]
fn on_a_serial_line_a_crc_error_a_wrong_unit_and_silence_are_told_apart() {
    // The CRC of 01 03 02 00 07 is f9 86 (low byte first); the one behind it is wrong.
    let right = vec![1, 3, 2, 0, 7, 0xf9, 0x86];
    let wrong_crc = vec![1, 3, 2, 0, 7, 0xf9, 0x87];
    let other_unit = vec![5, 3, 2, 0, 7, 0x08, 0x46];
    let (address, thread) = serial(vec![wrong_crc, right.clone(), other_unit, vec![], right]);
    let mut device = Device::open(&address, &modbus()).unwrap();
    let mut read = |timeout: Duration| {
        device.set_timeout(timeout).unwrap();
        let mut value = [0];
        let done = read(&mut device, 40, &mut value);
        done.map(|_| value[0]).map_err(|error| error.to_string())
    };
    let said = read(MAX_WAIT).unwrap_err();
    assert!(said.contains("its CRC is wrong"), "{said}");
    assert_eq!(read(MAX_WAIT), Ok(7));
    let said = read(MAX_WAIT).unwrap_err();
    assert!(said.contains("a reply of unit 5"), "{said}");
    let said = read(Duration::from_millis(100)).unwrap_err();
    assert!(said.contains("no reply within 100ms"), "{said}");
    assert!(said.contains("baud rate and parity"), "{said}");
    assert_eq!(read(Duration::from_secs(2)), Ok(7));
    drop(device);
    thread.join().unwrap();
}

#[test]
fn what_cannot_be_sent_is_refused() {
    let responder = server("pty");
    let mut options = modbus();
    options.link.baud = None;
    let unit = speaking(DeviceProtocol::Modbus { unit: 0 });
    for (options, words) in [
        (options, "requires a baud rate"),
        (unit, "unit 0 is not valid"),
    ] {
        let error = Device::open(&responder.address, &options).err().unwrap();
        assert!(error.to_string().contains(words), "{error}");
    }
    let mut device = responder.device_with(&modbus());
    let coil = device.read_registers(None, Table::Coil, 0, &mut [0]);
    let input = device.read_bits(None, Table::Input, 0, &mut [false]);
    let behind = device.write_registers(None, 65535, &[1, 2]);
    for (done, said) in [
        (
            read(&mut device, 0, &mut [0; 126]),
            "reads 1 to 125 values, not 126",
        ),
        (coil, "are bits"),
        (input, "are no bits"),
        (behind, "addresses end at 65535"),
        (device.write_coils(Some(248), 0, &[true]), "unit 248"),
    ] {
        assert_fails(done, LinkErrorKind::Usage, said);
    }
    let error = device.exchange(&[1, 43, 14, 1, 0], None).unwrap_err();
    let said = error.to_string();
    assert!(said.contains("is not known on a serial line"), "{said}");
    assert!(device.set_unit(248).is_err());
    device.set_unit(1).unwrap();
    assert_eq!(device.unit(), 1);
}
