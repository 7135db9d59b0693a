//! Whole outputs of made-up runs, held to the files in `snapshots/`: what a terminal prints by default and with --full,
//! Markdown, LaTeX and CSV. CONTRIBUTING.md says how a changed output is accepted.

use crate::common;
use crate::control::of_points;
use crate::isochronous::counts;
use crate::page_control::stepped;
use crate::page_loops::with_preloads;
use crate::warnings;

use common::*;
use std::path::Path;
use wiregauge_record::*;
use wiregauge_report::load::{ControlLoop, deadlines};
use wiregauge_report::tables::{self, Table, Tables, Warning};
use wiregauge_run::{AnyRun, Exchange, Run, State, with_run};
use wiregauge_stats::{Estimate, Series};

const MS: u64 = 1_000_000;

/// Columns of the terminal.
const WIDTH: usize = 80;

/// Runs that are held in every format: one of each kind, and one that failed.
const IN_ALL_FORMATS: [&str; 5] = [
    "exchange_one_point",
    "exchange_failed",
    "stream_in_out",
    "loop_preloads",
    "control_step",
];

/// Holds a text to the file of this name.
pub fn hold(name: &str, text: &str) {
    insta::assert_snapshot!(name, text);
}

/// Holds texts to one file, each below the name of its case.
pub fn hold_cases(name: &str, cases: &[(&str, String)]) {
    let lines = |text: &str| text.trim_end().replace('\n', "\n  ");
    let cases = cases
        .iter()
        .map(|(case, text)| format!("{case}:\n  {}\n", lines(text)));
    hold(name, &cases.collect::<String>());
}

/// What a terminal prints, each sentence in one line: by default, or all of it.
pub fn printed(tables: &Tables, full: bool) -> String {
    let brief = tables.brief.as_ref().filter(|_| !full);
    let above = tables.ending.iter().chain(&tables.heading);
    let mut lines: Vec<String> = above.chain(&tables.note).cloned().collect();
    lines.extend(brief.map(|brief| format!("\n{}", brief.answer)));
    let shown: Vec<Table> = match brief {
        Some(brief) => brief.tables(WIDTH).collect(),
        None => tables.tables.clone(),
    };
    let table = |table: &Table| format!("\n{}\n{}", table.title, table.text().trim_end());
    lines.extend(shown.iter().map(table));
    let is_all = brief.is_none();
    if is_all {
        lines.push(String::new());
        lines.extend(tables.floors.iter().chain(&tables.notes).cloned());
    }
    lines.push(String::new());
    for warning in &tables.warnings {
        let code = warning.code;
        lines.push(match (is_all, warning.is_printed) {
            (true, _) => format!("{code}: {warning}"),
            (false, true) => format!("{code}: {}", warning.finding),
            (false, false) => format!("{code} with --full"),
        });
    }
    lines.join("\n")
}

/// The warnings with this code, one in a line.
pub fn warned(warnings: &[Warning], code: &str) -> String {
    let of_code = warnings.iter().filter(|warning| warning.code == code);
    let texts: Vec<String> = of_code.map(ToString::to_string).collect();
    match texts.is_empty() {
        true => format!("no {code}"),
        false => texts.join("\n"),
    }
}

/// All warnings, one in a line.
pub fn all_warnings(tables: &Tables) -> String {
    let line = |warning: &Warning| format!("{}: {warning}", warning.code);
    let lines: Vec<String> = tables.warnings.iter().map(line).collect();
    lines.join("\n")
}

pub fn first_sentence(tables: Tables) -> String {
    tables.brief.expect("an answer").answer
}

/// Holds what a terminal prints, by default and with --full.
fn hold_tables(name: &str, tables: &Tables) {
    let (brief, full) = (printed(tables, false), printed(tables, true));
    hold(name, &format!("{brief}\n\n=== --full ===\n\n{full}\n"));
}

/// Holds what is printed of a run, which is made in a directory; its conditions are made up unless it has some.
fn hold_run(name: &str, make: impl FnOnce(&Path) -> AnyRun) {
    let dir = tempfile::tempdir().expect("a directory");
    let mut run = make(&dir.path().join("run"));
    with_run!(&mut run, run => {
        let found = &mut run.file.conditions;
        if found.started.is_empty() {
            *found = conditions();
        }
    });
    let all = tables::of(&run, false);
    hold_tables(name, &all);
    if IN_ALL_FORMATS.contains(&name) {
        let stored = run.stored();
        let markdown = tables::markdown(stored, &all);
        hold(&format!("{name}_markdown"), &markdown);
        hold(&format!("{name}_latex"), &tables::latex(stored, &all));
        hold(&format!("{name}_csv"), &turned(&tables::csv(&run)));
    }
}

