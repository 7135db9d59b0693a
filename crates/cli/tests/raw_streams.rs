//! Raw streams: sources and sinks that nobody here wrote, and of which nothing is requested.

use crate::common;

use common::{Desk, Server, StreamRun, has_all};
use std::time::{Duration, Instant};
use wiregauge_record::{FlowSummary, Way};

const LISTEN: &str = "TCP-LISTEN:0,bind=127.0.0.1,fork";
const SHORT: &str = "--protocol raw --duration 300ms --settle 50ms --timeout 30s";

/// socat between its listening socket and another of its addresses.
fn socat(desk: &Desk, flags: &[&str], other: &str) -> Server {
    let arguments: Vec<&str> = flags.iter().copied().chain([LISTEN, other]).collect();
    Server::socat(desk, &arguments, "listening on AF=2 ", |found| {
        format!("tcp://{found}")
    })
}

/// A source of these bytes, which closes the connection behind them.
fn source_of(desk: &Desk, bytes: &[u8]) -> Server {
    std::fs::write(desk.path("source"), bytes).expect("a file");
    socat(desk, &["-U"], &format!("OPEN:{}", desk.text("source")))
}

/// 0 to 255, again and again.
fn counter(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| at as u8).collect()
}

fn flow(run: &StreamRun, way: Way) -> &FlowSummary {
    run.of(way)[0]
}

#[test]
fn a_program_that_only_prints_is_a_source() {
    let desk = Desk::new();
    let server = socat(&desk, &[], "EXEC:yes");
    let run = desk.stream(&server.address, &format!("{SHORT} --direction in"));
    let flow = flow(&run, Way::In);
    assert!(flow.bytes > 0 && flow.rate.is_some());
    let counts = &flow.counts;
    assert!(counts.received > Some(flow.bytes), "{counts:?}");
    // Only the device could know.
    assert_eq!((counts.sent, counts.lost), (None, None));
    assert!(flow.device.is_none());
    let printed = desk.output("show last");
    assert!(printed.contains("not known"), "{printed}");
    let full = desk.output("show last --full");
    assert!(full.contains("Counted by this host only"), "{full}");
}

#[test]
fn a_sink_takes_just_the_bytes_that_were_counted() {
    let desk = Desk::new();
    let sink = desk.text("sink");
    let server = socat(&desk, &["-u"], &format!("CREATE:{sink}"));
    let flags = format!("{SHORT} --direction out --transfer 1000 --pattern mod63");
    let run = desk.stream(&server.address, &flags);
    let counts = &flow(&run, Way::Out).counts;
    assert_eq!((counts.received, counts.lost), (None, None));
    let sent = counts.sent.expect("this host counts");
    assert!(sent >= 1000, "{counts:?}");
    // The sink writes what the system still holds.
    let begun = Instant::now();
    let size = || std::fs::metadata(&sink).map_or(0, |file| file.len());
    while size() < sent && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let taken = std::fs::read(&sink).expect("the sink's file");
    assert_eq!(taken.len() as u64, sent);
    let expected = |at: usize| (at % 63) as u8;
    assert!(
        taken
            .iter()
            .enumerate()
            .all(|(at, byte)| *byte == expected(at))
    );
}

#[test]
fn a_source_that_ends_is_counted_to_its_last_byte() {
    let desk = Desk::new();
    let server = source_of(&desk, &counter(3_000_000));
    let flags =
        "--protocol raw --direction in --settle 1ns --duration 60s --pattern counter --check";
    let begun = Instant::now();
    let run = desk.stream(&server.address, flags);
    assert!(
        begun.elapsed() < Duration::from_secs(50),
        "it waits for more"
    );
    let flow = flow(&run, Way::In);
    assert_eq!(flow.counts.received, Some(3_000_000));
    assert_eq!((flow.counts.corrupted, flow.jumps), (0, Some(0)));
    let printed = desk
        .output("show last")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let all = "all 3,000,000 bytes received match counter";
    assert!(printed.contains(all), "{printed}");
}

#[test]
fn missing_and_changed_bytes_are_told_apart_by_the_pattern() {
    let desk = Desk::new();
    let mut bytes = counter(1_000_000);
    bytes[500_000] ^= 0x80;
    bytes.drain(700_000..700_100);
    let server = source_of(&desk, &bytes);
    let flags = "--protocol raw --direction in --settle 1ns --pattern counter --check";
    let run = desk.stream(&server.address, flags);
    let flow = flow(&run, Way::In);
    assert_eq!((flow.counts.corrupted, flow.jumps), (1, Some(1)));
    // How many bytes a jump left out the pattern does not show.
    assert_eq!(flow.counts.lost, None);
    let printed = desk.output("show last");
    has_all(&printed, &["W34", "W02"]);
}

