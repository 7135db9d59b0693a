//! What the answer, the tables and the deadlines of one run say, held against each other.

use crate::common;
use crate::golden::warned;

use common::*;
use wiregauge_record::*;
use wiregauge_report::load::{ControlLoop, cycles_of_schedule, deadlines, deadlines_of_all};
use wiregauge_report::tables;
use wiregauge_run::AnyRun;

fn said_of(run: &AnyRun) -> String {
    tables::of(run, false).brief.expect("an answer").answer
}

#[test]
fn the_table_of_failed_exchanges_counts_as_lost_what_the_first_table_does() {
    let dir = tempfile::tempdir().expect("a directory");
    let run = exchange_run(&dir.path().join("run"), &plan(1), |_| {
        paced(1, 20_000, 1_000, 200).map(|sample| Sample {
            status: match sample.sequence {
                500 | 600 => Status::Corrupted,
                _ => sample.status,
            },
            ..sample
        })
    });
    let told = tables::of(&run, false);
    let mut all = told.tables.iter();
    let failed = all.find(|table| table.title.starts_with("Failed exchanges"));
    let failed = failed.expect("a table of failed exchanges");
    let cell = |head: &str| {
        let at = failed.columns.iter().position(|name| name == head);
        failed.rows[0][at.expect("a column")].as_str()
    };
    assert_eq!((cell("lost"), cell("unanswered")), ("7", "5"));
    let said = told.brief.expect("an answer").answer;
    let expected = "7 of 1,000 without a right answer in time (5 unanswered, 2 corrupted).";
    assert!(said.ends_with(expected), "{said}");
}

#[test]
fn the_answer_to_a_rate_has_the_late_responses_that_a_deadline_of_the_period_counts() {
    let dir = tempfile::tempdir().expect("a directory");
    // Every start is in time; three of five responses come after the next one.
    let slow = |sequence: u64| match sequence % 5 {
        0..3 => (0, 150_000),
        _ => (0, 50_000),
    };
    let run = late_run(&dir.path().join("late"), &plan(1), slow);
    let control_loop = cycles_of_schedule(run.stored()).expect("a schedule");
    let found = deadlines_of_all(run.stored(), control_loop).expect("samples");
    assert_eq!(found.points[0].cycles.share.value, 0.6);
    let part = "60 % of the responses come after the end of their period";
    let said = said_of(&run);
    assert!(
        said.starts_with(&format!("Starts keep 10 kHz; {part}")),
        "{said}"
    );
    let kept = late_run(&dir.path().join("kept"), &plan(1), |_| (0, 50_000));
    assert!(!said_of(&kept).contains("come after"));
    // What has no right answer is named for itself, though a deadline counts it as missed.
    let scheduled = Plan {
        schedule: Schedule::EveryNs(20_000),
        ..plan(1)
    };
    let lossy = exchange_run(&dir.path().join("lossy"), &scheduled, |_| {
        paced(1, 20_000, 1_000, 200)
    });
    let said = said_of(&lossy);
    assert!(
        said.contains("5 of 1,000 without") && !said.contains("come after"),
        "{said}"
    );
    let two = said_of(&late_run(&dir.path().join("two"), &plan(2), slow));
    let of_all = "60 % of the responses at all points come after the end of their period";
    assert!(two.contains(of_all), "{two}");
}

#[test]
fn stalls_far_beyond_the_slow_peak_are_named() {
    let dir = tempfile::tempdir().expect("a directory");
    let run = exchange_run(&dir.path().join("run"), &plan(1), |_| {
        let mut random = Random(7);
        paced(1, 100_000_000, 20_000, 0).map(move |sample| Sample {
            rtt_ns: match sample.sequence {
                at if at % 500 == 0 => 50_000_000,
                at if at % 50 == 0 => 700_000 + random.bits(17),
                _ => 200_000 + random.bits(15),
            },
            ..sample
        })
    });
    let said = said_of(&run);
    assert!(said.contains(" or more, up to 50.00 ms"), "{said}");
}

#[test]
fn a_point_that_falls_behind_gets_no_advice_of_a_longer_run_and_one_burst_has_no_time_between() {
    let dir = tempfile::tempdir().expect("a directory");
    const MS: u64 = 1_000_000;
    let mut plan = plan(1);
    plan.schedule = Schedule::EveryNs(6 * MS);
    let run = run_of(&dir, &plan, &on_ticks(6 * MS, &[7_728_000; 500]));
    let control_loop = ControlLoop {
        period_ns: 6 * MS,
        deadline_ns: 6 * MS,
        jitter_ns: None,
        beyond: None,
    };
    let found = deadlines(&run, &[0], control_loop, &mut |_| {}).expect("samples");
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

#[test]
fn of_late_starts_by_both_causes_each_is_counted() {
    let dir = tempfile::tempdir().expect("a directory");
    let run = late_run(&dir.path().join("run"), &plan(1), late_by_both);
    let text = warned(&tables::of(&run, false).warnings, "W06");
    let by_host = (100..=1000).step_by(20).count();
    let expected = format!(" waited for earlier ones; the host started the other {by_host} late");
    assert!(text.contains(&expected), "{text}");
    // All of them are counted once.
    assert_eq!(text.matches("more than a period late").count(), 1, "{text}");
}
