//! Streams over every kind of link, against `wiregauge serve` and through programs of others: what
//! one end says it sent is what the other says it took.

use crate::common;

use common::{Desk, Server, has_all};
use rustix::process::Signal;
use wiregauge_record::{ByteCounts, Direction, Way};

/// Short, but with hundreds of transfers on any machine; and patient where a busy one lets it wait.
const SHORT: &str = "--duration 500ms --settle 30ms --timeout 10s";

/// Bytes sent, received and lost, all of them known.
fn both_ends(counts: &ByteCounts) -> (u64, u64, u64) {
    let all = (counts.sent, counts.received, counts.lost);
    let (Some(sent), Some(received), Some(lost)) = all else {
        panic!("both ends count: {counts:?}");
    };
    (sent, received, lost)
}

#[test]
fn every_byte_arrives_once_on_every_link_with_flow_control() {
    let desk = Desk::new();
    let socket = format!("unix://{}", desk.text("s"));
    for address in ["tcp://:0", &socket, "pty:"] {
        let server = desk.serve(address);
        let flags = format!("--direction in,out,both --transfer 100 {SHORT}");
        let run = desk.stream(&server.address, &flags);
        run.is_clean();
        assert_eq!(run.file.points.len(), 3, "{address}");
        assert_eq!(run.flows().len(), 4, "{address}");
    }
}

#[test]
fn a_transfer_may_be_smaller_than_a_header_and_of_any_length() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let flags = format!("--direction both --transfer 1,7,33,4097 {SHORT}");
    desk.stream(&server.address, &flags).is_clean();
}

#[test]
fn datagrams_are_accounted_for_though_some_are_lost() {
    let desk = Desk::new();
    let server = desk.serve("udp://:0");
    let flags = format!("--direction in,out,both --transfer 200 {SHORT}");
    let run = desk.stream(&server.address, &flags);
    for (point, flow) in run.flows() {
        let counts = &flow.counts;
        let bytes = u64::from(point.point.transfer_bytes);
        let (sent, received, lost) = both_ends(counts);
        assert!(received > 0, "{counts:?}");
        assert_eq!(sent, received + lost, "{counts:?}");
        assert_eq!(counts.wrong(), 0, "{counts:?}");
        // A datagram arrives whole or not at all.
        assert_eq!(lost % bytes, 0, "{counts:?}");
    }
}

#[track_caller]
fn assert_counted(address: &str, fault: &str, direction: &str) {
    const EVERY: u64 = 20;
    let desk = Desk::new();
    // A new device each time: it goes on counting from point to point.
    let server = desk.serve(&format!("{address} --{fault} every={EVERY}"));
    let flags = format!("--direction {direction} --transfer 1000 {SHORT}");
    let run = desk.stream(&server.address, &flags);
    for flow in run.of(Way::In) {
        let (counts, device) = (&flow.counts, flow.device.expect("a report"));
        let struck = device.transfers / EVERY;
        let printed = format!("{fault} on {address}, {struck} struck: {counts:?}");
        assert!(struck > 0, "{printed}");
        let (lost, added) = match fault {
            "lose-byte" => (struck, 0),
            "drop" => (1000 * struck, 0),
            "insert-byte" => (0, struck),
            // The second copy of the last one may be left out.
            "duplicate" => (0, counts.duplicated),
            _ => (0, 0),
        };
        assert_eq!(counts.lost, Some(lost), "{printed}");
        let (sent, received, _) = both_ends(counts);
        assert_eq!(sent - lost + added, received, "{printed}");
        // An inserted byte that equals its neighbour is one that came twice.
        assert_eq!(counts.stray + counts.duplicated, added, "{printed}");
        if fault == "duplicate" {
            assert_eq!(counts.duplicated % 1000, 0, "{printed}");
            let again = counts.duplicated / 1000;
            assert!((struck - 1..=struck).contains(&again), "{printed}");
        }
        let corrupted = if fault == "corrupt" { struck } else { 0 };
        assert_eq!(counts.corrupted, corrupted, "{printed}");
    }
    for flow in run.of(Way::Out) {
        assert!(!flow.counts.is_damaged(), "{:?}", flow.counts);
    }
}

const FAULTS: [&str; 5] = ["lose-byte", "drop", "corrupt", "insert-byte", "duplicate"];

#[test]
fn what_goes_wrong_is_counted_to_the_byte() {
    for fault in FAULTS {
        assert_counted("tcp://:0", fault, "in");
    }
}