/// CSV with a line for each column, so that a changed cell is one changed line.
fn turned(text: &str) -> String {
    let mut csv = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text.as_bytes());
    let rows: Vec<csv::StringRecord> = csv.records().map(|row| row.expect("it is CSV")).collect();
    let line = |at: usize| {
        let cells: Vec<&str> = rows.iter().map(|row| &row[at]).collect();
        cells.join(",") + "\n"
    };
    (0..rows[0].len()).map(line).collect()
}

/// A host, a device and floors.
fn conditions() -> Conditions {
    let mut times = Series::new();
    (0..100).for_each(|n| times.push(5_000 + 10 * n));
    let calibration = Calibration {
        floors: vec![Floor {
            name: "null".to_owned(),
            bytes: 64,
            rtt: times.distribution().expect("there are times"),
        }],
        wake_up: WakeUp::default(),
    };
    Conditions {
        started: "2026-11-21T14:36:05Z".to_owned(),
        command: ["wiregauge", "exchange", "tcp://127.0.0.1:7700"]
            .map(str::to_owned)
            .to_vec(),
        version: "1.2.3".to_owned(),
        note: Some("second cable\nwithout the hub".to_owned()),
        host: HostState {
            name: "bench".to_owned(),
            kernel: "Linux 6.12.0".to_owned(),
            cpu: "Cortex-A76".to_owned(),
            processors: 4,
            policy: "SCHED_OTHER".to_owned(),
            ..HostState::default()
        },
        responder: device("board"),
        before: Some(calibration.clone()),
        after: Some(calibration),
        ..Conditions::default()
    }
}

fn device(name: &str) -> Option<Responder> {
    Some(Responder {
        name: name.to_owned(),
        ..Responder::default()
    })
}

#[test]
fn a_run_of_one_point() {
    let plan = Plan {
        below_ns: Vec::new(),
        ..plan(1)
    };
    hold_run("exchange_one_point", |dir| {
        let mut run = exchange_run(dir, &plan, |_| exchanges(2_000, 1));
        if let AnyRun::Exchange(stored) = &mut run {
            stored.file.points[0].limit = Some(full_speed(0.9487));
        }
        run
    });
}

#[test]
fn a_rate_that_one_of_three_depths_keeps() {
    let plan = Plan {
        schedule: Schedule::EveryNs(MS),
        limit: Limit::DurationNs(1_000 * MS),
        ..plan(3)
    };
    hold_run("exchange_rate", |dir| {
        exchange_run(dir, &plan, |point| {
            // At depth 3, what takes 2.5 ms is kept.
            let late_ns = if point.depth < 3 { 500_000 } else { 0 };
            (0..=1_000_u64).map(move |sequence| Sample {
                intended_ns: sequence * MS,
                start_ns: sequence * (MS + late_ns),
                rtt_ns: 2_500_000,
                ..exchange(sequence)
            })
        })
    });
}

#[test]
fn sizes_with_every_kind_of_loss() {
    let points = (0..3).map(|index| Point {
        index,
        ..point(4 * index)
    });
    let plan = Plan {
        points: points.collect(),
        below_ns: Vec::new(),
        ..plan(1)
    };
    hold_run("exchange_losses", |dir| {
        exchange_run(dir, &plan, |point| {
            let rtt_ns = 20_000 * u64::from(1 + point.index);
            paced(1, rtt_ns, 2_000, 200).map(|sample| Sample {
                status: match sample.sequence {
                    500 => Status::Reordered,
                    600 | 700 => Status::Duplicated,
                    800 => Status::Corrupted,
                    900 => Status::Unexpected,
                    _ => sample.status,
                },
                ..sample
            })
        })
    });
}

#[test]
fn a_limit_that_dependent_exchanges_do_not_bound() {
    let plan = Plan {
        below_ns: vec![30_000],
        limit: Limit::DurationNs(602 * MS),
        ..plan(1)
    };
    // Each takes longer than the one before: they depend on each other as far as they can.
    hold_run("exchange_below", |dir| {
        exchange_run(dir, &plan, |_| {
            (0..=300_u64).map(|sequence| Sample {
                intended_ns: sequence * 2 * MS,
                start_ns: sequence * 2 * MS,
                rtt_ns: 20_000 + sequence * 100,
                ..exchange(sequence)
            })
        })
    });
}

