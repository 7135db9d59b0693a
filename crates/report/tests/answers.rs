//! The first sentence of a page, the summary and the finding against the samples: what a run does not support is not said.

use crate::common;

use common::*;
use wiregauge_record::*;
use wiregauge_report::{Subject, figures, page, tables};
use wiregauge_run::{AnyRun, Run, State};

fn page_of(run: AnyRun) -> String {
    let tables = tables::of(&run, true);
    let subject = Subject::load("run".to_owned(), run, tables, None, &|_| {});
    let subjects = [subject];
    let page = page::html(&subjects, &figures::of(&subjects), &[]);
    page.replace('\u{a0}', " ")
}

/// The first sentence.
fn answer_of(page: &str) -> &str {
    let behind = page
        .split_once("<p class=\"answer\">")
        .expect("an answer")
        .1;
    behind.split_once("</p>").expect("its end").0
}

/// What the terminal says first.
fn said_of(run: &AnyRun) -> String {
    tables::of(run, false).brief.expect("an answer").answer
}

fn exchange_file(run: &mut AnyRun) -> &mut wiregauge_run::RunFile {
    match run {
        AnyRun::Exchange(run) => &mut run.file,
        _ => panic!("not an exchange run"),
    }
}

/// As if the run had been opened after it was changed.
fn count_again(run: &mut AnyRun) {
    if let AnyRun::Exchange(run) = run {
        *run = Run::new(run.dir.clone(), run.file.clone());
    }
}

#[test]
fn points_that_were_cut_short_are_not_counted_as_finished() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut run = exchange_run(&dir.path().join("run"), &plan(3), |point| {
        paced(point.depth, 20_000, 500, 0)
    });
    let file = exchange_file(&mut run);
    file.state = State::Failed {
        error: "the device closed the link\n  hint: was it unplugged?".into(),
    };
    file.points.truncate(2);
    file.points[1].ending = Ending::LinkFailed {
        error: "the device closed the link".into(),
    };
    count_again(&mut run);
    assert!(!said_of(&run).contains("aturated"), "{}", said_of(&run));
    let page = page_of(run);
    assert!(
        page.contains(
            "1 of 3 points complete: the device closed the link. Hint: was it unplugged?"
        ),
        "{page}"
    );
    let answer = answer_of(&page);
    assert_eq!(
        answer.split_once(". ").map(|(first, _)| first),
        Some("1 of 3 points finished")
    );
}

#[test]
fn the_only_point_cut_short_is_no_finished_point() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut run = exchange_run(&dir.path().join("run"), &plan(1), |_| exchanges(300, 1));
    let file = exchange_file(&mut run);
    file.state = State::Interrupted;
    file.points[0].ending = Ending::Interrupted;
    count_again(&mut run);
    let page = page_of(run);
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
fn a_depth_with_losses_is_limited_by_them_and_no_gain_is_computed_from_it() {
    let dir = tempfile::tempdir().expect("a directory");
    let said = |name: &str, loses: fn(u32) -> bool| {
        let run = exchange_run(&dir.path().join(name), &plan(3), |point| {
            let lost = if loses(point.depth) { 100 } else { 0 };
            paced(point.depth, 20_000, 2_000, lost)
        });
        said_of(&run)
    };
    let deepest = said("deepest", |depth| depth == 3);
    assert!(
        deepest.starts_with("Depth 2 is the fastest without losses: ")
            && deepest
                .contains(" times as many as at depth 1; depth 3 lost exchanges; 20 of 6,000 lost"),
        "{deepest}"
    );
    let lowest = said("lowest", |depth| depth != 1);
    assert!(
        lowest.starts_with("Depth 1 is the fastest without losses: ")
            && lowest.contains(" per s; depth 2 and 3 lost exchanges; 40 of 6,000 lost"),
        "{lowest}"
    );
    let all = said("all", |_| true);
    assert!(
        all.starts_with("Every depth lost exchanges; 60 of 6,000 lost"),
        "{all}"
    );
}

#[test]
fn a_rate_saturates_where_all_points_are_complete_and_have_enough_samples() {
    let dir = tempfile::tempdir().expect("a directory");
    let run = |name: &str, n: u64| {
        exchange_run(&dir.path().join(name), &plan(3), |point| {
            paced(point.depth.min(2), 20_000, n, 0)
        })
    };
    let mut long = run("long", 2_000);
    assert!(
        said_of(&long).starts_with("Saturated at depth 2: "),
        "{}",
        said_of(&long)
    );
    exchange_file(&mut long).plan.points.push(Point {
        index: 3,
        depth: 8,
        ..point(0)
    });
    assert!(!said_of(&long).contains("aturated"), "depth 8 is missing");
    let short = said_of(&run("short", 4));
    assert!(!short.contains("aturated"), "{short}");
}

