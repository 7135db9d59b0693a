//! First sentences and warnings of made-up loops and control loops that differ in one thing, each below the name of
//! its case; held to the files in `snapshots/`.

use crate::common;
use crate::control::of_points;
use crate::golden::{all_warnings, bounded, first_sentence, hold_cases, predicted, warned};

use common::*;
use wiregauge_record::*;
use wiregauge_report::tables::{self, Tables};
use wiregauge_run::{AnyRun, Control, Loop, Run, RunFile, State};

const MS: u64 = 1_000_000;

/// A point of a loop of 10 s in blocks of 2,000 B.
fn looped(index: u32, rate_hz: u64, tested: Option<u64>, underruns: u64) -> LoopSummary {
    let point = LoopPoint {
        index,
        rate_hz,
        notify_bytes: 2_000,
        ..loop_point(0, tested)
    };
    LoopSummary {
        elapsed_ns: 10_000 * MS,
        underruns,
        ..summarised_loop(point, blocks(point, 2_000, 1))
    }
}

/// A measured one that needs this latency.
fn curve(index: u32, rate_hz: u64, needed_ms: f64) -> LoopSummary {
    LoopSummary {
        needed_ns: Some(needed_ms * 1e6),
        ..looped(index, rate_hz, None, 0)
    }
}

/// The tables of a loop run; `change` makes more of its plan and its host.
fn of_loop(points: &[&LoopSummary], change: impl Fn(&mut RunFile<Loop>)) -> Tables {
    let plan = loop_plan(points.iter().map(|point| point.point).collect());
    let mut file: RunFile<Loop> = RunFile::new(&plan, &Conditions::default());
    file.state = State::Complete;
    file.points = points.iter().map(|&point| point.clone()).collect();
    change(&mut file);
    tables::of(&AnyRun::from(Run::new("run".into(), file)), false)
}

#[test]
fn latencies_of_loops() {
    const SLOW: u64 = 1_000_000;
    const FAST: u64 = 2_000_000;
    let said = |points: &[&LoopSummary]| first_sentence(of_loop(points, |_| ()));
    let (slow, fast) = (curve(0, SLOW, 2.5), curve(1, FAST, 0.75));
    let stalled = looped(2, FAST, Some(4_000), 3);
    let longer = looped(3, FAST, Some(8_000), 0);
    let again = looped(3, FAST, Some(4_000), 0);
    // At the other rate, the same preload is longer in time.
    let other = looped(4, SLOW, Some(8_000), 0);
    let (many, one) = (
        looped(5, SLOW, Some(4_000), 4_578),
        looped(6, SLOW, Some(4_000), 1),
    );
    let cases = [
        ("one point", said(&[&slow])),
        ("a preload that held", said(&[&slow, &fast, &longer])),
        ("one of each rate", said(&[&slow, &other, &longer])),
        ("it stalled", said(&[&slow, &fast, &stalled, &longer])),
        ("only one that stalled", said(&[&slow, &fast, &stalled])),
        ("and no other point", said(&[&fast, &stalled])),
        ("it held once", said(&[&fast, &stalled, &again])),
        ("a requested preload", said(&[&many])),
        ("two of them", said(&[&many, &one])),
        ("none", said(&[])),
    ];
    hold_cases("answers_loops", &cases);
}

