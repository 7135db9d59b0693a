//! Closed loops over the virtual device: what is counted, what is verified, what is kept, and what is
//! refused.

#![cfg(feature = "loop")]

use crate::common;

use common::{Background, Desk, has_all, until};
use predicates::prelude::*;
use predicates::str::{contains, is_match};
use rustix::process::Signal;
use wiregauge_record::{Aim, LoopSummary, Verified, Xrun};
use wiregauge_run::{Loop, RunFile};

/// Blocks of 5 ms and rings of a third of a second, which outlast the moods of a busy machine; so long
/// that the rings go round.
const SHORT: &str = "--rate 100k --notify 1k --ring 64k --duration 600ms --settle 50ms \
                     --no-calibration";

/// Loops, which must succeed, and gives the run and what was said.
#[track_caller]
fn looped(desk: &Desk, flags: &str) -> RunFile<Loop> {
    let ended = Background::start(&mut desk.command(&format!("loop virtual {flags} --json")));
    let ended = ended.ended();
    assert_eq!(ended.code, Some(0), "{ended}");
    serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("no run was printed ({error}): {ended}"))
}

/// The latency is what the preload says, found by this method.
#[track_caller]
fn assert_verified(point: &LoopSummary, method: &str) {
    let found = point.verified.as_ref().expect("verified");
    let expected = Verified {
        method: method.into(),
        found_frames: Some(found.preload_frames),
        cable_frames: None,
        preload_frames: point.point.preload_bytes / u64::from(point.point.frame_bytes()),
        compared: found.compared,
        wrong: 0,
    };
    assert_eq!(found, &expected);
    assert!(found.compared > 10, "{found:?}");
}

/// The rows of a CSV file by their header.
fn rows(text: &str) -> Vec<Vec<(String, String)>> {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    lines
        .map(|line| {
            let fields = line.split(',').map(str::to_owned);
            header
                .iter()
                .map(|name| (*name).into())
                .zip(fields)
                .collect()
        })
        .collect()
}

fn field<'a>(row: &'a [(String, String)], name: &str) -> &'a str {
    let found = row.iter().find(|(column, _)| column == name);
    &found.unwrap_or_else(|| panic!("no {name} in {row:?}")).1
}

#[test]
fn the_latency_is_the_preload_and_every_block_played_was_looked_at() {
    let desk = Desk::new();
    let run = looped(&desk, SHORT);
    assert_eq!((run.kind.as_str(), run.points.len()), ("loop", 1));
    let point = &run.points[0];
    assert_eq!((point.overruns, point.underruns), (0, 0));
    assert_verified(point, "sequence");
    // 650 ms of blocks of 5.12 ms, less the start-up; whatever the machine does meanwhile, each comes in.
    assert!((110..=120).contains(&point.blocks), "{}", point.blocks);
    has_all(
        &desk.output("show last --full"),
        &["Output checked (sequence)", "positions compared"],
    );
    // By default one table and one sentence.
    desk.wiregauge("show last").assert().success().stdout(
        contains("\nLowest latency without a stall")
            // Sizes are in bytes, as typed (1k is 1024), and the bound of the stalls is marked as one.
            .and(contains("notify 1,024 B"))
            .and(is_match(r"(?m)^ +[\d.]+ +[\d,]+ .* < [\d,.]+ ").unwrap())
            .and(contains("Stalls in this run").not()),
    );
}

#[test]
fn the_curve_of_one_run_ascends_to_a_latency_without_stalls_that_has_a_bound() {
    let desk = Desk::new();
    let run = looped(&desk, SHORT);
    let point = &run.points[0];
    let curve = &point.curve;
    assert!(curve.is_sorted_by(|a, b| a.latency_ns < b.latency_ns));
    assert!(curve.is_sorted_by(|a, b| a.stalls >= b.stalls));
    assert!(
        curve
            .iter()
            .all(|rung| rung.per_minute < rung.per_minute_high)
    );
    let last = curve.last().expect("a curve");
    assert_eq!((last.stalls, last.per_minute), (0, 0.0));
    assert_eq!(Some(last.latency_ns), point.needed_ns);
    // Three stalls in 600 ms at most: some 300 a minute.
    assert!((250.0..350.0).contains(&last.per_minute_high), "{last:?}");
    let needed = point.needed_ns.expect("a latency");
    assert!(needed > point.point.period_ns(), "less than a block");
    let bytes = point.needed_bytes.expect("a preload");
    assert_eq!(bytes % 1024, 0);
    assert!(point.point.time_ns(bytes) >= needed);
}

