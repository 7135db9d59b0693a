//! Warnings name only causes and remedies that the samples support; what was lost or counted stays in table and finding.

use crate::common;
use crate::golden::warned;
use crate::warnings::slower_in_the_end;

use common::{full_speed, late_by_both, late_run, plan, stream_plan, stream_point, stream_run};
use wiregauge_record::{BusLimit, DeviceCount, Direction, Transfer, Way};
use wiregauge_report::tables;
use wiregauge_run::{AnyRun, RunFile, Stream};

#[test]
fn of_late_starts_by_both_causes_each_is_counted() {
    let dir = tempfile::tempdir().expect("a directory");
    let run = late_run(&dir.path().join("run"), &plan(1), late_by_both);
    let text = warned(&tables::of(&run, false).warnings, "W06");
    let by_host = (100..=1000).step_by(20).count();
    let expected = format!(" waited for earlier ones; the host started the other {by_host} late");
    assert!(text.contains(&expected), "{text}");
    // All of them are counted once.
    assert_eq!(text.matches("more than a period late").count(), 1, "{text}");
}

fn stream_file(run: &AnyRun) -> RunFile<Stream> {
    let run = run.as_kind::<Stream>();
    run.expect("a stream run").file.clone()
}

/// W17 of a stream whose host's count is 1.2 times the limit, and the device's count this part of it.
pub fn over_limit(device: Option<f64>) -> String {
    let dir = tempfile::tempdir().expect("a directory");
    let plan = stream_plan(vec![stream_point(0, Direction::In)]);
    let run = stream_run(&dir.path().join("run"), &plan, |_| {
        slower_in_the_end(25_000)
    });
    let mut file = stream_file(&run);
    let flow = &mut file.points[0].flows[0];
    let bytes_s = flow.rate.as_mut().map_or(0.0, |rate| {
        (rate.low, rate.high) = (Some(rate.value * 0.99), Some(rate.value * 1.01));
        rate.value
    }) / 1.2;
    flow.limit = Some(BusLimit {
        bytes_s,
        shared: false,
        ..full_speed(1.2)
    });
    flow.device = device.map(|part| DeviceCount {
        bytes: (bytes_s * part) as u64,
        transfers: 1_000_000,
        overruns: 0,
        elapsed_ns: 1_000_000_000,
        bus: None,
    });
    warned(&tables::of_stream(&file).warnings, "W17")
}

/// A stream OUT whose device received at this part of the host's rate, and was or was not still receiving when the host
/// had sent everything.
pub fn slow_device(part: f64, receives_on: bool) -> RunFile<Stream> {
    let dir = tempfile::tempdir().expect("a directory");
    let plan = stream_plan(vec![stream_point(0, Direction::Out)]);
    let run = stream_run(&dir.path().join("run"), &plan, |_| {
        slower_in_the_end(25_000).map(|transfer| Transfer {
            way: Way::Out,
            ..transfer
        })
    });
    let mut file = stream_file(&run);
    file.plan.rates_bytes_s.clear();
    let point = &mut file.points[0];
    let sending_ns = plan.settle_ns + point.elapsed_ns;
    let flow = &mut point.flows[0];
    let received = part * flow.rate.expect("a rate").value;
    let elapsed_ns = if receives_on {
        (sending_ns as f64 / part) as u64
    } else {
        sending_ns
    };
    flow.device = Some(DeviceCount {
        bytes: (received * elapsed_ns as f64 / 1e9) as u64,
        transfers: 1_000_000,
        overruns: 0,
        elapsed_ns,
        bus: None,
    });
    file
}

/// The first sentence, and the cells of the only row.
fn rate_of(file: &RunFile<Stream>) -> (String, Vec<(String, String)>) {
    let brief = tables::of_stream(file).brief.expect("an answer");
    let table = brief.tables(usize::MAX).next().expect("a table");
    let cells = table.columns.into_iter().zip(table.rows[0].clone());
    (brief.answer.clone(), cells.collect())
}

#[test]
fn the_rate_of_a_stream_out_is_that_at_which_it_arrived() {
    let shown = |text: &str| -> f64 { text.trim_end_matches(" ~").parse().expect("a number") };
    let near = |file: &RunFile<Stream>, part: f64| {
        let sent = file.points[0].flows[0].rate.expect("a rate").value / 1e6;
        let (answer, cells) = rate_of(file);
        let cell = |name: &str| {
            let found = cells.iter().find(|(head, _)| head == name);
            found.map(|(_, cell)| shown(cell))
        };
        let rate = cell("MB/s").expect("a rate");
        assert!((rate / (sent * part) - 1.0).abs() < 0.01, "{rate} {sent}");
        let is_less = part < 1.0;
        assert_eq!(cell("sent").is_some(), is_less, "{cells:?}");
        assert_eq!(answer.contains(" received of "), is_less, "{answer}");
    };
    // Buffers on the way were still filling.
    near(&slow_device(0.4, true), 0.4);
    near(&slow_device(0.97, true), 1.0);
    // Bytes were lost, as over UDP.
    let mut lossy = slow_device(1.0, false);
    let counts = &mut lossy.points[0].flows[0].counts;
    (counts.sent, counts.received, counts.lost) = (Some(1_000), Some(750), Some(250));
    near(&lossy, 0.75);
}