#[test]
fn two_links_alone_and_together() {
    let mut plan = plan(4);
    plan.more_links = vec!["tcp://10.0.0.1:7700".to_owned()];
    for point in &mut plan.points {
        (point.link, point.together) = (point.index % 2, point.index > 1);
        (point.depth, point.in_bytes) = (1, 48);
    }
    let conditions = Conditions {
        responder: device("near"),
        more_links: vec![LinkConditions {
            responder: device("far"),
            ..LinkConditions::default()
        }],
        ..conditions()
    };
    hold_run("exchange_links", |dir| {
        exchange_run_with(dir, &plan, &conditions, |point| {
            let more_ns = 10_000 * u64::from(point.link) + 5_000 * u64::from(point.together);
            paced(1, 20_000 + more_ns, 2_000, 0)
        })
    });
}

#[test]
fn a_run_whose_second_point_was_cut_short() {
    hold_run("exchange_failed", |dir| {
        let run = exchange_run(dir, &plan(3), |point| paced(point.depth, 20_000, 500, 0));
        let run = run.as_kind::<Exchange>().expect("an exchange run");
        let mut file = run.file.clone();
        let error = "the device closed the link";
        file.state = State::Failed {
            error: format!("{error}\n  hint: was it unplugged?"),
        };
        file.points.truncate(2);
        file.points[1].ending = Ending::LinkFailed {
            error: error.to_owned(),
        };
        AnyRun::from(Run::new(dir.to_owned(), file))
    });
}

#[test]
fn starts_that_are_late_by_themselves_and_by_earlier_exchanges() {
    hold_run("exchange_late_starts", |dir| {
        late_run(dir, &plan(1), late_by_both)
    });
}

#[test]
fn bursts_that_leave_p99_without_a_bound() {
    hold_run("exchange_bursts", |dir| {
        warnings::run(dir, &plan(1), 5_000, 40)
    });
}

#[test]
fn times_that_drift() {
    // Most become slower and slower; the slowest of all have nothing to do with that.
    hold_run("exchange_drift", |dir| {
        exchange_run(dir, &plan(1), |_| {
            let mut random = Random(11);
            (0..=5_000).map(move |sequence| {
                let usual_ns = 20_000 + sequence * 4 + random.bits(10);
                let more_ns = match random.bits(4) {
                    0 => 10 * MS + random.bits(20),
                    _ => 0,
                };
                Sample {
                    start_ns: sequence * 20 * MS,
                    intended_ns: sequence * 20 * MS,
                    rtt_ns: usual_ns + more_ns,
                    ..exchange(sequence)
                }
            })
        })
    });
}

#[test]
fn rates_and_buffers_in_both_directions() {
    let points = [Direction::In, Direction::Out, Direction::Both];
    let points = (0..).zip(points);
    let points = points.map(|(index, direction)| stream_point(index, direction));
    let plan = StreamPlan {
        rates_bytes_s: vec![2_000_000, 200_000_000],
        ..stream_plan(points.collect())
    };
    hold_run("stream_in_out", |dir| {
        stream_run(dir, &plan, |point| {
            transfers(point, 3_000, u64::from(point.index) + 1)
        })
    });
}

#[test]
fn an_isochronous_stream() {
    let mut plan = stream_plan(vec![stream_point(0, Direction::In)]);
    plan.address = "usb://1d6b:0104".into();
    (plan.protocol, plan.check) = (StreamProtocol::Raw, false);
    plan.link.isochronous = Some(IsochronousOptions {
        packet_bytes: counts().packet_bytes,
        way: Way::In,
    });
    hold_run("stream_isochronous", |dir| {
        let mut run = stream_run(dir, &plan, |point| transfers(point, 500, 1));
        if let AnyRun::Stream(stored) = &mut run {
            stored.file.points[0].flows[0].isochronous = Some(counts());
        }
        run
    });
}

#[test]
fn a_device_that_receives_more_slowly_than_the_host_sends() {
    let file = crate::causes::slow_device(0.4, true);
    hold_tables("stream_slow_device", &tables::of_stream(&file));
}

#[test]
fn a_loop_and_two_preloads() {
    hold_run("loop_preloads", with_preloads);
}

#[test]
fn a_control_loop_over_a_link() {
    hold_run("control_step", |dir| {
        let mut run = stepped(dir);
        let AnyRun::Control(stored) = &mut run else {
            panic!("not a control run")
        };
        let point = &mut stored.file.points[0];
        point.cost = Some(bounded(0.065, 0.05, 0.08));
        point.step = Some(MeasuredStep {
            target: 2.0,
            overshoot: 0.557,
            settling_s: Some(0.125),
        });
        point.predicted = vec![predicted(None, true), predicted(Some("there"), false)];
        run
    });
}