#[test]
fn a_preload_of_one_block_starves_the_output_at_every_block_and_says_when() {
    let desk = Desk::new();
    let flags = "--rate 100k --notify 1k --preload 1k --duration 100ms --settle 20ms \
                 --no-calibration";
    let run = looped(&desk, flags);
    let point = &run.points[0];
    assert_eq!(point.point.aim, Aim::Hold);
    assert!(
        point.underruns >= point.blocks && point.blocks > 10,
        "{point:?}"
    );
    assert_eq!(point.stalls.len() as u64, point.underruns);
    assert!(point.stalls.is_sorted_by(|a, b| a.at_ns < b.at_ns));
    for stall in &point.stalls {
        assert!(
            stall.late_ns > 0 && stall.xrun == Xrun::Underrun,
            "{stall:?}"
        );
    }
    let exported = rows(&desk.output("export last --csv"));
    let starved = exported
        .iter()
        .filter(|row| field(row, "xrun") == "underrun");
    assert_eq!(starved.count() as u64, point.underruns);
    // What was asked for was measured: a stall is a result, not a failure.
    desk.wiregauge(&format!("loop virtual {flags}"))
        .assert()
        .success()
        .stdout(
            contains("Tested preloads")
                .and(contains("the requested preload was too short\n"))
                .and(contains("\nThe preload of 5.120 ms is too short ("))
                .and(contains("no errors").not()),
        );
}

#[test]
fn find_tests_the_preload_of_the_curve_and_longer_ones_until_one_holds() {
    let desk = Desk::new();
    let run = looped(&desk, &format!("{SHORT} --hold 200ms"));
    let (curve, tests) = run.points.split_first().expect("points");
    assert_eq!(curve.point.aim, Aim::Curve);
    assert_eq!(run.plan.points.len(), 1, "tests are appended, not planned");
    let (last, before) = tests.split_last().expect("tests");
    assert_eq!(Some(tests[0].point.preload_bytes), curve.needed_bytes);
    assert!(before.iter().all(|test| test.underruns + test.overruns > 0));
    assert!(last.underruns + last.overruns == 0 || tests.len() == 8);
    assert!(tests.is_sorted_by(|a, b| a.point.preload_bytes < b.point.preload_bytes));
    for (index, test) in (1..).zip(tests) {
        assert_eq!((test.point.index, test.point.aim), (index, Aim::Hold));
        assert!(test.curve.is_empty());
        assert!((35..=45).contains(&test.blocks), "200 ms: {}", test.blocks);
    }
    has_all(&desk.output("show last"), &["Tested preloads"]);
}

#[test]
fn samples_that_are_changed_are_compared_with_what_they_should_be() {
    let desk = Desk::new();
    for process in ["fir:64,gain", "biquad:0.1,threshold:0.2"] {
        let run = looped(&desk, &format!("{SHORT} --process {process} --channels 2"));
        assert_eq!(run.points[0].point.frame_bytes(), 4);
        assert_verified(&run.points[0], "reference");
        let shown = desk.output("show last --full");
        assert!(shown.contains("Output checked (reference)"), "{shown}");
    }
}

#[test]
fn every_rate_channel_and_block_is_a_point_and_its_surroundings_are_measured() {
    let desk = Desk::new();
    let flags = "--rate 100k,200k --channels 1,2 --notify 1k..2k --process copy,gain --wait hybrid:50us \
                 --duration 100ms --settle 20ms";
    let run = looped(&desk, flags);
    let of = |p: &LoopSummary| (p.point.rate_hz, p.point.channels, p.point.notify_bytes);
    let points: Vec<_> = run.points.iter().map(of).collect();
    assert_eq!(points.len(), 8);
    assert!(
        points.is_sorted() && points[7] == (200_000, 2, 2048),
        "{points:?}"
    );
    for point in &run.points {
        assert_eq!(point.stages.len(), 2);
        assert!(point.stages.iter().all(|stage| stage.bytes_s > 0.0));
        assert!(point.memory_bytes_s.is_some_and(|speed| speed > 0.0));
        assert!(point.timer.as_ref().is_none_or(|timer| timer.wake_up.n > 0));
        let (floor, needed) = (
            point.floor_ns.expect("a floor"),
            point.needed_ns.expect("a latency"),
        );
        assert!(floor >= point.point.period_ns().round() && floor <= needed);
    }
    // A busy host may not let it run in a point of 100 ms.
    assert!(run.points.iter().any(|point| point.timer.is_some()));
}

