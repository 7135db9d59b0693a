//! Exchanges over every kind of link, at the sizes and depths where things could break.

use crate::common;

use common::{Desk, Server};
use wiregauge_record::PointSummary;

/// Where to serve one of each kind of link that has another end.
fn every_kind(desk: &Desk) -> [(&'static str, String); 4] {
    [
        ("tcp", "tcp://:0".into()),
        ("udp", "udp://:0".into()),
        ("unix", format!("unix://{}", desk.text("socket"))),
        ("pty", format!("pty:{}", desk.text("tty"))),
    ]
}

fn on_every_kind(test: impl Fn(&Desk, &str, &Server)) {
    let desk = Desk::new();
    for (kind, address) in every_kind(&desk) {
        let server = desk.serve(&address);
        test(&desk, kind, &server);
    }
}

#[test]
fn every_kind_of_link_answers_every_exchange() {
    on_every_kind(|desk, _, server| {
        let run = desk.measure(&server.address, "--count 300");
        run.is_clean();
        assert_eq!(run.counts().exchanges, 300);
        let point = run.point();
        assert!(point.rtt.is_some() && point.trt.is_some() && point.first_rtt_ns.is_some());
        assert!(point.connect.is_none() && point.access.is_none() && point.transfer.is_none());
        assert_eq!((point.point.out_bytes, point.point.in_bytes), (16, 48));
        assert_eq!(run.file.plan.address, server.address);
    });
}

#[test]
fn every_kind_of_link_echoes_from_one_byte_on() {
    let desk = Desk::new();
    for (_, address) in every_kind(&desk) {
        let server = desk.serve(&format!("{address} --protocol echo"));
        let run = desk.measure(
            &server.address,
            "--protocol echo --out 1,2,3,5,64,1000 --count 60",
        );
        run.is_clean();
        assert_eq!(run.file.points.len(), 6);
        assert!(
            run.rows
                .iter()
                .all(|row| row.bytes_sent == row.bytes_received)
        );
        assert!(run.file.points.iter().all(|point| point.device.is_none()));
    }
}

#[test]
fn the_null_link_measures_the_tool_alone() {
    let desk = Desk::new();
    let run = desk.measure("null://", "--count 500 --out 1,64,100k --depth 1,8");
    run.is_clean();
    assert_eq!(run.file.points.len(), 6);
}

#[test]
fn requests_and_responses_have_sizes_of_their_own() {
    on_every_kind(|desk, _, server| {
        let run = desk.measure(&server.address, "--out 16,500 --in 32,33,4000 --count 40");
        run.is_clean();
        let sizes: Vec<(u32, u32)> = run
            .file
            .points
            .iter()
            .map(|point| (point.point.out_bytes, point.point.in_bytes))
            .collect();
        assert_eq!(
            sizes,
            [
                (16, 32),
                (16, 33),
                (16, 4000),
                (500, 32),
                (500, 33),
                (500, 4000)
            ]
        );
        for row in &run.rows {
            let (out_bytes, in_bytes) = sizes[row.point as usize];
            assert_eq!((row.bytes_sent, row.bytes_received), (out_bytes, in_bytes));
        }
    });
}

#[test]
fn the_device_reports_its_own_time_within_the_round_trip() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --service-time 2ms");
    let run = desk.measure(&server.address, "--count 50");
    let point = run.point();
    let device = point.device.as_ref().expect("the responder has a clock");
    let rtt = point.rtt.as_ref().expect("it answered");
    assert!(device.min >= 2e6, "{device:?}");
    assert!(device.min <= rtt.max, "{device:?} {rtt:?}");
}

#[test]
fn a_link_opened_for_each_exchange_has_three_times_of_its_own() {
    on_every_kind(|desk, kind, server| {
        let run = desk.measure(
            &server.address,
            "--connect each --count 60 --out 100 --in 3000",
        );
        run.is_clean();
        let point = run.point();
        let [connect, access, transfer] =
            [&point.connect, &point.access, &point.transfer].map(|times| {
                times
                    .as_ref()
                    .unwrap_or_else(|| panic!("missing on {kind}"))
            });
        assert_eq!([connect.n, access.n, transfer.n], [60; 3]);
        let rtt = point.rtt.as_ref().expect("it answered");
        assert!(
            access.min > 0.0 && access.max <= rtt.max && connect.min > 0.0,
            "{kind}"
        );
    });
}