#[test]
fn a_tty_that_prints_is_a_source() {
    let desk = Desk::new();
    let tty = desk.text("tty");
    let other = format!("PTY,link={tty},raw,echo=0");
    let server = Server::socat(&desk, &[&other, "EXEC:yes"], "PTY is ", |_| {
        format!("serial://{tty}")
    });
    let run = desk.stream(&server.address, &format!("{SHORT} --direction in"));
    assert!(flow(&run, Way::In).counts.received > Some(0));
}

/// Counts what arrives and prints a line for each piece, as Stoffregen's sketch does; the sum goes to a file.
const COUNTS_AND_PRINTS: &str = "
import os, sys
total = 0
while piece := os.read(0, 4096):
    total += len(piece)
    os.write(1, b'%d bytes received so far, %d in this piece\\r\\n' % (total, len(piece)))
    open(sys.argv[1] + '.new', 'w').write(str(total))
    os.replace(sys.argv[1] + '.new', sys.argv[1])
";

#[test]
fn a_sketch_that_prints_while_it_is_written_to_takes_all_and_blocks_nothing() {
    let desk = Desk::new();
    std::fs::write(desk.path("sketch.py"), COUNTS_AND_PRINTS).expect("a file");
    let tty = desk.text("tty");
    for transfer in [1, 64, 1000, 4096] {
        let count = desk.text(&format!("count-{transfer}"));
        let sketch = format!("EXEC:python3 -u {} {count}", desk.text("sketch.py"));
        let other = format!("PTY,link={tty},raw,echo=0");
        let server = Server::socat(&desk, &[&other, &sketch], "PTY is ", |_| {
            format!("serial://{tty}")
        });
        // Long enough for a sketch that hardly gets the processor.
        let flags = format!(
            "--protocol raw --duration 2s --settle 50ms --timeout 30s --direction out --transfer {transfer}"
        );
        let run = desk.stream(&server.address, &flags);
        let flow = flow(&run, Way::Out);
        let sent = flow.counts.sent.expect("this host counts");
        // What it prints is more than the tty holds (4 KiB), so that it would block if nobody read it.
        assert!(flow.transfers > 0 && sent > 0, "{flow:?}");
        common::until("the sketch has all", || {
            std::fs::read_to_string(&count).is_ok_and(|said| said.trim() == sent.to_string())
        });
        assert!(run.of(Way::In).is_empty(), "what it prints is no stream");
    }
}

#[test]
fn what_cannot_be_is_refused_with_the_reason() {
    let desk = Desk::new();
    desk.refuses(
        "stream",
        2,
        "
        udp://127.0.0.1:9 --protocol raw --direction in         => use --direction out
        null:// --pattern zeros                                 => are for --protocol raw
        null:// --protocol raw --no-check                       => --no-check has no effect
        null:// --protocol raw --check                          => --pattern
        null:// --protocol raw --direction out --pattern zeros --check => use --direction in
        null:// --protocol raw --direction in --pattern zeros   => without --check
        ",
    );
}

#[test]
fn a_silent_device_and_one_that_ends_at_once_are_named() {
    let desk = Desk::new();
    let silent = socat(&desk, &["-u"], "CREATE:/dev/null");
    let ends = source_of(&desk, b"hello");
    for (address, timeout, words) in [
        (
            &silent.address,
            "100ms",
            "the device sent nothing for 100ms",
        ),
        (&ends.address, "30s", "closed the connection after 5 B"),
    ] {
        let flags = format!("--protocol raw --direction in --timeout {timeout}");
        let mut command = desk.wiregauge(&format!("stream {address} {flags}"));
        let done = command.assert().code(3);
        let said = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
        has_all(&said, &[words, "hint:"]);
    }
}

#[test]
fn a_stream_with_a_device_that_has_no_responder_names_the_flag() {
    let desk = Desk::new();
    let silent = socat(&desk, &["-u"], "CREATE:/dev/null");
    let flags = "--timeout 100ms --direction in";
    let mut command = desk.wiregauge(&format!("stream {} {flags}", silent.address));
    let done = command.assert().code(3);
    let said = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
    assert!(said.contains("use --protocol raw"), "{said}");
    let flags = format!("{flags} --protocol raw --direction out --duration 100ms --no-store");
    let flags = flags.replace("--direction in ", "");
    desk.wiregauge(&format!("stream {} {flags}", silent.address))
        .assert()
        .success();
}
