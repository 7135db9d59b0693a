//! Runs of known responses, held against control loops: the cycles that miss are counted exactly, in
//! the order of the requests, whatever the order of the answers.

use crate::common;

use common::{Random, of_depth, on_ticks, one_by_one, plan, run_of};
use wiregauge_record::*;
use wiregauge_report::figures;
use wiregauge_report::load::{ControlLoop, Deadlines, Taken, deadlines};
use wiregauge_report::tables;

const MS: u64 = 1_000_000;

fn every(period_ns: u64) -> ControlLoop {
    ControlLoop {
        period_ns,
        deadline_ns: period_ns,
        jitter_ns: None,
        beyond: None,
    }
}

#[track_caller]
fn told_of(plan: &Plan, samples: &[Sample], control_loop: ControlLoop) -> Deadlines {
    let dir = tempfile::tempdir().expect("a directory");
    let run = run_of(&dir, plan, samples);
    deadlines(&run, &[0], control_loop, &mut |_| {}).expect("the samples can be read")
}

#[test]
fn stalls_and_losses_miss_every_tick_that_they_hold_up() {
    let mut outcomes = vec![(MS / 4, Status::Ok); 1000];
    outcomes[100] = (30 * MS, Status::Ok);
    outcomes[500] = (100 * MS, Status::Lost);
    outcomes[501] = (MS / 4, Status::Corrupted);
    let mut samples = one_by_one(&outcomes);
    // The answer to the lost one after all: a further row, and no cycle.
    samples.push(Sample {
        status: Status::Late,
        ..samples[501]
    });
    let found = told_of(&of_depth(1), &samples, every(MS));
    assert_eq!(found.taken, Taken::Replayed);
    let cycles = &found.points[0].cycles;
    assert_eq!(cycles.missed, 30 + 100 + 1);
    assert_eq!(cycles.cycles, 1000 + 29 + 99);
    assert_eq!((cycles.runs, cycles.longest_run), (2, 101));
    assert_eq!(found.points[0].unanswered, 2);
    let response = found.points[0].response.as_ref().expect("answers");
    assert_eq!((response.n, response.max), (998, 30e6));
}

#[test]
fn a_limit_of_jitter_misses_what_is_early_too() {
    let mut outcomes = vec![(400_000, Status::Ok); 100];
    outcomes[10].0 = 350_000;
    outcomes[20].0 = 349_999;
    outcomes[30].0 = 450_001;
    let asked = ControlLoop {
        jitter_ns: Some(50_000),
        ..every(MS)
    };
    let found = told_of(&of_depth(1), &one_by_one(&outcomes), asked);
    assert_eq!(found.points[0].cycles.missed, 2);
    assert_eq!(found.points[0].limit_ns, 450_000.0);
}

#[test]
fn a_run_with_the_loops_schedule_counts_from_the_intended_start() {
    // The third is late by itself; the next two start late for it.
    let rtt = [200, 200, 2_500, 200, 200, 200, 200];
    let samples = on_ticks(MS, &rtt.map(|us| us * 1000));
    let mut plan = of_depth(1);
    plan.schedule = Schedule::EveryNs(MS);
    let found = told_of(&plan, &samples, every(MS));
    assert_eq!(found.taken, Taken::AsScheduled);
    // 2.5 ms and 1.7 ms from their ticks; then 0.9 ms is in time.
    let cycles = &found.points[0].cycles;
    assert_eq!(
        (cycles.cycles, cycles.missed, cycles.longest_run),
        (7, 2, 2)
    );
    // Held against another period, the responses count from their own start.
    let found = told_of(&plan, &samples, every(2 * MS));
    assert_eq!(found.taken, Taken::ReplayedFrom { every_ns: MS });
    let cycles = &found.points[0].cycles;
    assert_eq!((cycles.cycles, cycles.missed), (8, 2));
}

#[test]
fn answers_that_overtake_each_other_are_put_back_into_order() {
    // Two outstanding; every second pair ends in the other order, one row far behind.
    let mut samples = one_by_one(&[(MS / 2, Status::Ok); 400]);
    samples[50].rtt_ns = 20 * MS;
    let ordered = told_of(&of_depth(2), &samples, every(MS));
    samples[1..]
        .chunks_exact_mut(4)
        .for_each(|four| four.swap(0, 1));
    let late = samples.remove(40);
    samples.insert(300, late);
    let found = told_of(&of_depth(2), &samples, every(MS));
    assert_eq!(found.points[0].cycles, ordered.points[0].cycles);
    // With two outstanding, one that takes long leaves a place for the next: only its own cycle misses.
    let cycles = &found.points[0].cycles;
    assert_eq!((cycles.cycles, cycles.missed), (400, 1));
}