#[test]
fn a_schedule_that_was_not_kept_is_not_said_to_be() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut plan = plan(1);
    plan.schedule = Schedule::EveryNs(6_000_000);
    let answer = |name: &str, rtt_ns: u64| {
        let run = exchange_run(&dir.path().join(name), &plan, |_| {
            on_ticks(6_000_000, &[rtt_ns; 500]).into_iter()
        });
        answer_of(&page_of(run)).to_owned()
    };
    let kept = answer("kept", 3_000_000);
    assert!(
        kept.starts_with("Starts keep one exchange every 6 ms; "),
        "{kept}"
    );
    assert!(
        kept.contains("0 of 500 cycles of 6 ms missed their deadline, the end of the cycle (0 %)"),
        "{kept}"
    );
    let late = answer("late", 7_728_000);
    let behind =
        "Starts do not keep one exchange every 6 ms: at most 129.4 per s; median RTT 7.728 ms; ";
    assert!(late.starts_with(behind), "{late}");
    assert!(
        late.contains(
            "500 of 500 cycles of 6 ms missed their deadline, the end of the cycle (100 %)"
        ),
        "{late}"
    );
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
        let AnyRun::Exchange(stored) = &run else {
            panic!("an exchange run")
        };
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
fn a_rate_is_answered_with_the_depths_that_keep_it_and_those_that_do_not() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut plan = plan(3);
    plan.schedule = Schedule::EveryNs(1_000_000);
    let run = exchange_run(&dir.path().join("run"), &plan, |point| {
        // At depth 3, what takes 2.5 ms is kept.
        let late_ns = if point.depth < 3 { 500_000 } else { 0 };
        (0..=1_000_u64).map(move |sequence| Sample {
            intended_ns: sequence * 1_000_000,
            start_ns: sequence * (1_000_000 + late_ns),
            rtt_ns: 2_500_000,
            ..exchange(sequence)
        })
    });
    assert_eq!(
        said_of(&run),
        "Starts keep 1 kHz at depth 3, not at depth 1 and 2."
    );
}

