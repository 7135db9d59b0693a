//! What thinning must not lose, held against the samples themselves.

use crate::common;

use common::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::sync::Mutex;
use wiregauge_record::*;
use wiregauge_report::Reported;
use wiregauge_report::load::{Loaded, Series};
use wiregauge_run::{AnyRun, Exchange, Run, RunWriter, with_run};

/// The points of a run of this kind.
macro_rules! points_of {
    ($kind:ident, $run:expr) => {
        match samples_of($run) {
            Loaded::$kind(points) => points,
            _ => panic!("a run was loaded as one of another kind"),
        }
    };
}

/// Slices are ascending, apart, each of its own time, and together hold exactly these samples.
fn assert_stands_for(series: &Series, samples: &[(u64, u64)]) {
    assert_eq!(series.of, samples.len() as u64);
    assert!(series.slices.len() <= 400, "{} slices", series.slices.len());
    let mut rest: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
    for &(at, value) in samples {
        rest.entry(at / series.slice_ns.max(1))
            .or_default()
            .push((at, value));
    }
    assert_eq!(rest.len(), series.slices.len(), "no slice is left out");
    let numbers: Vec<u64> = series
        .slices
        .iter()
        .map(|s| s.at_ns / series.slice_ns)
        .collect();
    assert!(numbers.windows(2).all(|w| w[0] < w[1]), "{numbers:?}");
    for (slice, of) in series.slices.iter().zip(rest.values()) {
        assert_eq!(Some(slice.at_ns), of.iter().map(|s| s.0).min());
        assert_eq!(slice.n, of.len() as u64);
        assert_eq!(Some(slice.min_ns), of.iter().map(|s| s.1).min());
        assert_eq!(Some(slice.max_ns), of.iter().map(|s| s.1).max());
        let mean = of.iter().map(|s| s.1 as f64).sum::<f64>() / of.len() as f64;
        assert!((slice.mean_ns - mean).abs() <= 1e-9 * mean, "{slice:?}");
    }
}

/// The longest kept are the longest there are.
fn assert_longest(series: &Series, samples: &[(u64, u64)]) {
    assert!(series.longest.is_sorted_by_key(|spot| spot.at_ns));
    let mut out: Vec<(u64, u64)> = samples.to_vec();
    out.retain(|s| s.1 > series.stands_out_ns);
    out.sort_by_key(|&(at, value)| (std::cmp::Reverse(value), at));
    out.truncate(100);
    out.sort();
    let kept: Vec<(u64, u64)> = series
        .longest
        .iter()
        .map(|s| (s.at_ns, s.value_ns))
        .collect();
    assert_eq!(kept, out);
}

