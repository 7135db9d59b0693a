//! The page of a run with a control loop.

use crate::common;
use crate::page::{between, page_of, subject};

use common::*;
use wiregauge_control::{Loop, Pid, Rules, TransferFunction};
use wiregauge_record::*;
use wiregauge_report::load::{Loaded, controls};
use wiregauge_report::{ControlReport, Subject, figures};
use wiregauge_run::AnyRun;

/// Verdicts on a servo whose points have these constant delays, a run of 1,000 cycles each.
fn with_loop(dir: &std::path::Path, label: &str, delays_us: &[u64]) -> Subject {
    with_traces(dir, label, delays_us.len(), |point, _| delays_us[point])
}

/// The same where the delay of cycle k of a point is given in microseconds.
fn with_traces(
    dir: &std::path::Path,
    label: &str,
    points: usize,
    delay_us: impl Fn(usize, u64) -> u64,
) -> Subject {
    const MS: u64 = 1_000_000;
    let mut plan = plan(points as u32);
    plan.schedule = Schedule::EveryNs(6 * MS);
    let run = exchange_run(&dir.join(label), &plan, |point| {
        let delay_us = &delay_us;
        (0..1000_u64).map(move |k| Sample {
            sequence: k + 1,
            intended_ns: k * 6 * MS,
            start_ns: k * 6 * MS,
            rtt_ns: delay_us(point.index as usize, k) * 1000,
            ..Sample::default()
        })
    });
    let plant = TransferFunction::parse("plant", 's', "1000/(s^2+s)").expect("a plant");
    let controller = Pid::new(0.96, 0.0, 0.049)
        .state_space(6e-3)
        .expect("a controller");
    let model = Loop::new(plant.state_space().expect("proper"), controller, 6e-3).expect("a loop");
    let mut subject = subject(label, run);
    let run = subject.run.as_kind().expect("an exchange run");
    let all: Vec<usize> = (0..points).collect();
    let found = controls(run, &all, &model, Rules::default(), &mut |_| {}).expect("verdicts");
    let described = vec![("Model: flags".to_owned(), "--plant '<b>'".to_owned())];
    let report = ControlReport::of(&run.file, &found, described, &format!("-{label}"));
    subject.control = Some(report);
    subject
}