#[test]
fn a_ratio_of_rates_is_that_of_the_table_with_the_digits_of_the_bottleneck() {
    let dir = tempfile::tempdir().expect("a directory");
    // Twenty exchanges: the last response weighs on the rate, and not on the mean TRT.
    let run = exchange_run(&dir.path().join("run"), &plan(2), |point| {
        paced(
            point.depth,
            20_000 + 400_000 * u64::from(point.depth - 1),
            20,
            0,
        )
    });
    let AnyRun::Exchange(stored) = &run else {
        panic!("an exchange run")
    };
    let mut rates = stored.file.points.iter().map(|p| p.throughput.exchanges_s);
    let (one, two) = (
        rates.next().expect("depth 1"),
        rates.next().expect("depth 2"),
    );
    assert!(one > two);
    let swapped = exchange_run(&dir.path().join("swapped"), &plan(2), |point| {
        paced(
            point.depth,
            20_000 + 400_000 * u64::from(2 - point.depth),
            20,
            0,
        )
    });
    let AnyRun::Exchange(stored) = &swapped else {
        panic!("an exchange run")
    };
    let rate = |at: usize| stored.file.points[at].throughput.exchanges_s;
    let ratio = wiregauge_quantity::times(rate(1) / rate(0));
    let page = page_of(swapped);
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
fn a_duration_with_a_schedule_is_that_of_the_schedule_and_not_of_the_point() {
    let dir = tempfile::tempdir().expect("a directory");
    let heading = |name: &str, schedule: Schedule| {
        let plan = Plan {
            limit: Limit::DurationNs(4_000_000_000),
            schedule,
            ..plan(2)
        };
        let run = exchange_run(&dir.path().join(name), &plan, |_| paced(1, 20_000, 50, 0));
        tables::of(&run, false).heading.swap_remove(0)
    };
    let kept = heading("kept", Schedule::EveryNs(1_000_000));
    assert!(
        kept.ends_with(", exchanges due within 4 s per point, one every 1 ms"),
        "{kept}"
    );
    let fast = heading("fast", Schedule::AsFastAsPossible);
    assert!(
        fast.ends_with(", 4 s per point, as fast as possible"),
        "{fast}"
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
    let AnyRun::Exchange(exchanges) = &run else {
        panic!("a run of exchanges")
    };
    let limited = Figure::parse("lost").expect("a figure");
    let share = limited.of_point(&exchanges.file.points[0]);
    assert_eq!(share.expect("a share").value, 0.008);
    let tables = tables::of(&run, false);
    let brief = tables.brief.expect("an answer");
    assert!(
        brief
            .answer
            .ends_with("8 of 1,000 lost (2 corrupted, 1 unexpected reply)."),
        "{}",
        brief.answer
    );
    let table = brief.tables(usize::MAX).next().expect("a table");
    let lost = table.columns.iter().position(|head| head == "lost");
    assert_eq!(table.rows[0][lost.expect("a column")], "8");
}

#[test]
fn no_median_among_the_unanswered_stands_in_the_answer_and_errors_have_their_names() {
    let dir = tempfile::tempdir().expect("a directory");
    let answer = |name: &str, lost: u64| {
        let run = exchange_run(&dir.path().join(name), &plan(1), |_| {
            paced(1, 20_000, 1_000, lost).map(|sample| Sample {
                status: match sample.sequence {
                    500 => Status::Reordered,
                    600 | 700 => Status::Duplicated,
                    _ => sample.status,
                },
                ..sample
            })
        });
        answer_of(&page_of(run)).to_owned()
    };
    let few = answer("few", 200);
    let times = "Median RTT 20.00 µs, longest answered 20.00 µs; ";
    assert!(few.starts_with(times), "{few}");
    assert!(
        few.ends_with("5 of 998 lost; 2 responses duplicated; 1 response out of order."),
        "{few}"
    );
    let most = answer("most", 2);
    assert!(
        most.starts_with("RTT: longest answered 20.00 µs; "),
        "{most}"
    );
}

#[test]
fn a_limit_is_reached_only_where_its_share_is_named() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut run = exchange_run(&dir.path().join("run"), &plan(1), |_| exchanges(500, 1));
    exchange_file(&mut run).points[0].limit = Some(BusLimit {
        bytes_s: 1_216_000.0,
        shared: true,
        source: "USB full-speed bulk".into(),
        used: 0.9487,
    });
    let page = page_of(run);
    let answer = answer_of(&page);
    assert!(answer.contains("; 94.9 % of the limit"), "{answer}");
    assert!(!answer.contains("reached"), "{answer}");
}

#[test]
fn bytes_are_not_said_to_be_whole_where_no_transfer_was_measured() {
    let dir = tempfile::tempdir().expect("a directory");
    let plan = stream_plan(vec![stream_point(0, Direction::In)]);
    let mut run = stream_run(&dir.path().join("run"), &plan, |point| {
        transfers(point, 5, 1)
    });
    let AnyRun::Stream(stored) = &mut run else {
        panic!("a stream run")
    };
    let flow = &mut stored.file.points[0].flows[0];
    assert_eq!(flow.transfers, 0);
    flow.counts.received = Some(2_867_000);
    flow.counts.sent = Some(2_867_000);
    let page = page_of(run);
    let answer = answer_of(&page);
    assert!(!answer.contains("0 bytes lost"), "{answer}");
    assert!(answer.contains("o transfer was measured"), "{answer}");
}

#[test]
fn sentence_and_table_have_the_same_buffer_or_the_run_that_it_takes() {
    let dir = tempfile::tempdir().expect("a directory");
    let plan = stream_plan(vec![stream_point(0, Direction::In)]);
    let mut run = stream_run(&dir.path().join("run"), &plan, |point| {
        transfers(point, 5_000, 1)
    });
    let mut said = |observable_loss, found: Option<f64>| {
        let AnyRun::Stream(stored) = &mut run else {
            panic!("a stream run")
        };
        stored.file.points[0].elapsed_ns = 2_000_000_000;
        let need = &mut stored.file.points[0].flows[0].buffers[0];
        assert!(need.sustained, "{need:?}");
        need.loss = 1e-6;
        need.for_loss_bytes = found.map(|value| wiregauge_stats::Estimate {
            value,
            low: None,
            high: None,
        });
        need.extrapolated = found.is_some();
        need.observable_loss = observable_loss;
        let brief = tables::of(&run, false).brief.expect("an answer");
        let table = brief.tables(usize::MAX).nth(1).expect("buffers");
        (brief.answer, table.title.clone() + &table.text())
    };
    let (answer, table) = said(9.4e-4, None);
    let takes = "takes 4,700,000 transfers: --duration 1900s)";
    let open = format!(", for a loss of 1e-6 unknown ({takes}; ");
    assert!(answer.contains(&open), "{answer}");
    assert!(answer.contains(", longest gap "), "{answer}");
    assert!(table.contains(&format!("; unknown: {takes}")), "{table}");
    // Of one that supports none, no duration is known.
    let (answer, _) = said(0.9, None);
    assert!(
        answer.contains(", for a loss of 1e-6 unknown; "),
        "{answer}"
    );
    let (answer, table) = said(9.4e-4, Some(45_000.4));
    let size = "needs a buffer of ~45,000 B for a loss of 1e-6, ";
    assert!(answer.contains(size), "{answer}");
    assert!(answer.contains(", largest backlog "), "{answer}");
    assert!(table.contains("  ~45,000  "), "{table}");
}

#[test]
fn warnings_of_streams_and_loops_name_points_by_their_settings() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut points: Vec<StreamPoint> = (0..3).map(|i| stream_point(i, Direction::In)).collect();
    points[2].queue = 4;
    let mut run = stream_run(&dir.path().join("stream"), &stream_plan(points), |point| {
        transfers(point, 3_000, 1)
    });
    let AnyRun::Stream(stored) = &mut run else {
        panic!("a stream run")
    };
    for at in [1, 2] {
        stored.file.points[at].ending = Ending::Interrupted;
    }
    let tables = tables::of(&run, true);
    let cut = tables.warnings.iter().map(|w| w.to_string());
    let cut = cut.filter(|text| text.contains("not measured to the end"));
    let cut: Vec<String> = cut.collect();
    assert!(
        cut[0].contains("(transfers of 1,024 B, queue 1; transfers of 2,048 B, queue 4)"),
        "{cut:?}"
    );
    let points = vec![
        loop_point(0, None),
        loop_point(1, None),
        loop_point(4, None),
    ];
    let run = loop_run(&dir.path().join("loop"), &loop_plan(points), |point| {
        blocks(
            point,
            [31, 5_000, 306][point.index as usize / 2 + point.index as usize % 2],
            1,
        )
    });
    let tables = tables::of(&run, true);
    let texts: Vec<String> = tables.warnings.iter().map(|w| w.to_string()).collect();
    let few = texts
        .iter()
        .find(|text| text.contains("blocks"))
        .expect("a warning");
    assert!(
        few.contains("only 11 to 286 blocks at 1 MS/s, notify 1,024 and 4,096 B"),
        "{few}"
    );
    assert!(!texts.iter().any(|text| text.contains("row")), "{texts:?}");
}

