//! Runs of known responses as the cycles of a control loop: the delay of each, exactly.

use crate::common;

use common::{exchange_run, of_depth, on_ticks, one_by_one, plan, run_of};
use wiregauge_control::{Loop, Pid, Rules, TransferFunction};
use wiregauge_record::*;
use wiregauge_report::load::{
    ControlLoop, Controls, CycleDelays, controls, cycle_delays, deadlines,
};
use wiregauge_report::tables::{self, Tables};
use wiregauge_run::AnyRun;

const MS: u64 = 1_000_000;

fn delays_of(plan: &Plan, samples: &[Sample], period_ns: u64) -> CycleDelays {
    let dir = tempfile::tempdir().expect("a directory");
    let run = run_of(&dir, plan, samples);
    cycle_delays(&run, 0, period_ns).expect("samples")
}

#[test]
fn a_replayed_run_skips_the_ticks_at_which_no_request_can_be_sent() {
    let samples = one_by_one(&[
        (MS / 4, Status::Ok),
        (5 * MS / 2, Status::Ok),
        (3 * MS, Status::Lost),
        (MS / 2, Status::Corrupted),
        (MS, Status::Ok),
    ]);
    let found = delays_of(&of_depth(1), &samples, MS);
    assert_eq!(
        found.delays,
        [
            Some(MS / 4),
            Some(5 * MS / 2),
            None,
            None,
            None,
            None,
            None,
            None,
            Some(MS)
        ]
    );
    assert_eq!(
        (found.cycles, found.unanswered, found.unsent, found.left_out),
        (9, 2, 4, 0)
    );
    // Two outstanding: only the tick between both long ones and their ends is skipped.
    let found = delays_of(&of_depth(2), &samples, MS);
    let ends = [Some(MS / 4), Some(5 * MS / 2), None];
    assert_eq!(found.delays[..3], ends);
    assert_eq!((found.cycles, found.unanswered, found.unsent), (6, 2, 1));
}

#[test]
fn a_run_with_the_loops_schedule_has_a_cycle_for_each_exchange() {
    let samples = on_ticks(MS, &[200, 200, 2_500, 200, 200].map(|us| us * 1000));
    let mut plan = of_depth(1);
    plan.schedule = Schedule::EveryNs(MS);
    let found = delays_of(&plan, &samples, MS);
    let us = [200, 200, 2_500, 1_700, 900];
    assert_eq!(found.delays, us.map(|us| Some(us * 1000)));
    assert_eq!((found.cycles, found.unsent), (5, 0));
    // With another period the responses count from their own start, and the long one holds up a tick.
    let found = delays_of(&plan, &samples, 2 * MS);
    let us = [
        Some(200),
        Some(200),
        Some(2_500),
        None,
        Some(200),
        Some(200),
    ];
    assert_eq!(found.delays, us.map(|us| us.map(|us| us * 1000)));
    assert_eq!((found.cycles, found.unsent), (6, 1));
}

#[test]
fn the_cycles_are_those_of_the_deadline_whatever_the_depth() {
    let outcomes: Vec<(u64, Status)> = (0..500_u64)
        .map(|i| match i % 17 {
            3 => (7 * MS / 2, Status::Ok),
            11 => (4 * MS, Status::Lost),
            _ => (i * 7919 % (3 * MS), Status::Ok),
        })
        .collect();
    let samples = one_by_one(&outcomes);
    for depth in [1, 2, 3] {
        let asked = ControlLoop {
            period_ns: MS,
            deadline_ns: MS,
            jitter_ns: None,
            beyond: None,
        };
        let dir = tempfile::tempdir().expect("a directory");
        let run = run_of(&dir, &of_depth(depth), &samples);
        let found = cycle_delays(&run, 0, MS).expect("samples");
        let counted = deadlines(&run, &[0], asked, &mut |_| {}).expect("samples");
        let counted = &counted.points[0];
        assert_eq!(found.cycles, counted.cycles.cycles);
        assert_eq!(found.unanswered, counted.unanswered);
        let missed = |delay: &&Option<u64>| delay.is_none_or(|delay| delay > MS);
        let missed = found.delays.iter().filter(missed).count() as u64;
        assert_eq!(missed, counted.cycles.missed);
    }
}

