//! `stream --record`: what arrives is in the file, byte by byte, however slow or broken the storage is.

use crate::common;

use common::{BOUND, Desk, Server, StreamRun, has_all, until};
use rustix::process::Signal;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use wiregauge_record::{Recording, Way};

/// Bytes that the buffer of a recording holds.
const BUFFER: u64 = 64 << 20;

/// A source that closes the connection behind its bytes, read to its end.
const WHOLE: &str = "--protocol raw --direction in --settle 1ns --duration 200s --timeout 100s";

/// Every byte counts from the first one on, however late a busy host lets it come.
const SHORT: &str = "--duration 1s --settle 1ns --timeout 30s";

/// Bytes whose period is no power of two.
fn bytes(count: usize) -> Vec<u8> {
    (0..count).map(|at| (at % 251) as u8).collect()
}

fn source_of(desk: &Desk, bytes: &[u8]) -> Server {
    std::fs::write(desk.path("source"), bytes).expect("a file");
    let file = format!("OPEN:{}", desk.text("source"));
    let listen = "TCP-LISTEN:0,bind=127.0.0.1,fork";
    Server::socat(desk, &["-U", listen, &file], "listening on AF=2 ", |at| {
        format!("tcp://{at}")
    })
}

/// Without line breaks, which depend on the length of what is said.
fn unwrapped(said: &str) -> String {
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What was recorded, and how many bytes were received.
fn recorded(run: &StreamRun) -> (&Recording, u64) {
    let flow = run.of(Way::In)[0];
    let recording = flow.recording.as_ref().expect("it was recorded");
    (recording, flow.counts.received.expect("this host counts"))
}

#[test]
fn a_file_has_just_the_bytes_that_a_device_sent() {
    let desk = Desk::new();
    let sent = bytes(3_000_001);
    let server = source_of(&desk, &sent);
    let run = desk.stream(&server.address, &format!("{WHOLE} --record data.bin"));
    let (recording, received) = recorded(&run);
    assert_eq!((recording.bytes, received), (3_000_001, 3_000_001));
    assert_eq!(recording.missing_bytes, 0);
    assert!(std::fs::read(desk.path("data.bin")).expect("a file") == sent);
    let said = unwrapped(&desk.output("show last"));
    assert!(said.contains("3,000,001 bytes recorded to"), "{said}");
}

#[test]
fn answers_of_a_responder_are_not_in_the_file() {
    let desk = Desk::new();
    for (address, flags) in [
        ("tcp://127.0.0.1:0", "--direction in --transfer 64k"),
        ("tcp://127.0.0.1:0", "--direction both --transfer 7"),
        (
            "tcp://127.0.0.1:0",
            "--direction in --transfer 1000 --no-check",
        ),
        ("udp://127.0.0.1:0", "--direction in --transfer 1000"),
        ("unix://socket", "--direction both --transfer 4096"),
    ] {
        let server = desk.serve(address);
        let run = desk.stream(
            &server.address,
            &format!("{SHORT} {flags} --record data.bin --force"),
        );
        let (recording, received) = recorded(&run);
        let data = std::fs::read(desk.path("data.bin")).expect("a file");
        assert_eq!(data.len() as u64, received, "{address} {flags}");
        assert_eq!(recording.bytes, received, "{address} {flags}");
        assert!(received > 0);
        // Datagrams may be lost; where none is, every byte is where the pattern has it.
        if run.of(Way::In)[0].counts.lost == Some(0) {
            let mut sent = vec![0; data.len()];
            wiregauge_wire::fill_stream(0, &mut sent);
            assert!(data == sent, "{address} {flags}");
        } else {
            assert!(address.starts_with("udp:"), "{address} {flags}");
        }
    }
}

#[test]
fn standard_output_has_the_bytes_and_standard_error_the_words() {
    let desk = Desk::new();
    let sent = bytes(500_000);
    let server = source_of(&desk, &sent);
    let mut command = desk.wiregauge(&format!("stream {} {WHOLE} --record -", server.address));
    let done = command.assert().success();
    assert!(done.get_output().stdout == sent);
    let said = unwrapped(&String::from_utf8_lossy(&done.get_output().stderr));
    has_all(&said, &["500,000 bytes recorded to standard output"]);
}

/// The program with a pipe that the test reads, and its standard error in a file.
fn piped(desk: &Desk, arguments: &str) -> (Child, std::process::ChildStdout) {
    let mut command = desk.command(arguments);
    let errors = File::create(desk.path("errors")).expect("a file");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(errors);
    let mut child = command.spawn().expect("the program");
    let out = child.stdout.take().expect("asked for");
    (child, out)
}

#[track_caller]
fn code(mut child: Child) -> Option<i32> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("a child") {
            return status.code();
        }
        if begun.elapsed() > BOUND {
            let _ = child.kill();
            panic!("it does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn errors(desk: &Desk) -> String {
    let said = std::fs::read_to_string(desk.path("errors"));
    unwrapped(&said.expect("what it said"))
}

fn last(desk: &Desk) -> StreamRun {
    let file = serde_json::from_value(desk.json("show last --json")).expect("a run");
    StreamRun { file }
}

/// Sends these bytes to the first client. Once it could send nothing more for a while, after more than the buffer
/// holds, it says so.
fn blocked_source(sent: Vec<u8>) -> (String, mpsc::Receiver<()>, std::thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("tcp://{}", listener.local_addr().expect("bound"));
    let (say, said) = mpsc::channel();
    let sending = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().expect("a client");
        client.set_nonblocking(true).expect("a socket");
        let (mut at, mut moved) = (0, Instant::now());
        while at < sent.len() {
            match client.write(&sent[at..]) {
                Ok(count) => {
                    at += count;
                    moved = Instant::now();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(error) => panic!("{error}"),
            }
            if at as u64 > BUFFER && moved.elapsed() > Duration::from_secs(1) {
                let _ = say.send(());
            }
            assert!(moved.elapsed() < BOUND, "nobody receives");
        }
    });
    (address, said, sending)
}

#[test]
fn a_slow_reader_of_the_pipe_makes_the_receiver_wait_and_nothing_is_lost() {
    let desk = Desk::new();
    let sent = bytes(120 << 20);
    let (address, blocked, sending) = blocked_source(sent.clone());
    let arguments = format!("stream {address} {WHOLE} --transfer 64k --record -");
    let (child, mut out) = piped(&desk, &arguments);
    blocked.recv_timeout(BOUND).expect("the buffer is full");
    let mut all = Vec::new();
    out.read_to_end(&mut all).expect("the pipe");
    assert_eq!(code(child), Some(0), "{}", errors(&desk));
    sending.join().expect("the source");
    assert!(all == sent);
    let run = last(&desk);
    let (recording, received) = recorded(&run);
    assert_eq!((recording.bytes, received), (120 << 20, 120 << 20));
    assert!(recording.waits > 0, "{recording:?}");
    assert!(recording.waited_ns > 100_000_000, "{recording:?}");
    assert_eq!(recording.peak_waiting_bytes, BUFFER);
    let said = errors(&desk);
    assert!(said.contains("W11: the receiver waited"), "{said}");
}

#[test]
fn a_responder_is_still_heard_after_the_pipe_was_slow() {
    let desk = Desk::new();
    let server = desk.serve("tcp://127.0.0.1:0");
    // The buffer fills after the end of the measured time or before it: the answer to END waits behind the data.
    let flags = "--direction in --transfer 64k --duration 3s --timeout 1s --no-check --record -";
    let (child, mut out) = piped(&desk, &format!("stream {} {flags}", server.address));
    let mut all = vec![0; 1 << 20];
    out.read_exact(&mut all).expect("the pipe");
    // Longer than three times the timeout, after which an order counts as not answered.
    std::thread::sleep(Duration::from_secs(8));
    out.read_to_end(&mut all).expect("the pipe");
    assert_eq!(code(child), Some(0), "{}", errors(&desk));
    let run = last(&desk);
    run.is_clean();
    assert_eq!(recorded(&run).0.bytes, all.len() as u64);
}

#[test]
fn a_full_disk_ends_the_run_with_its_samples_kept() {
    let desk = Desk::new();
    let server = desk.serve("tcp://127.0.0.1:0");
    let flags = "--direction in --duration 60s --record /dev/full";
    let (run, ended) = desk.try_stream(&server.address, flags);
    assert_eq!(ended.code, Some(3), "{ended}");
    let words = "error: cannot write /dev/full: No space left on device";
    assert!(ended.stderr.contains(words), "{ended}");
    assert!(ended.stderr.contains("hint: free some space"), "{ended}");
    let (recording, received) = recorded(&run);
    assert_eq!((recording.bytes, recording.missing_bytes), (0, received));
    assert!(received > 0);
    let rows = desk.output("export last --csv");
    assert!(rows.lines().count() > 1, "{rows}");
    assert!(std::fs::metadata("/dev/full").is_ok());
}

#[test]
fn a_reader_that_leaves_ends_the_run() {
    let desk = Desk::new();
    let server = desk.serve("tcp://127.0.0.1:0");
    let flags = "--direction in --duration 60s --record -";
    let (child, mut out) = piped(&desk, &format!("stream {} {flags}", server.address));
    out.read_exact(&mut [0; 10]).expect("the pipe");
    drop(out);
    assert_eq!(code(child), Some(3), "{}", errors(&desk));
    let said = errors(&desk);
    has_all(&said, &["cannot write standard output: Broken pipe"]);
    has_all(&said, &["hint: the program that reads the pipe"]);
}

#[test]
fn ctrl_c_does_not_wait_for_a_reader_that_is_stuck() {
    let desk = Desk::new();
    let server = desk.serve("tcp://127.0.0.1:0");
    let flags = "--direction in --duration 200s --record -";
    let (child, mut out) = piped(&desk, &format!("stream {} {flags}", server.address));
    out.read_exact(&mut [0; 10]).expect("the pipe");
    until("the point has begun", || desk.measures());
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, Signal::INT).expect("a signal");
    assert_eq!(code(child), Some(130), "{}", errors(&desk));
    let run = last(&desk);
    let (recording, received) = recorded(&run);
    assert_eq!(recording.bytes + recording.missing_bytes, received);
    assert!(recording.missing_bytes > 0, "{recording:?}");
    let said = errors(&desk);
    assert!(said.contains("received but not written"), "{said}");
}

#[test]
fn what_cannot_be_recorded_is_refused_with_the_reason() {
    let desk = Desk::new();
    std::fs::write(desk.path("plain"), "").expect("a file");
    desk.refuses(
        "stream null://",
        2,
        "
        --direction out --record x                   => use --direction in or both
        --direction in,both --record x               => this run has 2
        --direction in --transfer 1k,2k --record x   => this run has 2
        null:// --direction in --record x            => for one device
        --direction in --record - --json             => both need standard output
        --direction in --record x --csv x            => the same file
        --direction in --record /                    => cannot write /: it is a directory
        ",
    );
    desk.refuses(
        "stream null:// --direction in",
        3,
        "
        --record no/x     => cannot write no/x: No such file
        --record plain/x  => cannot write plain/x
        ",
    );
    assert!(!desk.path("x").exists());
}

#[test]
fn a_device_that_is_not_there_leaves_no_empty_file() {
    let desk = Desk::new();
    let flags = "--direction in --record data.bin";
    desk.wiregauge(&format!("stream unix://nobody {flags}"))
        .assert()
        .code(3);
    assert!(!desk.path("data.bin").exists());
}