#[test]
fn a_run_is_shown_listed_and_reported_in_every_format() {
    let desk = Desk::new();
    looped(&desk, SHORT);
    let listed = desk.json("runs --json");
    assert_eq!(
        (&listed[0]["kind"], &listed[0]["points"]),
        (&"loop".into(), &1.into())
    );
    let markdown = desk.output("show last --format md");
    assert!(
        markdown.contains("| --- |") || markdown.contains("| ---"),
        "{markdown}"
    );
    let csv = rows(&desk.output("show last --format csv"));
    assert_eq!(csv.len(), 1);
    assert_eq!(field(&csv[0], "notify_bytes"), "1024");
    assert!(
        desk.output("show last --format latex")
            .contains("\\begin{tabular}")
    );
}

#[test]
fn ctrl_c_keeps_the_blocks() {
    let desk = Desk::new();
    for wait in ["sleep", "spin"] {
        let flags = "--rate 100k,200k --notify 1k --duration 20s --settle 20ms --no-calibration";
        let command = format!("loop virtual {flags} --wait {wait}");
        let run = Background::start(&mut desk.command(&command));
        until("the loop runs", || desk.measures());
        // The rings are laid out first, on a busy machine for a good while.
        std::thread::sleep(std::time::Duration::from_millis(600));
        run.signal(Signal::INT);
        let ended = run.ended();
        assert_eq!(ended.code, Some(130), "{ended}");
        assert!(
            ended.stdout.contains("Lowest latency without a stall"),
            "{ended}"
        );
        let listed = desk.json("runs --json");
        assert_eq!(listed[0]["state"], "interrupted");
        let kept = rows(&desk.output("export last --csv"));
        assert!((5..4_000).contains(&kept.len()), "{}", kept.len());
        desk.wiregauge("show last").assert().success();
        std::fs::remove_dir_all(desk.runs()).expect("cleared for the next");
    }
}

#[test]
fn what_cannot_be_looped_is_refused_with_what_to_try() {
    let desk = Desk::new();
    desk.refuses(
        "loop --duration 100ms --no-calibration",
        2,
        "
        virtual --notify 64k --ring 32k        => does not fit in a ring | hint: use --ring 262144
        virtual --notify 64k --ring 64k        => holds only one block | hint: use --ring 131072
        virtual --notify 1k --ring 2500        => whole number of blocks | hint: use --ring 3072
        virtual --channels 3 --notify 64k      => not a whole number of frames | hint: use --notify 65538
        virtual --channels 0                   => 0 channels | hint: use --channels 1 to 64
        virtual --channels 3000000000          => a device has 1 to 64 | hint: use --channels
        virtual --notify 0                     => is not valid | hint: use --notify 2
        virtual --notify 1k --preload 1500     => whole number of blocks | hint: use --preload 2048
        virtual --notify 4k --preload 1k       => less than one block | hint: use --preload 4096
        virtual --rate 1000G --notify 4k --ring 1M => one thread of this host copies | hint: use --rate
        virtual --process reverb               => unknown stage | fir:TAPS
        virtual --process fir:0                => fir:0 | 65536
        virtual --process copy:2               => takes no value | --process
        virtual --wait nap                     => unknown way to wait | hybrid:50us
        virtual --rate fast                    => fast | --rate
        virtual --rate 0                       => is not a valid sample rate | 62.5M
        virtual --find --preload 8k            => cannot be used with | --preload
        virtual --find --hold 0s               => out of range | --hold
        warp:drive                             => cannot open warp:drive | hint: use one of: virtual
        virtual:7                              => no such digitizer | hint: use one of: virtual
                                               => DEVICE
        ",
    );
}
