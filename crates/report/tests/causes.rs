//! Warnings name only causes and remedies that the samples support; what was lost or counted stays in table and finding.

use crate::common;
use crate::warnings::{BOARD, answered, echo, lines, slower_in_the_end};

use common::{exchange, exchange_run, plan, stream_plan, stream_point, stream_run};
use wiregauge_record::{
    BusLimit, DeviceCount, Direction, Disturbance, Ending, Plan, Point, Protocol, Queries, Query,
    ReplyEnd, Sample, Schedule, Transfer, Way,
};
use wiregauge_report::tables;
use wiregauge_run::{AnyRun, RunFile, Stream};

/// The warning W06 of a run of one point with this depth, one exchange every 100 us.
fn behind(depth: u32, sample: impl Fn(u64) -> (u64, u64)) -> String {
    behind_by(plan(1), depth, sample)
}

/// Of this plan.
fn behind_by(plan: Plan, depth: u32, sample: impl Fn(u64) -> (u64, u64)) -> String {
    let dir = tempfile::tempdir().expect("a directory");
    let plan = Plan {
        schedule: Schedule::EveryNs(100_000),
        points: vec![Point {
            depth,
            ..plan.points[0]
        }],
        ..plan
    };
    let run = exchange_run(&dir.path().join("run"), &plan, |_| {
        let samples = (0..=1000_u64).map(|sequence| {
            let (late_ns, rtt_ns) = sample(sequence);
            Sample {
                intended_ns: sequence * 100_000,
                start_ns: sequence * 100_000 + late_ns,
                rtt_ns,
                ..exchange(sequence)
            }
        });
        let mut samples: Vec<Sample> = samples.collect();
        samples.sort_by_key(|sample| sample.start_ns + sample.rtt_ns);
        samples.into_iter()
    });
    let warnings = tables::of(&run, false).warnings;
    let behind = warnings.iter().find(|warning| warning.code == "W06");
    behind.expect("a warning").to_string()
}

#[test]
fn a_schedule_that_the_host_did_not_keep_is_not_blamed_on_the_depth() {
    // Every tenth is sent 500 us late, with those that were due meanwhile; 5 are outstanding at most.
    let text = behind(8, |sequence| match sequence % 10 {
        at @ 0..5 => (500_000 - at * 100_000, 20_000),
        _ => (0, 20_000),
    });
    assert!(text.contains("the host started them late"), "{text}");
    assert!(!text.contains("--interval"), "{text}");
    assert!(text.contains("--priority"), "{text}");
}

#[test]
fn a_schedule_that_the_depth_did_not_allow_names_the_depth() {
    // Each starts when the one before has ended, after 101 us.
    let text = behind(1, |sequence| (sequence * 1_000, 101_000));
    let waited = ": exchanges waited for earlier ones. Use the table from the intended start; try a higher --depth or a \
                  longer --interval.";
    assert!(text.ends_with(waited), "{text}");
}

#[test]
fn a_query_that_waits_for_the_silence_after_a_reply_is_not_started_late_by_the_host() {
    // A reply ends after 150 us of silence, so each starts 20 + 150 us after the one before.
    let silent = Plan {
        protocol: Protocol::Text,
        queries: Some(Queries {
            list: vec![Query {
                name: "READ?".into(),
                bytes: b"READ?\n".to_vec(),
            }],
            reply: ReplyEnd::IdleNs(150_000),
            expect: None,
        }),
        ..plan(1)
    };
    let text = behind_by(silent, 1, |sequence| (sequence * 70_000, 20_000));
    assert!(
        text.contains(": exchanges waited for earlier ones."),
        "{text}"
    );
}

#[test]
fn of_late_starts_by_both_causes_each_is_counted() {
    // One of 2,000 us, during which 19 were due; then the host was late by itself with every twentieth of the rest.
    let text = behind(1, |sequence| match sequence {
        0..100 if sequence % 50 == 0 => (0, 2_000_000),
        0..100 => (2_000_000 - sequence % 50 * 40_000, 1_000),
        _ if sequence % 20 == 0 => (150_000, 1_000),
        _ => (0, 1_000),
    });
    let (_, count) = text.split_once(": of ").expect("counts");
    let (late, rest) = count
        .split_once(" that started more than a period late, ")
        .expect("late ones");
    let (waited, _) = rest
        .split_once(" waited for earlier ones;")
        .expect("waited");
    let (late, waited): (u64, u64) = (late.parse().unwrap(), waited.parse().unwrap());
    assert_eq!(
        late - waited,
        (100..=1000).step_by(20).count() as u64,
        "{text}"
    );
}

