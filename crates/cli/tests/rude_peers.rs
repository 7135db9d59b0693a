//! The responder towards rude and forged peers: it answers not more than it should, in bounded
//! memory, and does not die.

use crate::common;

use common::{Background, Desk, Server, request};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::time::Duration;
use wiregauge_wire::{Kind, Response, Status};

/// A HELLO that carries a token.
fn hello(token: &[u8]) -> Vec<u8> {
    let mut frame = request(Kind::Hello, 7, 104, 104);
    frame[16..16 + token.len()].copy_from_slice(token);
    frame
}

/// A socket that talks to a UDP responder.
fn udp(server: &Server) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    socket.connect(server.host_port()).expect("connected");
    socket
}

/// What comes back to one datagram; `None` if nothing does.
fn answer(socket: &UdpSocket, datagram: &[u8]) -> Option<Vec<u8>> {
    let mut buffer = vec![0; 65_536];
    socket.send(datagram).expect("sent");
    // What is answered at all is answered at once, on a busy machine after a while.
    let timeout = Some(Duration::from_secs(1));
    socket.set_read_timeout(timeout).expect("set");
    let count = socket.recv(&mut buffer).ok()?;
    buffer.truncate(count);
    Some(buffer)
}

/// Resident memory of a process in bytes.
fn memory_of(process: &Background) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.pid()));
    let status = status.expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    kilobytes
        .and_then(|number| number.parse::<u64>().ok())
        .expect("a number")
        * 1024
}

/// Sends bytes over a connection of their own and gives the first so many responses: sequence,
/// status and size of the payload; and their flags.
fn responses(server: &Server, sent: &[u8], count: usize) -> (Vec<(u32, Status, u32)>, Vec<u16>) {
    let mut client = TcpStream::connect(server.host_port()).expect("connected");
    client
        .set_read_timeout(Some(Duration::from_secs(240)))
        .expect("set");
    client.write_all(sent).expect("sent");
    let (mut statuses, mut flags) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let mut header = [0; 32];
        if let Err(error) = client.read_exact(&mut header) {
            panic!("no answer after {statuses:?}: {error}");
        }
        let response = Response::decode(&header).expect("a response");
        let mut payload = vec![0; response.in_payload as usize];
        client.read_exact(&mut payload).expect("its payload");
        statuses.push((response.sequence, response.status, response.in_payload));
        flags.push(response.flags);
    }
    (statuses, flags)
}

/// Processor time that a process has used, in ticks (proc(5)).
fn ticks_of(process: &Background) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.pid())).expect("it runs");
    // Behind the name, which may contain anything, utime and stime are fields 12 and 13.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let number = |at| fields.split_whitespace().nth(at)?.parse::<u64>().ok();
    number(11)
        .zip(number(12))
        .map(|(a, b)| a + b)
        .expect("two numbers")
}

const MUCH: u64 = 200 << 20;

#[test]
fn udp_never_answers_more_than_it_got_to_an_address_that_is_not_proved() {
    let desk = Desk::new();
    let server = desk.serve("udp://:0");
    let socket = udp(&server);
    // 16 bytes that ask for 1000: not even a refusal, which would be larger than the question.
    assert_eq!(answer(&socket, &request(Kind::Exchange, 1, 16, 1000)), None);
    // 40 bytes that ask for 1000: at most a refusal.
    let refusal = answer(&socket, &request(Kind::Exchange, 2, 40, 1000)).expect("a refusal");
    assert!(refusal.len() <= 40, "{}", refusal.len());
    // 40 bytes that ask for 40: answered.
    let small = answer(&socket, &request(Kind::Exchange, 3, 40, 40)).expect("an answer");
    assert_eq!(small.len(), 40);
    // A HELLO that is short is not answered, for the answer has 104 bytes.
    assert_eq!(answer(&socket, &request(Kind::Hello, 4, 24, 104)), None);
    // A token that was made up proves nothing.
    let printed = answer(&socket, &hello(&[0x5a; 8])).expect("an answer");
    assert!(printed.len() <= 104);
    assert_eq!(answer(&socket, &request(Kind::Exchange, 5, 16, 1000)), None);
    // The token that came back to this address proves it.
    let token = &printed[printed.len() - 8..];
    answer(&socket, &hello(token)).expect("an answer");
    let large = answer(&socket, &request(Kind::Exchange, 6, 16, 1000)).expect("an answer");
    assert_eq!(large.len(), 1000);
}

