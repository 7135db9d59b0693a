//! Streams whose host counts more than the device or the limit: the rate is that at which bytes arrived.

use crate::common;
use crate::golden::warned;
use crate::warnings::slower_in_the_end;

use common::{full_speed, stream_plan, stream_point, stream_run};
use wiregauge_record::{BusLimit, DeviceCount, Direction, Transfer, Way};
use wiregauge_report::tables;
use wiregauge_run::{AnyRun, RunFile, Stream};

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

#[test]
fn the_rate_of_a_stream_out_of_which_bytes_were_lost_is_that_at_which_it_arrived() {
    let mut file = slow_device(1.0, false);
    let flow = &mut file.points[0].flows[0];
    let sent = flow.rate.expect("a rate").value / 1e6;
    let counts = &mut flow.counts;
    (counts.sent, counts.received, counts.lost) = (Some(1_000), Some(750), Some(250));
    let brief = tables::of_stream(&file).brief.expect("an answer");
    assert!(brief.answer.contains(" received of "), "{}", brief.answer);
    let table = brief.tables(usize::MAX).next().expect("a table");
    let cell = |name: &str| {
        let at = table.columns.iter().position(|head| head == name);
        table.rows[0][at.expect("a column")].clone()
    };
    let rate: f64 = cell("MB/s").trim_end_matches(" ~").parse().expect("a rate");
    assert!((rate / (sent * 0.75) - 1.0).abs() < 0.01, "{rate} {sent}");
    assert!(!cell("sent").is_empty());
}
