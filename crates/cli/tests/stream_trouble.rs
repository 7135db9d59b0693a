//! Streams that end otherwise than planned: refused, interrupted, with a device that leaves or falls
//! silent. What was measured is kept, and no device is left streaming.

use crate::common;

use common::{Background, Desk, until};
use rustix::process::Signal;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use wiregauge_record::Ending;
use wiregauge_wire as wire;
use wiregauge_wire::{HelloReply, Kind, Request, Response, Status, StreamReport};

const SHORT: &str = "--duration 300ms --settle 50ms";

#[track_caller]
fn refused(desk: &Desk, arguments: &str, code: i32, parts: &[&str]) {
    let ended = Background::start(&mut desk.command(arguments)).ended();
    assert_eq!(ended.code, Some(code), "{ended}");
    for part in parts {
        assert!(ended.stderr.contains(part), "{part}: {ended}");
    }
    assert_eq!(desk.stored(), Vec::<String>::new(), "an empty run was left");
}

#[test]
fn a_queue_is_refused_where_the_system_has_its_own() {
    let desk = Desk::new();
    for address in ["tcp://:0", "udp://:0", "pty:"] {
        let server = desk.serve(address);
        let arguments = format!("stream {} --queue 1,4 {SHORT}", server.address);
        refused(&desk, &arguments, 2, &["works only over USB", "--queue 1"]);
    }
}

#[test]
fn what_cannot_be_streamed_is_refused_before_anything_is_opened() {
    let desk = Desk::new();
    for (flags, part) in [
        ("tcp://127.0.0.1:1 --transfer 0", "--transfer"),
        ("tcp://127.0.0.1:1 --queue 0", "--queue"),
        ("udp://127.0.0.1:1 --transfer 64k", "65507"),
        ("tcp://127.0.0.1:1 --rate 24", "24MB/s"),
        ("tcp://127.0.0.1:1 --loss 2", "1e-6"),
        ("tcp://127.0.0.1:1 --require speed>1MB/s", "figures are"),
        ("tcp://127.0.0.1:1 --direction up", "possible values"),
        ("tcp://127.0.0.1:1 carrier-pigeon://roof", "carrier-pigeon"),
        ("", "ADDRESS"),
    ] {
        refused(&desk, &format!("stream {flags}"), 2, &[part]);
    }
    refused(&desk, "stream tcp://127.0.0.1:1", 3, &["cannot connect to"]);
}

#[test]
fn an_echo_is_told_that_it_cannot_stream() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --protocol echo");
    refused(
        &desk,
        &format!("stream {} --timeout 300ms", server.address),
        3,
        &["it is an echo server"],
    );
}

/// A device made by hand: answers HELLO with these abilities, and every START as `obey` says.
pub(crate) fn device(
    abilities: u32,
    obey: impl Fn(&mut TcpStream, Request) + Send + 'static,
) -> String {
    device_with_clock(64, abilities, obey)
}

/// The same with a clock of 1 MHz that wraps after so many bits.
fn device_with_clock(
    tick_bits: u8,
    abilities: u32,
    obey: impl Fn(&mut TcpStream, Request) + Send + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = format!("tcp://{}", listener.local_addr().expect("its address"));
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept()?;
        loop {
            let mut header = [0; wire::REQUEST_HEADER];
            stream.read_exact(&mut header)?;
            let Ok(request) = Request::decode(&header) else {
                continue;
            };
            let mut payload = vec![0; request.out_payload as usize];
            stream.read_exact(&mut payload)?;
            if request.kind != Kind::Hello {
                obey(&mut stream, request);
                continue;
            }
            let mut hello = HelloReply {
                min_version: wire::VERSION,
                max_version: wire::VERSION,
                abilities,
                max_out: 4096,
                max_in: 4096,
                bus: wire::bus::FULL_SPEED,
                tick_hz: 1_000_000,
                tick_bits,
                ..HelloReply::default()
            };
            hello.set_name("made by hand");
            let hello = hello.encode();
            answer(&mut stream, request, &hello);
        }
        #[allow(unreachable_code)]
        Ok::<(), std::io::Error>(())
    });
    address
}

pub(crate) fn answer(stream: &mut TcpStream, request: Request, payload: &[u8]) {
    let mut header = [0; wire::RESPONSE_HEADER];
    Response {
        kind: request.kind,
        sequence: request.sequence,
        in_payload: payload.len() as u32,
        status: Status::Ok,
        flags: 0,
        rx_ticks: 0,
        tx_ticks: 0,
    }
    .encode(&mut header);
    let _ = stream.write_all(&[&header[..], payload].concat());
}