#[test]
fn depth_from_1_to_1024_is_kept_on_every_kind() {
    on_every_kind(|desk, kind, server| {
        let run = desk.measure(&server.address, "--depth 1,2,4,16,1024 --count 2200");
        if kind == "udp" {
            // A datagram may be lost where a thousand are under way at once.
            run.accounts_for_every_exchange();
        } else {
            run.is_clean();
        }
        for point in &run.file.points {
            let depth = point.point.depth;
            let of_this = run.rows.iter().filter(|row| row.point == point.point.index);
            let most = of_this.map(|row| row.outstanding).max();
            assert_eq!(most, Some(depth), "{kind}");
            assert_achieved(point);
        }
    });
}

/// Mean depth: never more than was asked for, and more than one where more was asked for.
fn assert_achieved(point: &PointSummary) {
    let (asked, achieved) = (f64::from(point.point.depth), point.achieved_depth);
    assert!(
        achieved <= asked * 1.001,
        "{achieved} outstanding at depth {asked}"
    );
    assert!(
        achieved > asked.min(16.0) * 0.2,
        "{achieved} outstanding at depth {asked}"
    );
}

#[test]
fn the_first_exchange_of_each_point_is_alone_whatever_the_depth() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let run = desk.measure(&server.address, "--depth 8,64 --count 100");
    let first: Vec<_> = run.rows.iter().filter(|row| row.phase == "first").collect();
    assert_eq!(first.len(), 2);
    assert!(
        first
            .iter()
            .all(|row| row.sequence == 0 && row.outstanding == 1)
    );
}

#[test]
fn no_deadlock_where_requests_and_responses_exceed_the_buffers() {
    let desk = Desk::new();
    let unix = format!("unix://{}", desk.text("socket"));
    // A tty holds 4096 B; 64 MiB each way are more than sockets hold.
    let sockets = "--depth 1024 --out 64k --in 64k --count 1100";
    let echo = "--protocol echo --depth 256 --out 100k --count 300";
    for (serve, flags) in [
        ("pty:", "--depth 64 --out 8000 --in 8000 --count 300"),
        ("tcp://:0", sockets),
        (unix.as_str(), sockets),
        ("tcp://:0 --protocol echo", echo),
    ] {
        let server = desk.serve(serve);
        let run = desk.measure(&server.address, &format!("{flags} --timeout 20s"));
        run.is_clean();
    }
}

#[test]
fn one_request_may_be_larger_than_any_buffer() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --max-size 16M");
    let run = desk.measure(
        &server.address,
        "--out 16,16M --in 32,16M --count 1 --timeout 20s",
    );
    run.is_clean();
}

#[test]
fn every_way_of_waiting_measures_the_same_exchanges() {
    on_every_kind(|desk, kind, server| {
        for wait in ["block", "poll", "spin"] {
            let run = desk.measure(
                &server.address,
                &format!("--wait {wait} --count 100 --depth 1,4"),
            );
            run.is_clean();
            let points = run.file.points.iter();
            let slept = points.map(|point| point.resources.voluntary_switches);
            // A read of a tty waits for the kernel's own worker, however it was opened.
            if wait == "spin" && kind != "pty" {
                assert!(slept.sum::<u64>() < 100, "a spinning thread slept: {kind}");
            }
        }
    });
}

#[test]
fn wishes_for_the_host_and_the_link_are_granted_and_kept_with_the_run() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let allowed = rustix::thread::sched_getaffinity(None).expect("the processors allowed");
    let cpu = (0..1024)
        .find(|&cpu| allowed.is_set(cpu))
        .expect("one at least");
    let flags = format!("--quick-ack --pin {cpu} --host-load cpu=1,memory=1 --count 50");
    let run = desk.measure(&server.address, &flags);
    run.is_clean();
    let plan = &run.file.plan;
    assert!(plan.link.quick_ack);
    assert_eq!(plan.host.pin, Some(cpu as u32));
    assert_eq!((plan.host.load.cpu, plan.host.load.memory), (1, 1));
}