/// Cervin's servo with a PD controller, as the command has it from `--plant '1000/(s^2+s)' --pid 0.96,0,0.049`.
fn servo() -> Loop {
    let plant = TransferFunction::parse("plant", 's', "1000/(s^2+s)").expect("a plant");
    let controller = Pid::new(0.96, 0.0, 0.049);
    let controller = controller.state_space(6e-3).expect("a controller");
    Loop::new(plant.state_space().expect("proper"), controller, 6e-3).expect("a loop")
}

/// A run on the loop's schedule, each point with a constant delay in microseconds (`None`: all lost), and its tables.
fn of_points(delays_us: &[Option<u64>]) -> (Controls, Tables) {
    let mut plan = plan(delays_us.len() as u32);
    plan.schedule = Schedule::EveryNs(6 * MS);
    for point in &mut plan.points {
        (point.in_bytes, point.depth) = (16, 1 + point.index);
    }
    let dir = tempfile::tempdir().expect("a directory");
    let run = exchange_run(&dir.path().join("run"), &plan, |point| {
        let delay_us = delays_us[point.index as usize];
        (0..1000_u64).map(move |k| Sample {
            sequence: k + 1,
            intended_ns: k * 6 * MS,
            start_ns: k * 6 * MS,
            rtt_ns: delay_us.unwrap_or(6000) * 1000,
            status: delay_us.map_or(Status::Lost, |_| Status::Ok),
            ..Sample::default()
        })
    });
    let AnyRun::Exchange(run) = run else {
        panic!("not an exchange run");
    };
    let all: Vec<usize> = (0..delays_us.len()).collect();
    let found = controls(&run, &all, &servo(), Rules::default(), &mut |_| {}).expect("verdicts");
    let tables = tables::of_controls(&run.file, &found);
    (found, tables)
}

fn titled<'a>(tables: &'a Tables, begin: &str) -> &'a tables::Table {
    let found = tables
        .tables
        .iter()
        .find(|one| one.title.starts_with(begin));
    found.unwrap_or_else(|| panic!("no table {begin}"))
}

#[test]
fn constant_delays_have_their_known_cost_and_step_response_in_the_tables() {
    let (found, tables) = of_points(&[Some(3000), Some(6000)]);
    assert_eq!(found.lowest_cost, Some(0));
    let delays = titled(
        &tables,
        "Delay of the command from the intended start in ms; cycles of 6 ms",
    );
    let row = [
        "1", "1,000", "3.000", "3.000", "3.000", "3.000", "0", "0", "0",
    ];
    assert_eq!(delays.rows[0], row);
    let verdict = titled(&tables, "ON THIS TRACE");
    let without = "(without delay: growth 0.8510 per cycle, cost 12.80); lowest cost: *";
    assert!(verdict.title.ends_with(without), "{}", verdict.title);
    // The spectral radius of the closed loop, from a trace of finite length.
    for (row, radius) in verdict.rows.iter().zip([0.858_569, 0.907_594]) {
        assert_eq!(row[1], "held");
        let growth: f64 = row[2].parse().expect("a number");
        assert!((growth - radius).abs() < 1e-3, "{growth} {radius}");
    }
    assert!(verdict.rows[0][4].ends_with(" *") && !verdict.rows[1][4].ends_with('*'));
    assert_eq!(verdict.rows[0][8], "3.000 ms", "{:?}", verdict.rows);
    // Cervin's servo: overshoot and squared error for 0, 3 and 6 ms of delay.
    let step = titled(&tables, "Step response on this trace");
    assert!(
        step.title.contains("without delay: overshoot 37.5 %"),
        "{}",
        step.title
    );
    assert!(step.title.contains("int e^2 0.01619"), "{}", step.title);
    let shown = |row: usize| [1, 5].map(|column| step.rows[row][column].clone());
    assert_eq!(shown(0), ["53.1", "0.02262"]);
    assert_eq!(shown(1), ["73.1", "0.03404"]);
    let brief = tables.brief.as_ref().expect("an answer");
    let answer = &brief.answer;
    let holds =
        "The loop holds in the long run and in any order at all points; lowest cost at depth 1: ";
    assert!(answer.starts_with(holds), "{answer}");
    let finding = &tables.notes[0];
    assert!(
        finding.starts_with(&format!("Finding: {answer}")),
        "{finding}"
    );
    let table = brief.tables(80).next().expect("a table");
    assert!(table.title.contains("without delay 12.80; lowest: *"));
    assert!(table.width() <= 80, "{}", table.width());
    assert_eq!(table.rows[0][..4], ["1", "held", "holds", "proved"]);
    assert!(table.rows[0][4].contains(" *") && !table.rows[1][4].contains('*'));
}

