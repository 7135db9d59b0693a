//! The first sentence of a page, the summary and the finding against the samples: what a run does not support is not said.

use crate::common;
use crate::page::{self, between};

use common::*;
use wiregauge_record::*;
use wiregauge_report::load::{cycles_of_schedule, deadlines_of_all};
use wiregauge_report::tables;
use wiregauge_run::{AnyRun, Exchange, Run, State};

fn page_of(run: AnyRun) -> String {
    let page = page::page_of(&[page::subject("run", run)]);
    page.replace('\u{a0}', " ")
}

/// The first sentence.
fn answer_of(page: &str) -> &str {
    between(page, "<p class=\"answer\">", "</p>")
}

/// What the terminal says first.
fn said_of(run: &AnyRun) -> String {
    tables::of(run, false).brief.expect("an answer").answer
}

#[test]
fn the_only_point_cut_short_is_no_finished_point() {
    let dir = tempfile::tempdir().expect("a directory");
    let run = exchange_run(&dir.path().join("run"), &plan(1), |_| exchanges(300, 1));
    let run = run.as_kind::<Exchange>().expect("an exchange run");
    let mut file = run.file.clone();
    file.state = State::Interrupted;
    file.points[0].ending = Ending::Interrupted;
    let page = page_of(AnyRun::from(Run::new(run.dir.clone(), file)));
    assert!(
        page.contains("Interrupted after ") && page.contains("exchanges, 0 of 1 points complete.")
    );
    assert!(answer_of(&page).starts_with("0 of 1 points finished. Median RTT "));
}

#[test]
fn no_other_depth_being_faster_is_claimed_with_intervals_only() {
    let dir = tempfile::tempdir().expect("a directory");
    let answer = |name: &str, n: u64| {
        let run = exchange_run(&dir.path().join(name), &plan(2), |point| {
            paced(1, 20_000 * u64::from(point.depth), n, 0)
        });
        answer_of(&page_of(run)).to_owned()
    };
    let known = answer("known", 2_000);
    assert!(known == "Saturated at depth 1: 50,000 per s.", "{known}");
    let few = answer("few", 3);
    assert!(few.starts_with("Depth 1 is the fastest here: "), "{few}");
}

#[test]
fn a_rate_saturates_where_all_points_are_complete_and_have_enough_samples() {
    let dir = tempfile::tempdir().expect("a directory");
    let run = |name: &str, n: u64| {
        exchange_run(&dir.path().join(name), &plan(3), |point| {
            paced(point.depth.min(2), 20_000, n, 0)
        })
    };
    let long = run("long", 2_000);
    let said = said_of(&long);
    assert!(said.starts_with("Saturated at depth 2: "), "{said}");
    let long = long.as_kind::<Exchange>().expect("an exchange run");
    let mut file = long.file.clone();
    file.plan.points.push(Point {
        index: 3,
        depth: 8,
        ..point(0)
    });
    let said = said_of(&AnyRun::from(Run::new(long.dir.clone(), file)));
    assert!(!said.contains("aturated"), "depth 8 is missing: {said}");
    let short = said_of(&run("short", 4));
    assert!(!short.contains("aturated"), "{short}");
}

#[test]
fn terminal_page_table_and_explain_have_one_rule_for_a_schedule() {
    const MS: u64 = 1_000_000;
    let dir = tempfile::tempdir().expect("a directory");
    let mut plan = plan(1);
    plan.schedule = Schedule::EveryNs(6 * MS);
    let says = |name: &str, rtts: &[u64]| {
        let run = exchange_run(&dir.path().join(name), &plan, |_| {
            on_ticks(6 * MS, rtts).into_iter()
        });
        let told = tables::of(&run, false);
        let is_warned = told.warnings.iter().any(|warning| warning.code == "W06");
        let brief = told.brief.expect("an answer");
        let table = brief.tables(100).next().expect("a table");
        let cell = table.rows[0].last().expect("a column").clone();
        let said = brief
            .answer
            .trim_end_matches('.')
            .split("; ")
            .next()
            .expect("a part");
        let stored = run.as_kind::<Exchange>().expect("an exchange run");
        let file = &stored.file;
        let split = wiregauge_explain::of_exchange(&file.plan, &file.conditions, &file.points);
        let explained = split[0].words.contains("was not kept");
        assert!(answer_of(&page_of(run.clone())).starts_with(said), "{said}");
        assert_eq!(explained, said.contains("do not keep"), "{said}");
        (said.to_owned(), cell, is_warned)
    };
    let kept = "Starts keep one exchange every 6 ms";
    let of = |said: &str, cell: &str, is_warned| (said.to_owned(), cell.to_owned(), is_warned);
    assert_eq!(says("kept", &[3 * MS; 500]), of(kept, "kept", false));
    // A little behind in a few exchanges: less than a period in all.
    assert_eq!(says("few", &[6_100_000; 20]), of(kept, "kept", false));
    // One stall in 500 cycles delays the starts of ten, and is made up for.
    let mut stall = [3 * MS; 500];
    stall[100] = 40 * MS;
    let (said, cell, is_warned) = says("stall", &stall);
    let late = cell.strip_suffix(" late").expect("a count");
    assert_eq!(said, format!("{kept}, {late} of 500 late"));
    assert!(
        is_warned && late.parse::<u64>().is_ok_and(|late| late > 5),
        "{late}"
    );
    let (said, cell, is_warned) = says("late", &[7_728_000; 500]);
    let end = "Starts do not keep one exchange every 6 ms: at most 129.4 per s";
    assert_eq!(
        (said.as_str(), cell.as_str(), is_warned),
        (end, "862.3 ms behind", true)
    );
}

#[test]
fn a_ratio_of_rates_is_that_of_the_table_with_the_digits_of_the_bottleneck() {
    let dir = tempfile::tempdir().expect("a directory");
    // Twenty exchanges: the last response weighs on the rate, and not on the mean TRT.
    let run = exchange_run(&dir.path().join("run"), &plan(2), |point| {
        let rtt_ns = 20_000 + 400_000 * u64::from(2 - point.depth);
        paced(point.depth, rtt_ns, 20, 0)
    });
    let stored = run.as_kind::<Exchange>().expect("an exchange run");
    let rate = |at: usize| stored.file.points[at].throughput.exchanges_s;
    let ratio = wiregauge_quantity::times(rate(1) / rate(0));
    let page = page_of(run);
    assert!(
        answer_of(&page).contains(&ratio),
        "{ratio}: {}",
        answer_of(&page)
    );
    assert!(
        page.contains(&format!("throughput is {ratio} as high")),
        "{ratio}"
    );
}

#[test]
fn what_the_table_counts_as_lost_is_what_a_limit_of_lost_counts() {
    let dir = tempfile::tempdir().expect("a directory");
    let run = exchange_run(&dir.path().join("run"), &plan(1), |_| {
        paced(1, 20_000, 1_000, 200).map(|sample| Sample {
            status: match sample.sequence {
                500 | 600 => Status::Corrupted,
                700 => Status::Unexpected,
                _ => sample.status,
            },
            ..sample
        })
    });
    let stored = run.as_kind::<Exchange>().expect("an exchange run");
    let limited = Figure::parse("lost").expect("a figure");
    let share = limited.of_point(&stored.file.points[0]);
    assert_eq!(share.expect("a share").value, 0.008);
    let brief = tables::of(&run, false).brief.expect("an answer");
    let table = brief.tables(usize::MAX).next().expect("a table");
    let lost = table.columns.iter().position(|head| head == "lost");
    assert_eq!(table.rows[0][lost.expect("a column")], "8");
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
