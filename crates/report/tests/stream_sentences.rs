//! First sentences and warnings of made-up stream runs that differ in one thing, each below the name of its case;
//! held to the files in `snapshots/`.

use crate::causes::{over_limit, slow_device};
use crate::common;
use crate::golden::{all_warnings, first_sentence, hold_cases, warned};
use crate::warnings::slower_in_the_end;

use common::*;
use wiregauge_record::*;
use wiregauge_report::tables::{self, Tables};
use wiregauge_run::{AnyRun, RunFile, Stream};
use wiregauge_stats::Estimate;

/// First sentence and warning about a rate above the limit, or about a host that is ahead of its device.
fn of_streams(file: &RunFile<Stream>) -> String {
    let tables = tables::of_stream(file);
    let warning = warned(&tables.warnings, "W17");
    format!("{}\n{warning}", first_sentence(tables))
}

/// A stream IN and its tables, after it was changed.
fn stream_in(
    transfers: impl Iterator<Item = Transfer>,
    change: impl FnOnce(&mut RunFile<Stream>),
) -> Tables {
    let dir = tempfile::tempdir().expect("a directory");
    let plan = stream_plan(vec![stream_point(0, Direction::In)]);
    let mut transfers = Some(transfers);
    let run = stream_run(&dir.path().join("run"), &plan, |_| {
        transfers.take().expect("one point")
    });
    let AnyRun::Stream(mut run) = run else {
        panic!("not a stream run")
    };
    change(&mut run.file);
    tables::of_stream(&run.file)
}

#[test]
fn rates_of_streams() {
    let limited = |has_device: bool| {
        let mut file = slow_device(0.4, true);
        let flow = &mut file.points[0].flows[0];
        flow.limit = Some(BusLimit {
            bytes_s: flow.rate.expect("a rate").value,
            shared: false,
            ..full_speed(1.0)
        });
        flow.device = flow.device.filter(|_| has_device);
        of_streams(&file)
    };
    let changed = stream_in(slower_in_the_end(25_000), |_| ());
    let empty = stream_in(transfers(stream_point(0, Direction::In), 5, 1), |file| {
        let counts = &mut file.points[0].flows[0].counts;
        (counts.received, counts.sent) = (Some(2_867_000), Some(2_867_000));
    });
    let cases = [
        ("above the limit, device below", over_limit(Some(0.98))),
        ("above the limit, device too", over_limit(Some(1.04))),
        ("above the limit, without a device", over_limit(None)),
        ("the limit is that of the host", limited(true)),
        ("the limit, without a device", limited(false)),
        ("buffers fill", of_streams(&slow_device(0.4, true))),
        ("losses", of_streams(&slow_device(0.4, false))),
        ("3 % slower", of_streams(&slow_device(0.97, true))),
        ("a rate that changed", all_warnings(&changed)),
        ("no transfer was measured", first_sentence(empty)),
    ];
    for (_, text) in &cases[1..3] {
        assert!(!text.contains("Use the rate measured by the device"));
    }
    assert!(!cases[9].1.contains("0 bytes lost"));
    hold_cases("answers_streams", &cases);
}

#[test]
fn buffers_of_streams() {
    let buffer = |observable_loss: f64, bytes: Option<f64>| {
        let point = stream_point(0, Direction::In);
        let tables = stream_in(transfers(point, 5_000, 1), |file| {
            let point = &mut file.points[0];
            point.elapsed_ns = 2_000_000_000;
            let need = &mut point.flows[0].buffers[0];
            need.loss = 1e-6;
            need.for_loss_bytes = bytes.map(|value| Estimate {
                value,
                low: None,
                high: None,
            });
            need.extrapolated = bytes.is_some();
            need.observable_loss = observable_loss;
        });
        let brief = tables.brief.expect("an answer");
        let table = brief.tables(usize::MAX).nth(1).expect("buffers");
        format!("{}\n{}\n{}", brief.answer, table.title, table.text())
    };
    let cases = [
        ("a longer run would tell", buffer(9.4e-4, None)),
        ("no run would tell", buffer(0.9, None)),
        ("extrapolated", buffer(9.4e-4, Some(45_000.4))),
    ];
    hold_cases("answers_buffers", &cases);
}

#[test]
fn a_link_that_loses_more_than_the_wanted_loss_has_no_buffer_for_it() {
    let point = stream_point(0, Direction::In);
    let tables = stream_in(transfers(point, 5_000, 1), |file| {
        let flow = &mut file.points[0].flows[0];
        (flow.counts.sent, flow.counts.lost) = (Some(1_000_000), Some(25_000));
        let need = &mut flow.buffers[0];
        need.loss = 1e-2;
        need.for_loss_bytes = Some(Estimate {
            value: 499.0,
            low: None,
            high: None,
        });
    });
    let brief = tables.brief.expect("an answer");
    let said = &brief.answer;
    assert!(
        said.contains("no buffer is known for a loss of 1e-2, as 2.") && !said.contains("499 B"),
        "{said}"
    );
    let table = brief.tables(usize::MAX).nth(1).expect("buffers");
    assert!(
        table
            .title
            .contains("unknown: takes a link that loses less")
    );
    assert!(!table.text().contains("499"));
}

#[test]
fn warnings_of_several_points() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut points: Vec<StreamPoint> = (0..3).map(|i| stream_point(i, Direction::In)).collect();
    points[2].queue = 4;
    let mut stream = stream_run(&dir.path().join("stream"), &stream_plan(points), |point| {
        transfers(point, 3_000, 1)
    });
    if let AnyRun::Stream(stored) = &mut stream {
        for point in &mut stored.file.points[1..] {
            point.ending = Ending::Interrupted;
        }
    }
    let points = [0, 1, 4].map(|index| loop_point(index, None)).to_vec();
    let closed = loop_run(&dir.path().join("loop"), &loop_plan(points), |point| {
        let n = match point.index {
            0 => 31,
            1 => 5_000,
            _ => 306,
        };
        blocks(point, n, 1)
    });
    let said = |run: &AnyRun| all_warnings(&tables::of(run, true));
    let cases = [
        ("a stream of which two were cut short", said(&stream)),
        ("a loop with few blocks at two points", said(&closed)),
    ];
    hold_cases("warnings_of_several_points", &cases);
}