/// Anything that an engine may store, times in any order.
fn any_exchanges() -> impl Strategy<Value = Vec<Sample>> {
    let value = prop_oneof![
        20_000..30_000_u64,
        20_000..30_000_u64,
        20_000..30_000_u64,
        0..20_000_000_u64
    ];
    let start = prop_oneof![0..1_000_000_000_u64, 0..1_000_000_000_000_u64];
    let status = prop_oneof![Just(0), Just(0), Just(0), 0..Status::ALL.len()];
    let sample =
        (start, value, status, 0..8_u8).prop_map(|(start_ns, rtt_ns, status, phase)| Sample {
            start_ns,
            intended_ns: start_ns,
            rtt_ns,
            status: Status::ALL[status],
            phase: Phase::from_number(phase).unwrap_or_default(),
            ..Sample::default()
        });
    prop::collection::vec(sample, 0..2000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn thinning_loses_no_extreme_no_count_and_nothing_bad(samples in any_exchanges()) {
        let dir = tempfile::tempdir().expect("a place for a run");
        let run = exchange_run(dir.path(), &plan(1), |_| samples.clone().into_iter());
        let points = points_of!(Exchange, &run);
        let [point] = &points[..] else { panic!("one point") };
        let measured: Vec<&Sample> =
            samples.iter().filter(|s| s.phase == Phase::Measured).collect();
        let timed: Vec<(u64, u64)> = measured
            .iter()
            .filter(|s| s.status.is_timed())
            .map(|s| (s.start_ns, s.rtt_ns))
            .collect();
        assert_stands_for(&point.series, &timed);
        assert_longest(&point.series, &timed);
        prop_assert_eq!(point.rtt.len(), timed.len() as u64);
        prop_assert_eq!(point.missing.as_deref(), None);

        let AnyRun::Exchange(run) = &run else { panic!("an exchange run") };
        let counts = run.file.points[0].counts;
        let bad = |status: Status| {
            let mut all = point.series.bad_in_all.iter();
            all.find(|(name, _)| *name == status.name()).map_or(0, |(_, n)| *n)
        };
        prop_assert_eq!(bad(Status::Lost), counts.lost);
        prop_assert_eq!(bad(Status::Late), counts.late);
        prop_assert_eq!(bad(Status::Duplicated), counts.duplicated);
        prop_assert_eq!(bad(Status::Reordered), counts.reordered);
        prop_assert_eq!(bad(Status::Corrupted), counts.corrupted);
        prop_assert_eq!(bad(Status::Ok), 0);
        prop_assert!(point.series.bad.is_sorted());
        for (name, n) in &point.series.bad_in_all {
            let kept = point.series.bad.iter().filter(|bad| bad.status == *name).count() as u64;
            prop_assert!(kept <= *n && (kept >= (*n).min(150)), "{} of {} {}", kept, n, name);
        }
    }
}

#[test]
fn a_point_of_one_sample_and_one_of_none_are_gathered() {
    let dir = tempfile::tempdir().expect("a place for a run");
    let run = exchange_run(dir.path(), &plan(3), |point| {
        exchanges(u64::from(point.index), 1)
    });
    let points = points_of!(Exchange, &run);
    let of: Vec<u64> = points.iter().map(|point| point.series.of).collect();
    assert_eq!(of, [0, 1, 2]);
    assert!(points[0].series.slices.is_empty() && points[0].series.longest.is_empty());
    let slice = points[1].series.slices[0];
    assert_eq!((slice.n, slice.min_ns), (1, slice.max_ns));
}

#[test]
fn times_at_the_end_of_what_64_bits_hold_are_gathered() {
    let dir = tempfile::tempdir().expect("a place for a run");
    let times = [u64::MAX, 0, u64::MAX / 2, u64::MAX - 1, 5];
    let mut plan = plan(1);
    plan.schedule = Schedule::EveryNs(1);
    // No summariser would take these: the file is forged.
    let run = exchange_run(dir.path(), &plan, |_| std::iter::empty());
    let AnyRun::Exchange(run) = run else {
        panic!("an exchange run")
    };
    let elsewhere = dir.path().join("other");
    let mut writer =
        RunWriter::<Exchange>::create(&elsewhere, &plan, &Conditions::default()).expect("room");
    let mut rows = writer.begin_point(plan.points[0]).expect("a point begins");
    for start_ns in times {
        let sample = Sample {
            start_ns,
            rtt_ns: start_ns,
            ..Sample::default()
        };
        rows.push(&sample, &[]).expect("there is room");
    }
    writer
        .end_point(rows, run.file.points[0].clone())
        .expect("a point ends");
    let run = AnyRun::open(&elsewhere).expect("it is a run");
    let points = points_of!(Exchange, &run);
    assert_eq!(points[0].series.of, 5);
    assert_eq!(points[0].series.slices.iter().map(|s| s.n).sum::<u64>(), 5);
    assert_eq!(points[0].from_intended.len(), 5);
}

#[test]
fn a_damaged_sample_file_costs_its_own_point_only() {
    let dir = tempfile::tempdir().expect("a place for a run");
    let run = exchange_run(dir.path(), &plan(4), |_| exchanges(500, 1));
    let sample_file = |point: u32| dir.path().join(format!("samples/point-{point:04}.parquet"));
    let whole = fs::read(sample_file(1)).expect("it was written");
    fs::write(sample_file(1), &whole[..whole.len() / 2]).expect("it can be cut");
    fs::remove_file(sample_file(2)).expect("it can be removed");
    let loaded = samples_of(&run);
    let missing = loaded.missing();
    assert_eq!(
        missing.iter().map(|(at, _)| *at).collect::<Vec<_>>(),
        [1, 2]
    );
    for (at, reason) in missing {
        assert!(
            reason.contains(&format!("point-{at:04}.parquet")),
            "{reason}"
        );
    }
    let Loaded::Exchange(points) = loaded else {
        panic!("an exchange run")
    };
    let of: Vec<u64> = points.iter().map(|p| p.series.of).collect();
    assert_eq!(of, [499, 0, 0, 499], "one of 500 was lost");
}

#[test]
fn a_point_whose_file_is_damaged_halfway_shows_nothing_of_the_first_half() {
    let dir = tempfile::tempdir().expect("a place for a run");
    let run = exchange_run(dir.path(), &plan(1), |_| exchanges(200_000, 1));
    let path = dir.path().join("samples/point-0000.parquet");
    let mut bytes = fs::read(&path).expect("it was written");
    let (from, to) = (bytes.len() * 70 / 100, bytes.len() * 90 / 100);
    bytes[from..to].fill(0xA5);
    fs::write(&path, bytes).expect("it can be written");
    let points = points_of!(Exchange, &run);
    assert!(points[0].missing.is_some(), "a fifth of the file is gone");
    assert_eq!((points[0].series.of, points[0].rtt.len()), (0, 0));
}

#[test]
fn many_points_share_the_room() {
    let dir = tempfile::tempdir().expect("a place for a run");
    let run = exchange_run(dir.path(), &plan(100), |_| exchanges(400, 1));
    let tables = Mutex::new(Vec::new());
    let progress = |part: f64| tables.lock().expect("nobody panics").push(part);
    let Loaded::Exchange(points) = with_run!(&run, run => Reported::load(run, &progress)) else {
        panic!("an exchange run")
    };
    assert_eq!(points.len(), 100);
    assert!(
        points
            .iter()
            .all(|p| p.series.of == 399 && p.series.slices.len() <= 180)
    );
    assert!(
        points.iter().all(|p| p.series.slices.len() >= 20),
        "and use it"
    );
    let tables = tables.into_inner().expect("nobody panics");
    assert!(
        tables.iter().all(|part| (0.0..=1.0).contains(part)),
        "{tables:?}"
    );
    assert!(tables.contains(&1.0), "{tables:?}");
}

#[test]
fn with_a_schedule_the_time_from_the_intended_start_is_gathered_too() {
    let dir = tempfile::tempdir().expect("a place for a run");
    let mut plan = plan(1);
    plan.schedule = Schedule::EveryNs(100_000);
    let late = exchanges(1000, 1).map(|sample| Sample {
        intended_ns: sample.start_ns.saturating_sub(1_000_000),
        ..sample
    });
    let late: Vec<Sample> = late.collect();
    let run = exchange_run(dir.path(), &plan, |_| late.clone().into_iter());
    let AnyRun::Exchange(summary) = &run else {
        panic!("an exchange run")
    };
    let summary = &summary.file.points[0];
    let points = points_of!(Exchange, &run);
    let near = |histogram: f64, exact: f64| assert!((histogram / exact - 1.0).abs() < 2e-3);
    let (rtt, from_intended) = (&points[0].rtt, &points[0].from_intended);
    let exact = summary.rtt.as_ref().expect("it was measured");
    near(rtt.value_at_quantile(0.5) as f64, exact.p50.value);
    near(rtt.max() as f64, exact.max);
    let exact = summary.from_intended.as_ref().expect("there is a schedule");
    near(from_intended.value_at_quantile(0.5) as f64, exact.p50.value);
    near(from_intended.max() as f64, exact.max);
}

#[test]
fn gaps_are_those_of_the_summary() {
    let dir = tempfile::tempdir().expect("a place for a run");
    let points = [Direction::In, Direction::Out, Direction::Both];
    let points = (0..)
        .zip(points)
        .map(|(at, direction)| stream_point(at, direction));
    let plan = stream_plan(points.collect());
    let run = stream_run(dir.path(), &plan, |point| transfers(point, 5000, 3));
    let loaded = points_of!(Stream, &run);
    let AnyRun::Stream(run) = run else {
        panic!("a stream run")
    };
    for (point, summary) in loaded.iter().zip(&run.file.points) {
        assert_eq!(point.flows.len(), summary.flows.len());
        for (flow, summary) in point.flows.iter().zip(&summary.flows) {
            let gap = summary.gap.as_ref().expect("there are gaps");
            assert_eq!(flow.way, summary.way);
            assert_eq!((flow.series.of, flow.gap.len()), (gap.n, gap.n));
            let longest = flow.series.slices.iter().map(|s| s.max_ns).max();
            assert_eq!(longest, Some(gap.max as u64));
            let shortest = flow.series.slices.iter().map(|s| s.min_ns).min();
            assert_eq!(shortest, Some(gap.min as u64));
            assert_eq!(flow.series.bad_in_all, [("stalled", summary.stalls)]);
        }
    }
}

/// A rate of the curve asked for with `--rate` gives the same buffer. A direction that begins later than the other ends
/// with it.
#[test]
fn the_curve_of_the_buffer_agrees_with_the_summary() {
    let dir = tempfile::tempdir().expect("a place for a run");
    for direction in [Direction::In, Direction::Both] {
        let mut plan = stream_plan(vec![stream_point(0, direction)]);
        let late_in = |point| {
            let is_there = move |transfer: &Transfer| {
                let is_late = direction == Direction::Both && transfer.way == Way::In;
                !is_late || transfer.complete_ns > 10_000_000
            };
            transfers(point, 3000, 3).filter(is_there)
        };
        let at = |name: &str| dir.path().join(format!("{}-{name}", direction.name()));
        let run = stream_run(&at("curve"), &plan, late_in);
        for (number, flow) in points_of!(Stream, &run)[0].flows.iter().enumerate() {
            let curve = &flow.buffer;
            assert_eq!(curve.len(), 12);
            assert!(curve.is_sorted_by(|a, b| a.rate_bytes_s < b.rate_bytes_s));
            assert!(curve.is_sorted_by(|a, b| a.worst_bytes <= b.worst_bytes));
            let rates = curve.iter().map(|buffer| buffer.rate_bytes_s as u64);
            plan.rates_bytes_s = rates.collect();
            let place = at(&number.to_string());
            stream_run(&place, &plan, late_in);
            let run: Run<wiregauge_run::Stream> = Run::open(&place).expect("it is a run");
            let needs = &run.file.points[0].flows[number].buffers;
            // The last rate is that of the link, which is sustained or not by a hair.
            for (buffer, need) in curve.iter().zip(needs).take(11) {
                let found = buffer.worst_bytes.ceil() as u64;
                assert_eq!(found, need.worst_bytes, "{:?} {need:?}", flow.way);
                assert!(direction == Direction::Both || need.sustained, "{need:?}");
            }
        }
    }
}

#[test]
fn service_delays_are_those_of_the_summary_and_every_underrun_is_counted() {
    let dir = tempfile::tempdir().expect("a place for a run");
    let points = vec![loop_point(0, None), loop_point(1, Some(4_096))];
    let run = loop_run(dir.path(), &loop_plan(points), |point| {
        blocks(point, 5000, u64::from(point.index) + 1)
    });
    let loaded = points_of!(Loop, &run);
    let AnyRun::Loop(run) = run else {
        panic!("a loop run")
    };
    for (point, summary) in loaded.iter().zip(&run.file.points) {
        let of: Vec<(u64, u64)> = blocks(summary.point, 5000, u64::from(summary.point.index) + 1)
            .filter(|block| block.phase == Phase::Measured)
            .map(|block| (block.due_ns, block.service_ns()))
            .collect();
        assert_stands_for(&point.series, &of);
        assert_longest(&point.series, &of);
        let service = summary.service.as_ref().expect("there are blocks");
        assert_eq!(
            (point.series.of, point.service.len()),
            (service.n, service.n)
        );
        let longest = point.series.slices.iter().map(|s| s.max_ns).max();
        assert_eq!(longest, Some(service.max as u64));
    }
    assert!(loaded[0].series.bad_in_all.is_empty());
    let late = blocks(loop_point(1, Some(4_096)), 5000, 2)
        .filter(|block| block.phase == Phase::Measured && block.xrun.is_under())
        .count() as u64;
    assert!(late > 20, "the tail is longer than the preload: {late}");
    assert_eq!(loaded[1].series.bad_in_all, [("underrun", late)]);
}

#[test]
fn turnarounds_are_those_of_the_summary_at_every_depth() {
    let dir = tempfile::tempdir().expect("a place for a run");
    let run = exchange_run(dir.path(), &plan(4), |point| {
        exchanges(3000, u64::from(point.index) + 1)
    });
    let loaded = points_of!(Exchange, &run);
    let AnyRun::Exchange(run) = run else {
        panic!("an exchange run")
    };
    for (point, summary) in loaded.iter().zip(&run.file.points) {
        let trt = summary.trt.as_ref().expect("there are starts");
        assert_eq!((point.trt_series.of, point.trt.len()), (trt.n, trt.n));
        let slices = || point.trt_series.slices.iter();
        assert_eq!(slices().map(|s| s.max_ns).max(), Some(trt.max as u64));
        assert_eq!(slices().map(|s| s.min_ns).min(), Some(trt.min as u64));
        let sum: f64 = slices().map(|s| s.mean_ns * s.n as f64).sum();
        let mean = sum / trt.n as f64;
        assert!((mean - trt.mean.value).abs() < 1e-6 * mean, "{mean}");
    }
}

#[test]
fn few_samples_are_all_kept_and_of_many_none_by_itself() {
    let dir = tempfile::tempdir().expect("a place for a run");
    for (name, n) in [("few", 200), ("many", 5000)] {
        let run = exchange_run(&dir.path().join(name), &plan(1), |_| exchanges(n, 1));
        let points = points_of!(Exchange, &run);
        let series = &points[0].series;
        let kept = series.each.len() as u64;
        assert_eq!(kept, if n < 800 { series.of } else { 0 }, "{name}");
        let in_order = series.each.is_sorted_by_key(|spot| spot.at_ns);
        let sum: u64 = series.each.iter().map(|spot| spot.value_ns).sum();
        let slices = series.slices.iter().map(|s| s.mean_ns * s.n as f64);
        let slices: f64 = slices.sum();
        assert!(in_order && (kept == 0 || (slices - sum as f64).abs() < 1.0));
    }
}