#[test]
fn a_latency_that_a_tested_preload_refutes_says_so() {
    let dir = tempfile::tempdir().expect("a directory");
    let points = vec![
        loop_point(0, None),
        LoopPoint {
            index: 1,
            ..loop_point(0, Some(65_536))
        },
    ];
    let mut run = loop_run(&dir.path().join("run"), &loop_plan(points), |point| {
        blocks(point, 5_000, 1)
    });
    let before = page_of(run.clone());
    assert!(answer_of(&before).contains("; a preload of 32.77 ms (65,536 B) had no stall in "));
    let AnyRun::Loop(stored) = &mut run else {
        panic!("a loop run")
    };
    stored.file.points[1].underruns = 3;
    let page = page_of(run);
    let answer = answer_of(&page);
    assert!(
        answer.starts_with("No tested preload was long enough: 3 stalls with up to 32.77 ms; "),
        "{answer}"
    );
}

#[test]
fn the_answer_of_a_loop_has_the_preload_of_the_point_that_it_names() {
    let dir = tempfile::tempdir().expect("a directory");
    let other = |index, preload| LoopPoint {
        index,
        rate_hz: 4_000_000,
        ..loop_point(0, preload)
    };
    // At the other rate, a preload is shorter in time.
    let points = vec![
        loop_point(0, None),
        LoopPoint {
            index: 1,
            ..loop_point(0, Some(131_072))
        },
        other(2, Some(131_072)),
    ];
    let shortest = [points[2].preload_ns(), points[1].preload_ns()];
    assert!(shortest[0] < shortest[1]);
    let run = loop_run(&dir.path().join("run"), &loop_plan(points), |point| {
        blocks(point, 5000, 1)
    });
    let page = page_of(run);
    let answer = answer_of(&page);
    assert!(answer.contains("; a preload of 65.54 ms ("), "{answer}");
}
