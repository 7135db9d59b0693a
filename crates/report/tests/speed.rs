//! Ten million samples are loaded within seconds and in bounded memory, be they one point or a
//! hundred. Kept out of `make test` for their length.

use crate::common;

use common::*;
use std::fs;
use std::time::{Duration, Instant};
use wiregauge_record::Direction;
use wiregauge_report::load::Loaded;
use wiregauge_run::AnyRun;

const SAMPLES: u64 = 10_000_000;

/// Some ten times what an idle computer of two cores takes: a busy one must pass too.
const MAX_WAIT: Duration = Duration::from_secs(240);

/// The most that this process ever held, in kB, its writing of the run included.
fn most_memory_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux tells of a process");
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let value = line.and_then(|line| line.split_whitespace().nth(1));
    value
        .and_then(|kb| kb.parse().ok())
        .expect("VmHWM is a number of kB")
}

fn assert_quick_and_small(run: &AnyRun, samples: u64) -> Loaded {
    let begin = Instant::now();
    let loaded = samples_of(run);
    let took = begin.elapsed();
    assert_eq!(loaded.samples(), samples);
    assert!(took < MAX_WAIT, "took {took:?}");
    let held = most_memory_kb();
    assert!(held < 400_000, "{held} kB");
    println!("{samples} samples in {took:.2?}, at most {held} kB");
    loaded
}

#[test]
#[ignore = "takes some ten seconds: run by make simulations"]
fn ten_million_samples_of_one_point_are_gathered_in_bounded_memory() {
    let dir = tempfile::tempdir().expect("a place for a run");
    let run = exchange_run(dir.path(), &plan(1), |_| exchanges(SAMPLES, 1));
    assert_quick_and_small(&run, SAMPLES - SAMPLES / 10_000);
}

#[test]
#[ignore = "takes some ten seconds: run by make simulations"]
fn ten_million_samples_of_a_hundred_points_are_gathered_in_bounded_memory() {
    let dir = tempfile::tempdir().expect("a place for a run");
    let run = exchange_run(dir.path(), &plan(100), |point| {
        exchanges(SAMPLES / 100, point.index.into())
    });
    assert_quick_and_small(&run, SAMPLES - SAMPLES / 10_000);
}

#[test]
#[ignore = "takes some ten seconds: run by make simulations"]
fn ten_million_transfers_both_ways_are_gathered_in_bounded_memory() {
    let dir = tempfile::tempdir().expect("a place for a run");
    let plan = stream_plan(vec![stream_point(0, Direction::Both)]);
    let each = SAMPLES / 2;
    let run = stream_run(dir.path(), &plan, |point| transfers(point, each, 1));
    // The start-up of 20 transfers, one in a thousand stalled, the last one cancelled.
    assert_quick_and_small(&run, 2 * (each - 20 - each / 1000 - 1));
}