/// W17 of a stream whose host's count is 1.2 times the limit, and the device's count this part of it.
fn over_limit(device: Option<f64>) -> String {
    let dir = tempfile::tempdir().expect("a directory");
    let plan = stream_plan(vec![stream_point(0, Direction::In)]);
    let run = stream_run(&dir.path().join("run"), &plan, |_| {
        slower_in_the_end(25_000)
    });
    let AnyRun::Stream(run) = run else {
        panic!("a stream run")
    };
    let mut file = run.file;
    let flow = &mut file.points[0].flows[0];
    let bytes_s = flow.rate.as_mut().map_or(0.0, |rate| {
        (rate.low, rate.high) = (Some(rate.value * 0.99), Some(rate.value * 1.01));
        rate.value
    }) / 1.2;
    flow.limit = Some(BusLimit {
        bytes_s,
        shared: false,
        source: "USB full-speed bulk".into(),
        used: 1.2,
    });
    flow.device = device.map(|part| DeviceCount {
        bytes: (bytes_s * part) as u64,
        transfers: 1_000_000,
        overruns: 0,
        elapsed_ns: 1_000_000_000,
        bus: None,
    });
    let warnings = tables::of_stream(&file).warnings;
    let over = warnings.iter().find(|warning| warning.code == "W17");
    over.unwrap_or_else(|| panic!("W17: {warnings:?}"))
        .to_string()
}

#[test]
fn a_rate_above_the_limit_is_not_referred_to_a_device_that_counted_more_than_it_as_well() {
    let within = over_limit(Some(0.98));
    assert!(
        within.contains("The share of the limit is that of the device's count"),
        "{within}"
    );
    let above = over_limit(Some(1.04));
    assert!(
        !above.contains("Use the rate measured by the device"),
        "{above}"
    );
    let unknown = over_limit(None);
    for text in [&above, &unknown] {
        let says = "Not every rate here is certain to be that of the wire.";
        assert!(text.contains(says), "{text}");
    }
    for text in [within, above, unknown] {
        assert!(text.contains("120 % of the limit"), "{text}");
        assert!(
            text.ends_with("try a longer --settle and --duration."),
            "{text}"
        );
    }
}

#[test]
fn a_longer_timeout_is_proposed_only_where_an_answer_came_after_it() {
    let of = |late| {
        let mut file = echo(BOARD, &[&answered], 0);
        let counts = &mut file.points[0].counts;
        (counts.lost, counts.late) = (3 - late, late);
        lines(&file, "W01").concat()
    };
    assert!(!of(0).contains("a longer --timeout"), "{}", of(0));
    assert!(
        of(0).contains("no answer came after the timeout"),
        "{}",
        of(0)
    );
    assert!(of(1).contains("a longer --timeout"), "{}", of(1));
}

#[test]
fn time_that_the_hypervisor_took_is_not_said_to_be_the_cause_of_the_tails() {
    let mut file = echo(BOARD, &[&answered], 0);
    file.points[0].disturbances = vec![Disturbance::Steal { share: 0.0066 }];
    let text = lines(&file, "W07").concat();
    assert!(!text.contains("caused by this host"), "{text}");
    assert!(text.contains("the tails include such delays"), "{text}");
}

#[test]
fn the_time_waited_for_a_cpu_is_called_a_sum() {
    let mut file = echo(BOARD, &[&answered, &answered], 0);
    let waited = |times, waited_ns| vec![Disturbance::Preempted { times, waited_ns }];
    file.points[0].disturbances = waited(1_234, 106_000_000);
    let text = lines(&file, "W07").concat();
    let sum = "waited for a CPU 106.0 ms in total and was preempted 1,234 times";
    assert!(text.contains(sum), "{text}");
    file.points[1].disturbances = waited(1, 7_000_000);
    let text = lines(&file, "W07").concat();
    assert!(
        text.contains("7.000 to 106.0 ms in total and was preempted 1 to 1,234 times"),
        "{text}"
    );
}