#[test]
fn a_device_that_only_exchanges_is_refused_with_what_it_lacks() {
    let desk = Desk::new();
    let lacks = |abilities, direction, parts: &[&str]| {
        let address = device(abilities, |_, _| {});
        let arguments = format!("stream {address} --direction {direction}");
        refused(&desk, &arguments, 2, parts);
    };
    let exchange = wire::abilities::EXCHANGE;
    lacks(exchange, "in", &["made by hand", "SOURCE"]);
    lacks(exchange, "out", &["made by hand", "SINK"]);
    let sink = exchange | wire::abilities::SINK;
    lacks(sink, "both", &["SOURCE", "--direction out"]);
}

#[test]
fn a_device_that_falls_silent_has_failed_after_the_timeout() {
    let desk = Desk::new();
    let both = wire::abilities::SINK | wire::abilities::SOURCE;
    // It begins, sends a little, and then nothing.
    let address = device(both, |stream, request| {
        answer(stream, request, &[]);
        let mut bytes = [0; 1000];
        wire::fill_stream(0, &mut bytes);
        let _ = stream.write_all(&bytes);
    });
    let flags = "--direction in --transfer 100 --timeout 500ms --duration 20s";
    let (run, ended) = desk.try_stream(&address, flags);
    assert_eq!(ended.code, Some(3), "{ended}");
    assert!(
        ended.stderr.contains("the device sent nothing for 500ms"),
        "{ended}"
    );
    let flow = &run.file.points[0].flows[0];
    assert_eq!(flow.counts.received, Some(1000), "{:?}", flow.counts);
    assert_eq!(flow.device, None);
}

/// It begins a stream, sends so much, and reports what it sent when it is ordered to end.
fn source(bytes: usize, ticks: u64) -> String {
    source_with_clock(64, bytes, ticks)
}

/// The same with a clock of 1 MHz that wraps after so many bits.
fn source_with_clock(tick_bits: u8, bytes: usize, ticks: u64) -> String {
    let report = StreamReport {
        bytes: bytes as u64,
        last_ticks: ticks,
        ..StreamReport::default()
    };
    source_that_reports(tick_bits, bytes, report)
}

/// It begins a stream, sends so much, and reports this when it is told to end.
pub(crate) fn source_that_reports(tick_bits: u8, bytes: usize, report: StreamReport) -> String {
    let both = wire::abilities::SOURCE | wire::abilities::TIMESTAMPS;
    let begun = AtomicBool::new(false);
    device_with_clock(tick_bits, both, move |stream, request| {
        if begun.swap(true, Ordering::Relaxed) {
            answer(stream, request, &report.encode());
            return;
        }
        answer(stream, request, &[]);
        let mut data = vec![0; bytes];
        wire::fill_stream(0, &mut data);
        let _ = stream.write_all(&data);
    })
}

#[test]
fn more_than_the_bus_carries_is_explained_by_what_the_device_counted() {
    let desk = Desk::new();
    // Longer than a busy machine leaves a thread waiting.
    let flags = "--direction in --timeout 20s --duration 5s --settle 1ns";
    let bytes = 20_000_000;
    for (ticks, words) in [
        (100_000, "both ends report more data"),
        (1 << 40, "the host received more than the wire carries"),
    ] {
        let address = source(bytes, ticks);
        let printed = desk.output(&format!("stream {address} {flags}"));
        assert!(printed.contains(words), "{words}: {printed}");
        // A limit cannot be used by more than 100 %.
        let mut lines = printed.lines();
        lines.find(|line| line.ends_with("% of limit"));
        let cell = lines
            .next()
            .and_then(|row| row.split("  ").last().map(str::trim))
            .expect("a row");
        let percent = cell.trim_end_matches('%').trim().parse::<f64>();
        assert!(
            percent.is_err() || percent.is_ok_and(|p| p <= 100.0),
            "{printed}"
        );
        assert!(cell == "-" || cell.ends_with('%'), "{printed}");
    }
}

#[test]
fn the_wraps_of_a_narrow_device_clock_are_counted() {
    let desk = Desk::new();
    let flags = "--direction in --timeout 20s --duration 3s --settle 1ns";
    // 1 MHz in 16 bits wrap after 65.5 ms.
    let address = source_with_clock(16, 1_000_000, 1234);
    let run = desk.stream(&address, flags);
    let device = run.file.points[0].flows[0].device.as_ref();
    let elapsed_us = device.expect("its report").elapsed_ns / 1000;
    assert_eq!(elapsed_us % 65_536, 1234);
    assert!(elapsed_us > 450_000, "{elapsed_us} us");
}

