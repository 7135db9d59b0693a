//! Streams that end otherwise than planned: refused, interrupted, with a device that leaves or falls
//! silent. What was measured is kept, and no device is left streaming.

use crate::common;

use common::{Background, Desk, until};
use rustix::process::Signal;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wiregauge_record::Ending;
use wiregauge_wire as wire;
use wiregauge_wire::{HelloReply, Kind, Request, Response, Status, StreamReport};

const SHORT: &str = "--duration 300ms --settle 50ms";

#[test]
fn what_cannot_be_streamed_is_refused() {
    let desk = Desk::new();
    for address in ["tcp://:0", "udp://:0", "pty:"] {
        let server = desk.serve(address);
        let command = format!("stream {} --queue 1,4 {SHORT}", server.address);
        desk.refuses(&command, 2, "=> works only over USB | --queue 1");
    }
    desk.refuses(
        "stream",
        2,
        "
        tcp://127.0.0.1:1 --transfer 0             => --transfer
        tcp://127.0.0.1:1 --queue 0                => --queue
        udp://127.0.0.1:1 --transfer 64k           => 65507
        tcp://127.0.0.1:1 --rate 24                => 24MB/s
        tcp://127.0.0.1:1 --loss 2                 => 1e-6
        tcp://127.0.0.1:1 --require speed>1MB/s    => figures are
        tcp://127.0.0.1:1 --direction up           => possible values
        tcp://127.0.0.1:1 carrier-pigeon://roof    => carrier-pigeon
                                                   => ADDRESS
        ",
    );
    desk.refuses("stream", 3, "tcp://127.0.0.1:1 => cannot connect to");
    let server = desk.serve("tcp://:0 --protocol echo");
    let command = format!("stream {} --timeout 300ms", server.address);
    desk.refuses(&command, 3, "=> it is an echo server");
}

/// A device made by hand: answers HELLO with these abilities, and every START as `obey` says.
pub(crate) fn device(
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
                max_outstanding: 4,
                bus: wire::bus::FULL_SPEED,
                tick_hz: 1_000_000,
                tick_bits: 64,
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

fn answer(stream: &mut TcpStream, request: Request, payload: &[u8]) {
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
fn a_device_is_asked_for_nothing_that_it_cannot_do() {
    let desk = Desk::new();
    let exchange = wire::abilities::EXCHANGE;
    let sink = exchange | wire::abilities::SINK;
    for (abilities, command, says) in [
        (exchange, "stream --direction in", "made by hand | SOURCE"),
        (exchange, "stream --direction out", "made by hand | SINK"),
        (sink, "stream --direction both", "SOURCE | --direction out"),
        (exchange, "exchange --in 48,4097", "--in up to 4096"),
        (exchange, "exchange --depth 4,5", "--depth up to 4"),
    ] {
        let address = device(abilities, |_, _| {});
        desk.refuses(command, 2, &format!("{address} => {says}"));
    }
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

/// It begins a stream, sends so much, and reports this when it is told to end.
pub(crate) fn source_that_reports(bytes: usize, report: StreamReport) -> String {
    let both = wire::abilities::SOURCE | wire::abilities::TIMESTAMPS;
    let begun = AtomicBool::new(false);
    device(both, move |stream, request| {
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
    for (last_ticks, words) in [
        (100_000, "both ends report more data"),
        (1 << 40, "the host received more than the wire carries"),
    ] {
        let report = StreamReport {
            bytes,
            last_ticks,
            ..StreamReport::default()
        };
        let address = source_that_reports(bytes as usize, report);
        let printed = desk.output(&format!("stream {address} {flags}"));
        assert!(printed.contains(words), "{words}: {printed}");
    }
}

/// Silence that is shorter than --timeout is no result either.
#[test]
fn a_point_in_which_nothing_moves_has_failed() {
    let desk = Desk::new();
    let flags = "--direction in --transfer 500 --timeout 10s --duration 200ms --settle 300ms";
    let source = |bytes: usize| {
        let report = StreamReport {
            bytes: bytes as u64,
            ..StreamReport::default()
        };
        source_that_reports(bytes, report)
    };
    let command = format!("stream {} {flags}", source(0));
    let says = "received nothing for 500ms; the device reports 0 B sent";
    desk.fails(&command, 3, &[says]);
    assert_eq!(desk.stored(), Vec::<String>::new(), "an empty run was left");
    let (run, ended) = desk.try_stream(&source(500), flags);
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
    let command = format!("stream {} --timeout 300ms", device(both, |_, _| {}));
    desk.fails(&command, 3, &["no answer to SOURCE START"]);
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