#[test]
fn no_datagram_whatever_is_answered_with_more_bytes_than_it_has() {
    let desk = Desk::new();
    let server = desk.serve("udp://:0 --duplicate every=1");
    let socket = udp(&server);
    // Each wait ends with an answer.
    let timeout = Some(Duration::from_secs(240));
    socket.set_read_timeout(timeout).expect("set");
    let mut datagrams = vec![
        vec![],
        vec![0xa7],
        vec![0; 15],
        vec![0xff; 2000],
        hello(&[]),
    ];
    for length in [16, 17, 31, 32, 33, 48, 103, 104, 500] {
        for kind in [Kind::Hello, Kind::Exchange, Kind::Sink, Kind::Source] {
            for in_bytes in [0, 31, 32, 104, 65_000, u32::MAX] {
                datagrams.push(request(kind, 9, length, in_bytes));
            }
        }
    }
    let mut buffer = vec![0; 65_536];
    for datagram in datagrams {
        socket.send(&datagram).expect("sent");
        // Everything that comes before the echo of a marker belongs to this datagram.
        let mut answered = 0;
        socket
            .send(&request(Kind::Exchange, 77, 64, 32))
            .expect("sent");
        loop {
            let count = socket.recv(&mut buffer).expect("the marker is answered");
            let header = buffer[..32].try_into().expect("32 bytes");
            if Response::decode(header).is_ok_and(|response| response.sequence == 77) {
                break;
            }
            answered += count;
        }
        // The marker is doubled too: the second one is taken away.
        let _ = socket.recv(&mut buffer);
        assert!(
            answered <= datagram.len(),
            "{answered} bytes for {} bytes: {:02x?}",
            datagram.len(),
            &datagram[..datagram.len().min(16)]
        );
    }
}

#[test]
fn requests_of_clients_that_never_read_do_not_fill_the_memory() {
    let desk = Desk::new();
    for faults in ["", "--service-time 1us", "--reorder 50%"] {
        let mut server = desk.serve(&format!("tcp://:0 {faults}"));
        // Each asks for 1 MiB, again and again: 16 bytes that cost a million.
        let requests: Vec<u8> = (0..4000)
            .flat_map(|sequence| request(Kind::Exchange, sequence, 16, 1 << 20))
            .collect();
        let clients: Vec<TcpStream> = (0..16)
            .map(|_| {
                let mut client = TcpStream::connect(server.host_port()).expect("connected");
                client.set_nonblocking(true).expect("set");
                let _ = client.write(&requests);
                client
            })
            .collect();
        std::thread::sleep(Duration::from_millis(700));
        let memory = memory_of(&server.process);
        assert!(memory < MUCH, "{memory} bytes {faults}");
        drop(clients);
        assert!(server.process.is_running());
        desk.measure(&server.address, "--count 10 --timeout 5s")
            .accounts_for_every_exchange();
    }
}

#[test]
fn a_flood_of_datagrams_does_not_fill_the_memory() {
    let desk = Desk::new();
    let mut server = desk.serve("udp://:0 --service-time 1ms");
    let socket = udp(&server);
    let printed = answer(&socket, &hello(&[])).expect("an answer");
    answer(&socket, &hello(&printed[printed.len() - 8..])).expect("an answer");
    let large = request(Kind::Exchange, 1, 16, 60_000);
    for _ in 0..20_000 {
        // An answer of the kernel that its queue is full is none of ours.
        let _ = socket.send(&large);
    }
    let memory = memory_of(&server.process);
    assert!(memory < MUCH, "{memory} bytes");
    // From many addresses, each of which is a peer.
    for _ in 0..1500 {
        let socket = udp(&server);
        let _ = socket.send(&request(Kind::Exchange, 1, 1000, 1000));
    }
    let memory = memory_of(&server.process);
    assert!(memory < MUCH, "{memory} bytes");
    assert!(server.process.is_running());
}