/// A source that goes on and on, and does not hear the first orders to end.
fn deaf_source(deaf_to: usize) -> String {
    let (goes_on, ordered) = (Arc::new(AtomicBool::new(true)), AtomicUsize::new(0));
    device(wire::abilities::SOURCE, move |stream, request| {
        let nth = ordered.fetch_add(1, Ordering::Relaxed);
        if nth == 0 {
            answer(stream, request, &[]);
            let mut to = stream.try_clone().expect("a second handle");
            let goes_on = Arc::clone(&goes_on);
            std::thread::spawn(move || {
                let mut data = [0; 100];
                let mut at = 0;
                while goes_on.load(Ordering::Acquire) {
                    wire::fill_stream(at, &mut data);
                    at += data.len() as u64;
                    if to.write_all(&data).is_err() {
                        return;
                    }
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
        } else if nth > deaf_to {
            goes_on.store(false, Ordering::Release);
            // What it was sending comes first.
            std::thread::sleep(Duration::from_millis(50));
            answer(stream, request, &StreamReport::default().encode());
        }
    })
}

#[test]
fn a_device_that_lost_the_order_to_end_is_told_again_and_given_up_in_the_end() {
    let desk = Desk::new();
    let flags = "--direction in --transfer 100 --timeout 1s --duration 500ms --settle 1ns";
    let printed = desk.output(&format!("stream {} {flags}", deaf_source(2)));
    assert!(
        printed.contains("MB/s") || printed.contains("kB/s"),
        "{printed}"
    );
    let (run, ended) = desk.try_stream(&deaf_source(usize::MAX), flags);
    assert_eq!(ended.code, Some(3), "{ended}");
    assert!(ended.stderr.contains("no answer to SOURCE END"), "{ended}");
    assert!(run.file.points[0].flows[0].transfers > 0);
}

/// Silence that is shorter than --timeout is no result either.
#[test]
fn a_point_in_which_nothing_moves_has_failed() {
    let desk = Desk::new();
    let flags = "--direction in --transfer 500 --timeout 10s --duration 200ms --settle 300ms";
    let printed = "received nothing for 500ms; the device reports 0 B sent";
    refused(
        &desk,
        &format!("stream {} {flags}", source(0, 0)),
        3,
        &[printed],
    );
    let (run, ended) = desk.try_stream(&source(500, 0), flags);
    let printed = "(500 B outside); the device reports 500 B sent";
    assert_eq!(ended.code, Some(3), "{ended}");
    assert!(ended.stderr.contains(printed), "{printed}: {ended}");
    let point = &run.file.points[0];
    assert!(matches!(point.ending, Ending::LinkFailed { .. }), "{ended}");
    let flow = &point.flows[0];
    assert_eq!(flow.counts.received, Some(500), "{:?}", flow.counts);
    assert_eq!((flow.transfers, &flow.rate), (0, &None));
}

#[test]
fn a_device_that_does_not_begin_is_given_up() {
    let desk = Desk::new();
    let both = wire::abilities::SINK | wire::abilities::SOURCE;
    let address = device(both, |_, _| {});
    let arguments = format!("stream {address} --timeout 300ms");
    refused(&desk, &arguments, 3, &["no answer to SOURCE START"]);
}

#[test]
fn a_device_that_takes_nothing_more_has_failed_after_the_timeout() {
    let desk = Desk::new();
    let both = wire::abilities::SINK | wire::abilities::SOURCE;
    let address = device(both, |stream, request| {
        answer(stream, request, &[]);
        std::thread::sleep(common::BOUND);
    });
    let flags = "--direction out --transfer 64k --timeout 500ms --duration 20s";
    let (run, ended) = desk.try_stream(&address, flags);
    assert_eq!(ended.code, Some(3), "{ended}");
    for part in [
        "no transfer was completed for 500ms",
        "use a longer --timeout, such as 60s",
    ] {
        assert!(ended.stderr.contains(part), "{part}: {ended}");
    }
    let flow = &run.file.points[0].flows[0];
    assert!(
        flow.counts.sent > Some(0) && flow.device.is_none(),
        "{flow:?}"
    );
}

#[test]
fn a_killed_device_leaves_every_row_measured_so_far() {
    let desk = Desk::new();
    for (address, direction) in [("tcp://:0", "in"), ("tcp://:0", "out"), ("pty:", "both")] {
        let server = desk.serve(address);
        let flags = format!("--direction {direction} --duration 20s --settle 50ms");
        let mut command = desk.command(&format!("stream {} {flags}", server.address));
        let run = Background::start(&mut command);
        until("the stream has begun", || desk.measures());
        std::thread::sleep(Duration::from_secs(1));
        server.process.signal(Signal::KILL);
        let ended = run.ended();
        assert_eq!(ended.code, Some(3), "{address} {direction}: {ended}");
        assert!(ended.stdout.contains("Rates"), "{ended}");
        assert!(ended.stderr.contains("error:"), "{ended}");
        let hint = "\n  hint: was the device unplugged or reset, or its program restarted?";
        assert!(ended.stderr.contains(hint), "{ended}");
        let shown = desk.json("show last --json");
        assert!(shown["state"]["failed"]["error"].is_string(), "{shown}");
        assert!(shown["points"][0]["flows"][0]["transfers"].as_u64() > Some(10));
        assert!(desk.output("export last --csv").lines().count() > 10);
        std::fs::remove_dir_all(desk.runs()).expect("cleared for the next");
    }
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_ends_the_devices_stream() {
    let desk = Desk::new();
    for (address, direction) in [
        ("pty:", "in"),
        ("pty:", "both"),
        ("udp://:0", "in"),
        ("tcp://:0", "out"),
    ] {
        let server = desk.serve(address);
        let flags = format!("--direction {direction} --duration 20s --settle 50ms");
        let mut command = desk.command(&format!("stream {} {flags}", server.address));
        let run = Background::start(&mut command);
        until("the stream has begun", || desk.measures());
        std::thread::sleep(Duration::from_secs(1));
        run.signal(Signal::INT);
        let ended = run.ended();
        assert_eq!(ended.code, Some(130), "{address} {direction}: {ended}");
        assert!(ended.stdout.contains("not measured to the end"), "{ended}");
        let shown = desk.json("show last --json");
        assert_eq!(shown["state"], "interrupted");
        let flow = &shown["points"][0]["flows"][0];
        assert!(flow["transfers"].as_u64() > Some(10), "{flow}");
        if address != "tcp://:0" {
            // The device was ordered to end, and said what it had counted.
            assert!(flow["device"]["bytes"].as_u64() > Some(0), "{flow}");
        }
        // What comes next finds the device at rest.
        desk.measure(&server.address, "--count 50").is_clean();
        std::fs::remove_dir_all(desk.runs()).expect("cleared for the next");
    }
}

/// Hands datagrams on to a device and back. Tells of each request of one kind its number, and when
/// it came.
fn between(device: &str, kind: Kind) -> (String, mpsc::Receiver<(u32, Instant)>) {
    let (near, far) = (udp(), udp());
    far.connect(device).expect("an address");
    let address = format!("udp://{}", near.local_addr().expect("its address"));
    let (host, known) = mpsc::channel();
    let (say, said) = mpsc::channel();
    let (back, ahead) = (
        near.try_clone().expect("a copy"),
        far.try_clone().expect("a copy"),
    );
    std::thread::spawn(move || {
        let mut bytes = [0; 2048];
        while let Ok((length, from)) = near.recv_from(&mut bytes) {
            let _ = host.send(from);
            let request = bytes.first_chunk::<{ wire::REQUEST_HEADER }>();
            let request = request.and_then(|header| Request::decode(header).ok());
            if let Some(request) = request.filter(|request| request.kind == kind) {
                let _ = say.send((request.sequence, Instant::now()));
            }
            let _ = ahead.send(&bytes[..length]);
        }
    });
    std::thread::spawn(move || {
        let mut bytes = [0; 2048];
        let Ok(host) = known.recv() else { return };
        while let Ok(length) = far.recv(&mut bytes) {
            let _ = back.send_to(&bytes[..length], host);
        }
    });
    (address, said)
}

fn udp() -> UdpSocket {
    UdpSocket::bind("127.0.0.1:0").expect("a free port")
}

/// A source on datagrams stops 10 s after the last request; that one keeps it alive is tested where
/// time is virtual (crates/responder/src/streams_tests.rs).
#[test]
fn a_source_on_datagrams_is_told_every_two_seconds_that_it_is_wanted() {
    let desk = Desk::new();
    let server = desk.serve("udp://:0 --bus full-speed");
    let (address, said) = between(server.host_port(), Kind::Source);
    let flags = "--direction in --transfer 1k --duration 2800ms --settle 100ms --timeout 10s";
    let run = desk.stream(&address, flags);
    let flow = &run.file.points[0].flows[0];
    assert!(flow.counts.received > Some(0) && flow.device.is_some());
    let printed: Vec<(u32, Instant)> = said.try_iter().collect();
    let (start, begun) = printed[0];
    // START may be repeated at once, until its answer is there; END has another number.
    let later = |at: Instant| at - begun > Duration::from_secs(1);
    assert!(
        printed
            .iter()
            .any(|(number, at)| *number == start && later(*at)),
        "{printed:?}"
    );
}