/// A stream OUT whose device received at this part of the host's rate, and was or was not still receiving when the host
/// had sent everything.
fn slow_device(part: f64, receives_on: bool) -> RunFile<Stream> {
    let dir = tempfile::tempdir().expect("a directory");
    let plan = stream_plan(vec![stream_point(0, Direction::Out)]);
    let run = stream_run(&dir.path().join("run"), &plan, |_| {
        slower_in_the_end(25_000).map(|transfer| Transfer {
            way: Way::Out,
            ..transfer
        })
    });
    let AnyRun::Stream(run) = run else {
        panic!("a stream run")
    };
    let mut file = run.file;
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

/// W17 of that stream.
fn ahead(part: f64, receives_on: bool) -> String {
    let warnings = tables::of_stream(&slow_device(part, receives_on)).warnings;
    let ahead = warnings.iter().find(|warning| warning.code == "W17");
    ahead.map_or(String::new(), ToString::to_string)
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

#[test]
fn the_share_of_the_limit_in_the_first_sentence_is_that_of_its_rate() {
    let mut file = slow_device(0.4, true);
    let flow = &mut file.points[0].flows[0];
    let sent = flow.rate.expect("a rate").value;
    flow.limit = Some(BusLimit {
        bytes_s: sent,
        shared: false,
        source: "USB full-speed bulk".into(),
        used: 1.0,
    });
    let (answer, _) = rate_of(&file);
    assert!(answer.contains(" sent, 40 % of the limit; "), "{answer}");
    let flow = &mut file.points[0].flows[0];
    flow.device = None;
    let (answer, _) = rate_of(&file);
    assert!(answer.contains("B/s, 100 % of the limit; "), "{answer}");
}

#[test]
fn a_host_that_fills_buffers_on_the_way_is_said_to_send_faster_than_the_device_receives() {
    let text = ahead(0.4, true);
    assert!(
        text.contains("the host sent 2.50 times as fast as the device received"),
        "{text}"
    );
    // What was lost on the way is in no buffer.
    assert_eq!(ahead(0.4, false), "");
    // Its clock may be a few percent off.
    assert_eq!(ahead(0.97, true), "");
}

#[test]
fn an_instrument_that_echoes_queries_is_not_said_to_send_what_nobody_asked_for() {
    let mut file = echo(BOARD, &[&answered], 1_200);
    file.plan.protocol = Protocol::Text;
    let text = lines(&file, "W19").concat();
    let finding = "1,200 B belong to no response, so RTTs may be those of other data";
    assert!(text.contains(finding), "{text}");
    assert!(text.contains("--protocol text --idle"), "{text}");
    assert!(!text.contains("unsolicited"), "{text}");
}

#[test]
fn losses_and_replies_out_of_order_stay_in_the_table_and_in_the_finding() {
    let mut file = echo(BOARD, &[&answered], 0);
    let counts = &mut file.points[0].counts;
    (counts.lost, counts.duplicated, counts.reordered) = (2, 84, 94);
    counts.answered -= 2;
    let brief = tables::of_exchange(&file, false).brief.expect("a table");
    assert!(
        brief
            .answer
            .ends_with(" lost; 84 responses duplicated; 94 responses out of order."),
        "{}",
        brief.answer
    );
    let table = brief.tables(300).next().expect("a table");
    for head in ["lost", "duplicated", "out of order"] {
        assert!(
            table.columns.iter().any(|column| column == head),
            "{:?}",
            table.columns
        );
    }
    let narrow = brief.tables(40).next().expect("a table");
    assert!(
        narrow.columns.iter().any(|column| column == "lost"),
        "{:?}",
        narrow.columns
    );
}

#[test]
fn only_points_of_the_plan_that_ended_are_counted_as_measured() {
    let mut file = echo(BOARD, &[&answered, &answered], 0);
    file.points[1].ending = Ending::Interrupted;
    let conditions = tables::of_exchange(&file, false).conditions;
    let points = conditions[0].1.iter().find(|(name, _)| name == "points");
    let said = points.map(|(_, value)| value.as_str());
    assert_eq!(said, Some("1 measured of 2 planned, 1 not to its end"));
}