#[test]
fn a_control_loop_has_its_verdicts_side_by_side_then_figures_and_tables() {
    let dir = tempfile::tempdir().unwrap();
    let subjects = [with_loop(
        dir.path(),
        "run",
        &[15_000, 6000, 3000, 4000, 5000],
    )];
    let page = page_of(&subjects);
    let section = between(&page, "<section id=\"control\">", "</section>");
    // The lowest cost first: 3 ms at depth 3.
    assert!(section.contains("<h3>At IN 48 B, depth 3, the lowest cost</h3>"));
    let verdicts = between(section, "<caption>Verdicts; ", "</table>");
    let cells = "<td>held</td><td>holds</td><td>proved</td>";
    assert!(verdicts.contains(cells), "{verdicts}");
    let broken = "<td>did not hold</td><td>does not hold</td><td>broken</td>";
    assert!(verdicts.contains(broken), "{verdicts}");
    for words in [
        "13.41 ms",
        "<summary>Figures at IN 48 B, depth 4</summary>",
        "<summary>Figures at IN 96 B, depth 1</summary>",
        "2 more points are in the tables only",
        "IN ANY ORDER: every sequence",
        "--plant &#39;&lt;b&gt;&#39;",
    ] {
        assert!(section.contains(words), "{words}: {section}");
    }
    let report = subjects[0].control.as_ref().expect("a loop");
    let names: Vec<_> = report
        .figures()
        .map(|figure| figure.name.as_str())
        .collect();
    let each = |point: &str| ["step", "cost"].map(|what| format!("control-{what}-run-{point}"));
    let points = [
        "2-in-48-b-depth-3",
        "3-in-48-b-depth-4",
        "4-in-96-b-depth-1",
    ];
    assert_eq!(names, points.map(each).concat());
    // The other figures are counted on.
    assert!(section.contains("Figure 6: Cost against constant delay"));
    assert!(page.contains("Figure 7: ") && !section.contains("Figure 7: "));
    let names = ["summary", "control", "figures", "tables"];
    let places = names.map(|id| page.find(&format!("<section id=\"{id}\">")).expect(id));
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn a_loop_that_held_but_whose_output_was_thrown_far_off_is_marked() {
    let dir = tempfile::tempdir().unwrap();
    let burst = |_: usize, k: u64| {
        if (600..650).contains(&k) {
            24_000
        } else {
            3000
        }
    };
    let page = page_of(&[with_traces(dir.path(), "run", 1, burst)]);
    let section = between(&page, "<section id=\"control\">", "</section>");
    let finding = between(section, "<p class=\"lead\">", "</p>");
    assert!(
        finding.contains("the highest SD 23.8 x") && section.contains("<td>held</td>"),
        "{section}"
    );
    let answer = between(&page, "<p class=\"answer\">", "</p>");
    assert!(
        answer.contains(", the highest SD ") && answer.starts_with("The loop holds on this trace"),
        "{answer}"
    );
}

/// 3,000 cycles with a step of the reference to 2, which the output follows at once; every fiftieth was not sent.
pub fn stepped(dir: &std::path::Path) -> AnyRun {
    const PERIOD_NS: u64 = 5_000_000;
    let plan = ControlPlan {
        address: "tcp://a:1".into(),
        link: LinkOptions::default(),
        model: ControlModel {
            words: "plant 1/s, PID 2,0,0".into(),
            plant: SystemMatrices {
                b: vec![vec![1.0]],
                c: vec![vec![1.0]],
                ..SystemMatrices::default()
            },
            ..ControlModel::default()
        },
        point: ControlPoint {
            index: 0,
            period_ns: PERIOD_NS,
            depth: 4,
            step: 2.0,
        },
        cycles: 3000,
        timeout_ns: 10 * PERIOD_NS,
        host: HostPlan::default(),
    };
    let cycles = (0..plan.cycles).map(|sequence| {
        let reference = if sequence < 1500 { 0.0 } else { 2.0 };
        ControlCycle {
            sequence,
            status: match sequence % 50 {
                49 => CycleStatus::Unsent,
                _ => CycleStatus::Ok,
            },
            start_ns: sequence * PERIOD_NS,
            reference,
            y1: if sequence == 700 { 9.0 } else { reference },
            u1: -reference,
            ..ControlCycle::default()
        }
    });
    control_run(dir, &plan, &cycles.collect::<Vec<_>>())
}

#[test]
fn a_run_of_a_control_loop_has_a_page_with_its_signals_its_step_and_its_conditions() {
    let dir = tempfile::tempdir().unwrap();
    let subjects = [subject("run", stepped(&dir.path().join("run")))];
    let page = page_of(&subjects);
    for words in [
        "<h1>Control loop with tcp://a:1</h1>",
        "control loop: plant 1/s, PID 2,0,0, period",
        "What do output and command do?",
        "2,940 cycles; of each 5 the lowest and the highest value are drawn.",
    ] {
        assert!(page.contains(words), "{words}");
    }
    let drawn = figures::of(&subjects);
    let names: Vec<&str> = drawn.iter().map(|figure| figure.name.as_str()).collect();
    assert_eq!(names, ["signals-output", "signals-command", "signals-step"]);
    let Loaded::Control(points) = &subjects[0].loaded else {
        panic!("not a control run");
    };
    let [signals] = &points[..] else {
        panic!("{} points", points.len());
    };
    let output = &signals.outputs[0];
    assert!(output.over_time.len() <= 1200);
    // The one far value is not thinned away.
    let high = output.over_time.iter().filter(|(_, y)| *y == 9.0).count();
    assert_eq!(high, 1);
    assert_eq!(output.step.len(), 392);
    assert_eq!(output.step[0], (0.0, 2.0));
    assert!(signals.commands[0].step.iter().all(|(_, u)| *u == -2.0));
}