#[test]
fn what_goes_wrong_one_way_leaves_the_other_alone() {
    for fault in FAULTS {
        assert_counted("pty:", fault, "both");
    }
}

#[test]
fn bytes_that_are_only_counted_show_what_is_missing_and_no_more() {
    let desk = Desk::new();
    let server = desk.serve("pty: --lose-byte every=50");
    let flags = format!("--direction in --transfer 1000 --no-check {SHORT}");
    let run = desk.stream(&server.address, &flags);
    let flow = run.of(Way::In)[0];
    let device = flow.device.expect("a report");
    let (sent, received, lost) = both_ends(&flow.counts);
    assert_eq!(sent, device.bytes);
    assert_eq!(lost, device.transfers / 50, "{:?}", flow.counts);
    assert_eq!(sent, received + lost);
    let server = desk.serve("tcp://:0");
    let flags = format!("--direction in,both --transfer 1000 --no-check {SHORT}");
    desk.stream(&server.address, &flags).is_clean();
}

#[test]
fn the_rate_is_that_of_the_rows() {
    let desk = Desk::new();
    let server = desk.serve("pty:");
    let run = desk.stream(
        &server.address,
        "--transfer 4k --duration 400ms --settle 100ms --timeout 10s --rate 10kB/s,10GB/s",
    );
    for (_, flow) in run.flows() {
        let rate = flow.rate.as_ref().expect("a rate").value;
        let by_hand = flow.bytes as f64 / 0.4;
        assert!((rate / by_hand - 1.0).abs() < 0.25, "{rate} and {by_hand}");
        assert!(flow.cpu_ns_per_mb > 0.0);
        let [slow, fast] = &flow.buffers[..] else {
            panic!("{:?}", flow.buffers)
        };
        assert!(slow.sustained && slow.worst_bytes > 0, "{slow:?}");
        assert!(!fast.sustained, "{fast:?}");
    }
}

#[test]
fn the_null_link_streams_without_a_device() {
    let desk = Desk::new();
    let flags = format!("--direction in,out,both --transfer 16k --queue 1,4 {SHORT}");
    let run = desk.stream("null://", &flags);
    assert_eq!(run.file.points.len(), 6);
    for (point, flow) in run.flows() {
        assert!(
            !flow.counts.is_damaged() && flow.bytes > 0,
            "{:?}",
            flow.counts
        );
        assert!(flow.achieved_queue <= f64::from(point.point.queue));
        assert_eq!(flow.device, None);
    }
}

#[test]
fn a_stored_run_is_shown_listed_and_exported() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let printed = desk.output(&format!(
        "stream {} {SHORT} --direction both --full",
        server.address
    ));
    has_all(
        &printed,
        &[
            "Rates",
            "MB/s",
            "by device",
            "IN (both)",
            "Counted at both ends",
        ],
    );
    assert!(desk.output("show last").contains("0 bytes lost"));
    assert!(
        desk.output("show last --full")
            .contains("Counted at both ends")
    );
    let listed = desk.json("runs --json");
    assert_eq!(
        (&listed[0]["kind"], &listed[0]["points"]),
        (&"stream".into(), &1.into())
    );
    let shown = desk.json("show last --json");
    let flow = &shown["points"][0]["flows"][0];
    assert_eq!(flow["way"], "in");
    assert_eq!(flow["counts"]["sent"], flow["counts"]["received"]);
    assert!(desk.output("export last --csv").lines().count() > 100);
}

#[test]
fn limits_decide_the_exit_code() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let run = |limits: &[&str]| {
        let limits: String = limits.iter().map(|l| format!(" --require {l}")).collect();
        let flags = format!("--direction in {SHORT} --no-store{limits}");
        let mut command = desk.command(&format!("stream {} {flags}", server.address));
        common::Background::start(&mut command).ended()
    };
    let kept = ["lost=0", "gap.max<20s"];
    assert_eq!(run(&kept).code, Some(0));
    for missed in ["lost>0", "transfer.max<1ns", "used<50%"] {
        let ended = run(&["lost=0", missed]);
        assert_eq!(ended.code, Some(1), "{missed}: {ended}");
        // The limit, what was measured, and where: one line.
        let line = format!("limit missed: {missed}: ");
        let line = ended.stderr.lines().find(|found| found.starts_with(&line));
        let found = line.unwrap_or_else(|| panic!("{missed}: {ended}"));
        let ends = found.ends_with(" (IN, transfers of 4,096 B, queue 1)");
        assert!(ends, "{found}");
        // Only the limit of a TCP link is unknown.
        let is_unknown = missed.starts_with("used");
        assert_eq!(found.contains("not measured"), is_unknown, "{found}");
    }
}