pub fn bounded(value: f64, low: f64, high: f64) -> Estimate {
    Estimate {
        value,
        low: Some(low),
        high: Some(high),
    }
}

/// A predicted cost that the measured one is within or outside of.
pub fn predicted(run: Option<&str>, is_within: bool) -> Predicted {
    Predicted {
        run: run.map(str::to_owned),
        cycles: 1000,
        cost: Some(bounded(0.06, 0.055, 0.07)),
        independent: Some(400.0),
        is_within: Some(is_within),
        overshoot: None,
    }
}

#[test]
fn two_runs_of_which_one_is_slower() {
    let dir = tempfile::tempdir().expect("a directory");
    let run = |name: &str, more_ns: u64| {
        exchange_run_with(&dir.path().join(name), &plan(2), &conditions(), |point| {
            exchanges(2_000, u64::from(point.index) + 9).map(move |sample| Sample {
                rtt_ns: sample.rtt_ns + more_ns,
                ..sample
            })
        })
    };
    let (before, after) = (run("before", 0), run("after", 30_000));
    let sides = ([before.stored()], [after.stored()]);
    let found = wiregauge_compare::compare(&sides.0, &sides.1, &[], &|_| true, &|_| ());
    let found = tables::of_comparison(&found.expect("the samples can be read"));
    let sentences = found.heading.iter().chain(&found.answer);
    let sentences = sentences.chain(&found.caveat).chain(&found.hosts);
    let sentences: Vec<&str> = sentences.map(String::as_str).collect();
    let (table, notes) = (&found.important, found.notes.join("\n"));
    let text = format!(
        "{}\n\n{}\n{}\n{notes}\n",
        sentences.join("\n"),
        table.title,
        table.text()
    );
    hold("comparison", &text);
    hold("comparison_markdown", &found.markdown());
}

/// Holds what is printed of a run against a deadline of 1 ms, extrapolated to one response in a million.
fn hold_deadline(name: &str, plan: &Plan, samples: &[Sample]) {
    let dir = tempfile::tempdir().expect("a directory");
    let run = run_of(&dir, plan, samples);
    let asked = ControlLoop {
        period_ns: MS,
        deadline_ns: MS,
        jitter_ns: None,
        beyond: Some(1e6),
    };
    let all: Vec<usize> = (0..plan.points.len()).collect();
    let found = deadlines(&run, &all, asked, &mut |_| {}).expect("the samples can be read");
    let tables = tables::of_deadlines(&run.file, &found);
    hold(name, &printed(&tables, true));
}

#[test]
fn cycles_that_miss_their_deadline() {
    let mut outcomes = vec![(MS / 4, Status::Ok); 1_000];
    outcomes[100] = (30 * MS, Status::Ok);
    outcomes[500] = (100 * MS, Status::Lost);
    hold_deadline("deadline_misses", &plan(2), &one_by_one(&outcomes));
}

#[test]
fn a_smooth_tail_below_the_deadline() {
    // Exponential beyond 0.2 ms, 50 us a factor of e.
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let outcomes = (0..20_000).map(|_| {
        let uniform = (random.bits(48) as f64 + 0.5) / (1_u64 << 48) as f64;
        ((2e5 - 5e4 * uniform.ln()) as u64, Status::Ok)
    });
    let samples = one_by_one(&outcomes.collect::<Vec<_>>());
    hold_deadline("deadline_tail", &of_depth(1), &samples);
}

#[test]
fn a_tail_of_levels() {
    // Every thousandth waits for a poll of 4 ms.
    let mut random = Random(3);
    let outcomes = (0..20_000).map(|at| {
        let poll_ns = if at % 1_000 == 0 { 4 * MS } else { 0 };
        (MS / 4 + random.bits(14) + poll_ns, Status::Ok)
    });
    let samples = one_by_one(&outcomes.collect::<Vec<_>>());
    hold_deadline("deadline_levels", &of_depth(1), &samples);
}

#[test]
fn delays_that_a_control_loop_holds_with_and_that_break_it() {
    let tables = of_points(&[Some(3000), Some(6000), Some(15_000), None]);
    hold_tables("control_verdicts", &tables);
    // 80 periods.
    let tables = of_points(&[Some(480_000), Some(1000)]);
    hold_tables("control_too_late", &tables);
}
