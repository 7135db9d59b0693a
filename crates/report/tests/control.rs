//! Runs of known responses as the cycles of a control loop: the delay of each, exactly.

use crate::common;

use common::{exchange, exchange_run, plan};
use wiregauge_record::*;
use wiregauge_report::load::{ControlLoop, CycleDelays, cycle_delays, deadlines};
use wiregauge_run::{AnyRun, Exchange, Run};

const MS: u64 = 1_000_000;

fn of_depth(depth: u32) -> Plan {
    let mut plan = plan(1);
    plan.points[0].depth = depth;
    plan
}

/// Measured exchanges that each begin when the one before has ended.
fn one_by_one(outcomes: &[(u64, Status)]) -> Vec<Sample> {
    let mut start_ns = 0;
    let first = (MS, Status::Ok);
    let all = std::iter::once(&first).chain(outcomes).enumerate();
    all.map(|(sequence, &(rtt_ns, status))| {
        let intended_ns = start_ns;
        start_ns += rtt_ns;
        Sample {
            intended_ns,
            start_ns: intended_ns,
            rtt_ns,
            status,
            ..exchange(sequence as u64)
        }
    })
    .collect()
}

fn with_run<T>(plan: &Plan, samples: &[Sample], read: impl Fn(&Run<Exchange>) -> T) -> T {
    let dir = tempfile::tempdir().expect("a directory");
    match exchange_run(&dir.path().join("run"), plan, |_| samples.iter().copied()) {
        AnyRun::Exchange(run) => read(&run),
        _ => panic!("not an exchange run"),
    }
}

fn delays_of(plan: &Plan, samples: &[Sample], period_ns: u64) -> CycleDelays {
    with_run(plan, samples, |run| {
        cycle_delays(run, 0, period_ns).expect("samples")
    })
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
    let rtt = [200, 200, 2_500, 200, 200].map(|us| us * 1000);
    let mut free_ns = 0;
    let samples: Vec<Sample> = (0..5_u64)
        .map(|sequence| {
            let intended_ns = sequence * MS;
            let start_ns = free_ns.max(intended_ns);
            let rtt_ns = rtt[sequence as usize];
            free_ns = start_ns + rtt_ns;
            Sample {
                sequence: sequence + 1,
                intended_ns,
                start_ns,
                rtt_ns,
                ..Sample::default()
            }
        })
        .collect();
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
        let (found, counted) = with_run(&of_depth(depth), &samples, |run| {
            let counted = deadlines(run, &[0], asked, &mut |_| {}).expect("samples");
            (cycle_delays(run, 0, MS).expect("samples"), counted)
        });
        let counted = &counted.points[0];
        assert_eq!(found.cycles, counted.cycles.cycles);
        assert_eq!(found.unanswered, counted.unanswered);
        let missed = |delay: &&Option<u64>| delay.is_none_or(|delay| delay > MS);
        let missed = found.delays.iter().filter(missed).count() as u64;
        assert_eq!(missed, counted.cycles.missed);
    }
}