#[test]
fn of_many_points_those_with_the_lowest_costs_are_in_the_first_table() {
    let delays: Vec<Option<u64>> = (0..12).map(|at| Some(12_000 - 1000 * at)).collect();
    let (_, tables) = of_points(&delays);
    let brief = tables.brief.expect("an answer");
    let table = brief.tables(80).next().expect("a table");
    let depths: Vec<&str> = table.rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(
        depths,
        ["3", "4", "5", "6", "7", "8", "9", "10", "11", "12"]
    );
    let note = "10 of 12 points, those with the lowest costs";
    assert!(table.notes.iter().any(|one| one == note));
}

#[test]
fn the_only_point_has_its_cost_and_no_name_in_the_answer() {
    let answer = |delay_us| {
        let (_, tables) = of_points(&[Some(delay_us)]);
        tables.brief.expect("an answer").answer
    };
    let holds = answer(3000);
    let begin = "The loop holds in the long run and in any order; cost ";
    assert!(
        holds.starts_with(begin) && holds.ends_with(" x that without delay."),
        "{holds}"
    );
    let broken = answer(15_000);
    let begin = "The loop does not hold on this trace; growth 1.";
    let end = " per cycle; in the long run: does not hold; in any order: broken.";
    assert!(
        broken.starts_with(begin) && broken.ends_with(end),
        "{broken}"
    );
}

#[test]
fn a_point_that_did_not_hold_and_one_without_answers_are_named() {
    let (found, tables) = of_points(&[Some(15_000), Some(1000), None]);
    assert!(found.points[2].assessment.is_none());
    // Only one point has a cost.
    assert_eq!(found.lowest_cost, None);
    let verdict = titled(&tables, "ON THIS TRACE");
    let words: Vec<&str> = verdict.rows.iter().map(|row| row[1].as_str()).collect();
    assert_eq!(words, ["did not hold", "held"]);
    let has = |words: &str| tables.notes.iter().any(|note| note.contains(words));
    let answer = &tables.brief.as_ref().expect("an answer").answer;
    assert_eq!(
        answer,
        "The loop holds in the long run and in any order at depth 2, not at depth 1; not computed at depth 3."
    );
    assert!(has(
        "No response arrived in time (depth 3): these points have no row."
    ));
    assert!(has("--on-miss hold"));
}

#[test]
fn a_point_with_too_many_responses_outstanding_is_named_and_the_others_are_computed() {
    // 80 periods.
    let (found, tables) = of_points(&[Some(480_000), Some(1000)]);
    assert!(found.points[0].assessment.is_none() && found.points[1].assessment.is_some());
    let json = serde_json::to_value(&found).expect("a value");
    let reason = json["points"][0]["reason"].as_str().expect("a reason");
    assert!(
        reason.starts_with("up to 80 commands are outstanding"),
        "{reason}"
    );
    let note = format!("Not computed (depth 1): {reason}. Ignore responses");
    assert!(
        tables.notes.iter().any(|one| one.starts_with(&note)),
        "{:?}",
        tables.notes
    );
}

#[test]
fn the_long_run_any_order_and_misses_have_tables_of_their_own() {
    let (_, tables) = of_points(&[Some(3000), Some(15_000)]);
    let verdicts = |begin: &str| -> Vec<String> {
        let rows = titled(&tables, begin).rows.iter();
        rows.map(|row| row[1].clone()).collect()
    };
    assert_eq!(verdicts("IN THE LONG RUN"), ["holds", "does not hold"]);
    assert_eq!(verdicts("IN ANY ORDER"), ["proved", "broken"]);
    // Of the servo at 3 ms, holding: two misses in a row are proved, four break it.
    let margins = titled(
        &tables,
        "Margins: unstable from a constant delay of 13.41 ms on",
    );
    assert_eq!(margins.rows[0][1..4], ["0", "2", "4"]);
    assert_eq!(margins.rows[1][2], "unstable");
    let has = |words: &str| tables.notes.iter().any(|note| note.contains(words));
    assert!(has(
        "IN ANY ORDER at depth 2: the loop is unstable with a constant delay of 15.00 ms"
    ));
    let answer = &tables.brief.as_ref().expect("an answer").answer;
    let holds = "The loop holds in the long run and in any order at depth 1, not at depth 2; cost ";
    assert!(answer.starts_with(holds), "{answer}");
}