/// Exponential beyond 0.2 ms, 50 us a factor of e.
pub fn smooth(n: u64) -> Vec<Sample> {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let outcomes = (0..n).map(|_| {
        let uniform = (random.bits(48) as f64 + 0.5) / (1_u64 << 48) as f64;
        ((2e5 - 5e4 * uniform.ln()) as u64, Status::Ok)
    });
    one_by_one(&outcomes.collect::<Vec<_>>())
}

#[test]
fn a_smooth_tail_is_continued_and_drawn() {
    let dir = tempfile::tempdir().expect("a directory");
    let run = run_of(&dir, &of_depth(1), &smooth(20_000));
    let found = deadlines(&run, &[0], every(MS), &mut |_| {}).expect("samples");
    let point = &found.points[0];
    assert_eq!(point.cycles.missed, 0);
    assert_eq!(point.beyond.refused, None);
    let figure = figures::of_deadlines(&found).expect("a figure");
    for part in ["deadline 1 ms", "fitted tail", "class=\"tail\""] {
        assert!(figure.svg.contains(part), "{part}");
    }
    let late = |limit_ns: u64| {
        let found = deadlines(&run, &[0], every(limit_ns), &mut |_| {}).expect("samples");
        serde_json::to_value(found.points[0].beyond.late).expect("JSON")
    };
    // None of 20,000 was longer than this; P(> t) is exp(4 - t / 50 us), and the interval must hold it.
    let longest = point.response.as_ref().expect("responses").max as u64 + 1_000;
    let (fitted, truth) = (late(longest), (4.0_f64 - longest as f64 / 5e4).exp());
    let than = fitted["than"].as_f64().expect("an upper bound");
    assert!(truth < than && than < 10.0 * truth, "{fitted}, not {truth}");
    // Some were longer than 0.6 ms: they are counted, not extrapolated.
    assert_eq!(late(600_000)["how"], "seen");
}

#[test]
fn points_that_are_too_short_have_one_warning_in_the_flag_that_limits_the_run() {
    let samples = smooth(100);
    for (limit, flag, other) in [
        (Limit::Count(100), "--count", "--duration"),
        (Limit::DurationNs(1_000_000_000), "--duration", "--count"),
    ] {
        let plan = Plan { limit, ..plan(3) };
        let dir = tempfile::tempdir().expect("a directory");
        let run = run_of(&dir, &plan, &samples);
        let found = deadlines(&run, &[0, 1, 2], every(MS), &mut |_| {}).expect("samples");
        let warnings = tables::of_deadlines(&run.file, &found).warnings;
        let words: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        let [text] = &words[..] else {
            panic!("{words:?}")
        };
        assert!(
            text.starts_with("no extrapolation (all points): "),
            "{text}"
        );
        assert!(text.contains(flag) && !text.contains(other), "{text}");
        let why = found.points[0].beyond.why.as_ref().expect("a reason");
        assert!(why.contains(flag) && !why.contains(other), "{why}");
    }
}

#[test]
fn a_point_that_falls_behind_gets_no_advice_of_a_longer_run_and_one_burst_has_no_time_between() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut plan = plan(1);
    plan.schedule = Schedule::EveryNs(6 * MS);
    let run = run_of(&dir, &plan, &on_ticks(6 * MS, &[7_728_000; 500]));
    let found = deadlines(&run, &[0], every(6 * MS), &mut |_| {}).expect("samples");
    assert_eq!(found.points[0].cycles.runs, 1, "one burst");
    let why = found.points[0].beyond.why.as_deref();
    assert!(
        why.is_some_and(|why| why.contains("falls behind its schedule")),
        "{why:?}"
    );
    let told = tables::of_deadlines(&run.file, &found);
    let advice: Vec<String> = told.warnings.iter().map(ToString::to_string).collect();
    let advice = advice.join(" ");
    assert!(
        !advice.contains("--count") && !advice.contains("longer"),
        "{advice}"
    );
    let mut all = told.tables.iter();
    let bursts = all.find(|table| table.title.starts_with("Bursts of missed cycles"));
    let bursts = bursts.expect("a table of bursts");
    let between = |head: &String| head == "mean time between bursts";
    let at = bursts.columns.iter().position(between);
    let cell = at.map_or("-", |at| bursts.rows[0][at].as_str());
    assert_eq!(cell, "-");
}