#[test]
fn two_links_stream_alone_and_then_together() {
    let desk = Desk::new();
    let (first, second) = (desk.serve("tcp://:0"), desk.serve("pty:"));
    let addresses = format!("{} {}", first.address, second.address);
    let run = desk.stream(&addresses, &format!("--direction in,both {SHORT}"));
    run.is_clean();
    let mut points: Vec<(u32, bool, Direction)> = Vec::new();
    for summary in &run.file.points {
        points.push((
            summary.point.link,
            summary.point.together,
            summary.point.direction,
        ));
    }
    points.sort_by_key(|point| (point.1, point.0));
    let (both, in_) = (Direction::Both, Direction::In);
    let alone = [
        (0, false, in_),
        (0, false, both),
        (1, false, in_),
        (1, false, both),
    ];
    let together = [
        (0, true, in_),
        (0, true, both),
        (1, true, in_),
        (1, true, both),
    ];
    assert_eq!(points, [alone, together].concat());
    let further = &run.file.conditions.more_links;
    assert!(further[0].responder.is_some(), "{further:?}");
    assert!(
        desk.output("show last --full")
            .contains("Links alone and together")
    );
}

#[test]
fn two_links_exchange_alone_and_then_together() {
    let desk = Desk::new();
    let (first, second) = (desk.serve("tcp://:0"), desk.serve("pty:"));
    let addresses = format!("{} {}", first.address, second.address);
    let run = desk.measure(&addresses, "--in 48,500 --count 200");
    run.is_clean();
    let ran = |link, together| {
        let points = run.file.points.iter();
        let points = points.filter(|p| p.point.link == link && p.point.together == together);
        points.map(|p| p.counts.answered).collect::<Vec<_>>()
    };
    for (link, together) in [(0, false), (1, false), (0, true), (1, true)] {
        assert_eq!(
            ran(link, together),
            [200, 200],
            "link {link}, together {together}"
        );
    }
    assert!(
        desk.output("show last --full")
            .contains("alone and together")
    );
}

#[test]
fn a_pipe_made_by_others_changes_nothing() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let tty = desk.text("tty");
    let ends = [
        format!("PTY,link={tty},raw,echo=0,wait-slave"),
        format!("TCP:{}", server.host_port()),
    ];
    let pipe = Server::socat(&desk, &[&ends[0], &ends[1]], "PTY is ", |_| {
        format!("serial://{tty}")
    });
    let flags = format!("--direction both --transfer 100,4k {SHORT}");
    desk.stream(&pipe.address, &flags).is_clean();
}

#[test]
fn a_device_on_a_modelled_bus_reports_its_packets_and_naks_and_other_devices_do_not() {
    let desk = Desk::new();
    let trace = desk.text("bus.pcapng");
    let server = desk.serve(&format!(
        "pty: --bus full-speed --device-time 300us --trace {trace}"
    ));
    let flags = "--direction out --transfer 256 --duration 300ms --settle 100ms --timeout 10s";
    let run = desk.stream(&server.address, flags);
    run.is_clean();
    let flow = &run.file.points[0].flows[0];
    let bus = flow.device.and_then(|device| device.bus);
    let bus = bus.expect("the counts of the modelled bus");
    // Four packets a transfer of 256 B, and more where the pty hands over a part of one.
    let received = flow.counts.received.expect("it reports");
    let packets = received.div_ceil(64)..=received;
    assert!(packets.contains(&bus.packets), "{bus:?} {received}");
    assert!(bus.naks > 0 && bus.not_ready_ns > 0, "{bus:?}");
    assert!(bus.packets_ns + bus.naks_ns <= bus.elapsed_ns, "{bus:?}");
    // The file is whole once the server has ended.
    server.process.signal(Signal::INT);
    assert_eq!(server.process.ended().code, Some(0));
    let explained = desk.json(&format!("explain {trace} --json"));
    let endpoints = explained["endpoints"].as_array().expect("endpoints");
    let out = endpoints.iter().find(|one| one["endpoint"] == 1);
    let naks = out.expect("OUT")["counts"]["naks"].as_u64();
    let naks = naks.expect("a number");
    // The trace has those of the requests before and after the stream, too.
    assert!(bus.naks <= naks && naks <= bus.naks + 200, "{bus:?} {naks}");
    let server = desk.serve("tcp://:0");
    let run = desk.stream(&server.address, flags);
    let device = run.file.points[0].flows[0].device.expect("a report");
    assert_eq!(device.bus, None);
}