#[test]
fn warnings_of_loops() {
    let slow = curve(0, 1_000_000, 2.5);
    // Of blocks of 1 ms.
    let throttled = |margin_ns: u64, runtime_us: i64, duty: f64| {
        let mut busy = slow.clone();
        busy.duty = duty;
        let tables = of_loop(&[&busy], |file| {
            file.plan.wait = LoopWait::Hybrid { margin_ns };
            file.plan.host.priority = Some(50);
            file.conditions.host.rt_runtime_us = Some(runtime_us);
        });
        warned(&tables.warnings, "W48")
    };
    let cases = [
        ("spinning", throttled(MS, 950_000, 0.0)),
        ("without a limit", throttled(MS, -1, 0.0)),
        ("spinning for 80 %", throttled(800_000, 950_000, 0.0)),
        ("and working for 20 %", throttled(800_000, 950_000, 0.2)),
        ("limited to 50 %", throttled(600_000, 500_000, 0.0)),
    ];
    hold_cases("warnings_of_the_kernel", &cases);
    let tests = [3, 1, 0].map(|stalls| looped(7 - stalls as u32, 1_000_000, Some(4_000), stalls));
    let short = |find: bool, last: &LoopSummary| {
        let tables = of_loop(&[&slow, &tests[0], last], |file| file.plan.find = find);
        all_warnings(&tables)
    };
    let late = |index: u32, longest_ns: u64| {
        let times = longest_ns / 50_000;
        LoopSummary {
            disturbances: vec![Disturbance::DeviceLate(DeviceLate { longest_ns, times })],
            ..curve(index, 1_000_000, 2.5)
        }
    };
    let (once, more) = (late(0, 150_000), late(1, 2 * MS));
    let said = |points: &[&LoopSummary]| all_warnings(&of_loop(points, |_| ()));
    let few = LoopSummary {
        blocks: 31,
        ..slow.clone()
    };
    let cases = [
        ("few blocks, and a preload", said(&[&few, &tests[2]])),
        ("requested preloads that stalled", short(false, &tests[1])),
        ("found preloads that stalled", short(true, &tests[1])),
        ("of which one held", short(true, &tests[2])),
        ("a device that was late", said(&[&once, &more])),
    ];
    hold_cases("warnings_of_loops", &cases);
}

/// First sentence and notes of a control loop over a link, after its summary was changed.
fn of_control(change: impl Fn(&mut ControlSummary)) -> String {
    let mut point = ControlSummary {
        cycles: 1000,
        samples_lost: 2,
        commands_lost: 1,
        unsent: 2,
        cost: Some(bounded(0.065, 0.05, 0.08)),
        predicted: vec![predicted(None, true)],
        ..ControlSummariser::new(ControlPoint::default()).finish(Ending::Complete)
    };
    change(&mut point);
    let plan = ControlPlan {
        address: "tcp://a:1".into(),
        link: LinkOptions::default(),
        model: ControlModel::default(),
        point: point.point,
        cycles: point.cycles,
        timeout_ns: 50 * MS,
        host: HostPlan::default(),
    };
    let mut file: RunFile<Control> = RunFile::new(&plan, &Conditions::default());
    file.state = State::Complete;
    file.points = vec![point];
    let tables = tables::of(&AnyRun::from(Run::new("run".into(), file)), false);
    let notes = tables.notes.join("\n");
    format!("{}\n{notes}", first_sentence(tables))
}

#[test]
fn costs_over_a_link() {
    let cases = [
        ("as predicted", of_control(|_| ())),
        (
            "as predicted from one of two runs",
            of_control(|point| point.predicted.push(predicted(Some("one"), false))),
        ),
        (
            "few independent samples",
            of_control(|point| {
                let predicted = &mut point.predicted[0];
                (predicted.independent, predicted.is_within) = (Some(7.6), None);
            }),
        ),
        (
            "a step that did not settle",
            of_control(|point| {
                point.step = Some(MeasuredStep {
                    target: 1.0,
                    overshoot: 0.557,
                    settling_s: None,
                });
            }),
        ),
        (
            "nothing moves",
            of_control(|point| point.cost = Some(bounded(0.0, 0.0, 0.0))),
        ),
        (
            "it diverged",
            of_control(|point| {
                (point.diverged_at, point.cost) = (Some(1234), None);
            }),
        ),
    ];
    hold_cases("answers_control", &cases);
}

#[test]
fn verdicts_on_delays() {
    let said = |delays_us: &[Option<u64>]| first_sentence(of_points(delays_us));
    let cases = [
        ("one point that holds", said(&[Some(3_000)])),
        ("one that does not", said(&[Some(15_000)])),
        ("both hold", said(&[Some(3_000), Some(6_000)])),
        ("one of two", said(&[Some(3_000), Some(15_000)])),
        (
            "one of three, one without a response",
            said(&[Some(15_000), Some(1_000), None]),
        ),
    ];
    hold_cases("answers_verdicts", &cases);
}
