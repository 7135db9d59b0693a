//! Runs of known responses as the cycles of a control loop: the delay of each, exactly.

use crate::common;

use common::{exchange_run, of_depth, on_ticks, one_by_one, plan, run_of};
use wiregauge_control::{Loop, Pid, Rules, TransferFunction};
use wiregauge_record::*;
use wiregauge_report::load::{ControlLoop, CycleDelays, controls, cycle_delays, deadlines};
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
pub fn of_points(delays_us: &[Option<u64>]) -> Tables {
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
    tables::of_controls(&run.file, &found)
}

#[test]
fn of_many_points_those_with_the_lowest_costs_are_in_the_first_table() {
    let delays: Vec<Option<u64>> = (0..12).map(|at| Some(12_000 - 1000 * at)).collect();
    let brief = of_points(&delays).brief.expect("an answer");
    let table = brief.tables(80).next().expect("a table");
    let depths: Vec<&str> = table.rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(
        depths,
        ["3", "4", "5", "6", "7", "8", "9", "10", "11", "12"]
    );
    let note = "10 of 12 points, those with the lowest costs";
    assert!(table.notes.iter().any(|one| one == note));
}