#[test]
fn rubbish_neither_kills_a_responder_nor_makes_it_allocate() {
    let desk = Desk::new();
    let mut server = desk.serve("tcp://:0");
    let mut largest = request(Kind::Exchange, 1, 16, 48);
    largest[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    let header_only = request(Kind::Exchange, 2, 16, u32::MAX);
    let mut noise: u32 = 1;
    let random: Vec<u8> = (0..2_000_000)
        .map(|_| {
            // Xorshift (Marsaglia, 2003): the same noise at every run of the test.
            noise ^= noise << 13;
            noise ^= noise >> 17;
            noise ^= noise << 5;
            noise as u8
        })
        .collect();
    let magic = vec![0xa7; 500_000];
    for rubbish in [&largest, &header_only, &random, &magic] {
        let mut client = TcpStream::connect(server.host_port()).expect("connected");
        client.write_all(rubbish).expect("sent");
        // After whatever it was, a right request is answered on the same connection.
        client
            .write_all(&request(Kind::Exchange, 3, 16, 48))
            .expect("sent");
        let timeout = Some(Duration::from_secs(240));
        client.set_read_timeout(timeout).expect("set");
        let mut bytes = Vec::new();
        let mut buffer = [0; 4096];
        let ends_well = |bytes: &[u8]| {
            let frame = bytes.len().checked_sub(48).map(|begin| &bytes[begin..]);
            let header = frame.and_then(|frame| frame[..32].try_into().ok());
            header.is_some_and(|header| {
                Response::decode(header).is_ok_and(|response| response.sequence == 3)
            })
        };
        while !ends_well(&bytes) {
            match client.read(&mut buffer) {
                Ok(count @ 1..) => bytes.extend_from_slice(&buffer[..count]),
                other => panic!(
                    "no answer after {} bytes of rubbish: {other:?}",
                    rubbish.len()
                ),
            }
        }
        let memory = memory_of(&server.process);
        assert!(memory < MUCH, "{memory} bytes");
    }
    assert!(server.process.is_running());
}

#[test]
fn what_is_too_large_or_not_offered_is_refused_and_the_next_request_is_answered() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --max-size 1000");
    let sent = [
        request(Kind::Exchange, 1, 16, 1001),
        request(Kind::Exchange, 2, 5000, 48),
        request(Kind::Sink, 3, 16, 48),
        request(Kind::Source, 4, 16, 48),
        // Less than a header asks for the header alone.
        request(Kind::Exchange, 5, 16, 0),
        request(Kind::Exchange, 6, 16, 48),
    ];
    let (statuses, _) = responses(&server, &sent.concat(), 6);
    let expected = [
        (1, Status::TooLarge, 0),
        (2, Status::TooLarge, 0),
        (3, Status::Unsupported, 0),
        (4, Status::Unsupported, 0),
        (5, Status::Ok, 0),
        (6, Status::Ok, 16),
    ];
    assert_eq!(statuses, expected);
}

#[test]
fn a_request_with_a_wrong_byte_is_answered_and_marked() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let mut wrong = request(Kind::Exchange, 1, 200, 48);
    wrong[100] ^= 1;
    let sent = [wrong, request(Kind::Exchange, 2, 200, 48)];
    let (statuses, flags) = responses(&server, &sent.concat(), 2);
    assert_eq!(statuses, [(1, Status::Ok, 16), (2, Status::Ok, 16)]);
    let corrupted = wiregauge_wire::flags::OUT_CORRUPTED;
    assert_eq!((flags[0] & corrupted, flags[1] & corrupted), (corrupted, 0));
}

#[test]
fn without_free_descriptors_it_waits_and_says_so_once() {
    let desk = Desk::new();
    let mut server = desk.serve("tcp://:0");
    let pid = Pid::from_raw(server.process.pid() as i32);
    let all = getrlimit(Resource::Nofile);
    // Standard input has the only number below it.
    let used = Rlimit {
        current: Some(1),
        ..all
    };
    prlimit(pid, Resource::Nofile, used).expect("fewer descriptors");
    let mut client = TcpStream::connect(server.host_port()).expect("queued by the system");
    let said = "Too many open files";
    server
        .process
        .until_said("why it accepts nobody", |_, stderr| {
            stderr.contains(said).then_some(())
        });
    let before = ticks_of(&server.process);
    std::thread::sleep(Duration::from_secs(1));
    let ticks = ticks_of(&server.process) - before;
    assert!(
        ticks < 10,
        "{ticks} ticks in a second without anything to do"
    );
    prlimit(pid, Resource::Nofile, all).expect("as before");
    client
        .write_all(&request(Kind::Exchange, 1, 16, 48))
        .expect("sent");
    client.read_exact(&mut [0; 48]).expect("it accepts again");
    let (_, stderr) = server.process.said();
    assert_eq!(stderr.matches(said).count(), 1, "{stderr}");
}
