//! What a run means for a control loop, printed by the real program of runs that it measured itself.

use crate::common;

use common::{Desk, Row, has_all};
use predicates::prelude::*;
use predicates::str::{contains, is_match};
use serde_json::Value;

fn count(point: &Value, name: &str) -> u64 {
    point[name]
        .as_u64()
        .unwrap_or_else(|| panic!("{name}: {point}"))
}

#[test]
fn a_run_with_a_schedule_has_its_own_period_and_is_taken_as_it_is() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --stall every=60:200ms");
    let run = desk.measure(&server.address, "--interval 20ms --count 100 --timeout 5s");
    let printed = desk.json("deadline last --json");
    assert_eq!(printed["taken"]["how"], "as-scheduled");
    assert_eq!(count(&printed, "period_ns"), 20_000_000);
    let point = &printed["points"][0];
    let late = |row: &&Row| row.start_us + row.rtt_us - row.intended_us > 20_000.000_5;
    let measured = run.rows.iter().filter(|row| row.phase == "measured");
    assert_eq!(count(point, "cycles"), 100);
    assert_eq!(count(point, "missed"), measured.filter(late).count() as u64);
    assert!(count(point, "longest_run") >= 9, "{point}");
    let text = desk.output("deadline last");
    has_all(
        &text,
        &["Missed cycles of 20 ms (no response in time); response from the intended start in "],
    );
    // With another period its responses are replayed.
    let printed = desk.json("deadline last --period 1s --json");
    assert_eq!(printed["taken"]["how"], "replayed-from");
    assert_eq!(count(&printed["points"][0], "missed"), 0);
}

#[test]
fn a_limit_that_the_samples_do_not_decide_is_reported() {
    let desk = Desk::new();
    desk.output("exchange null:// --count 20k --no-calibration");
    let asked = "deadline last --period 10s --require";
    // None of 20,000 missed: that shows less than 10 %, however dependent they are, and not less than one in a million.
    desk.wiregauge(&format!("{asked} missed<10% --require longest<1"))
        .assert()
        .success();
    desk.wiregauge(&format!("{asked} missed<1e-6"))
        .assert()
        .code(1)
        .stderr(
            is_match(
                r"limit undecided: missed<1e-6: 0 of [\d,]+ cycles, 0 % \(95 %: < [\d.]+ %\)\n",
            )
            .unwrap(),
        );
    let printed = desk
        .wiregauge(&format!("{asked} missed<1e-6 --json"))
        .assert()
        .code(1);
    let printed: Value = serde_json::from_slice(&printed.get_output().stdout).expect("JSON");
    let missed = printed["missed_limits"].as_array().expect("a list");
    assert!(
        matches!(&missed[..], [Value::String(one)] if one.starts_with("undecided: missed<1e-6: 0 of ")),
        "{printed}"
    );
}

#[test]
fn points_are_chosen_by_their_sizes_and_by_their_number() {
    let desk = Desk::new();
    desk.output("exchange null:// --out 48,100 --depth 1,4 --count 50 --no-calibration");
    let chosen = |flags: &str| -> Vec<u64> {
        let printed = desk.json(&format!("deadline last --period 1ms --json {flags}"));
        let points = printed["points"].as_array().expect("points");
        points
            .iter()
            .map(|point| count(&point["point"], "index"))
            .collect()
    };
    assert_eq!(chosen("").len(), 4);
    assert_eq!(chosen("--point 2,0"), [0, 2]);
    assert_eq!(chosen("--out 100 --depth 4").len(), 1);
    assert_eq!(chosen("--depth 1").len(), 2);
    desk.fails(
        "deadline last --period 1ms --out 7",
        2,
        &["no such point", "--point 0 (OUT 48 B, "],
    );
}

#[test]
fn a_deadline_beyond_the_period_needs_several_outstanding_requests_at_every_point() {
    let desk = Desk::new();
    desk.output("exchange null:// --depth 1,4 --count 50 --no-calibration");
    // At depth 1 a tick would be missed before the deadline.
    desk.wiregauge("deadline last --period 1ms --deadline 1s")
        .assert()
        .code(2)
        .stderr(contains("needs more than one outstanding request").and(contains("--depth")));
    let text = desk.output("deadline last --period 1ms --deadline 1s --depth 4");
    assert!(
        text.split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .contains("as many requests as the depth are still outstanding is missed"),
        "{text}"
    );
}

#[test]
fn points_that_a_page_leaves_out_can_be_selected() {
    let desk = Desk::new();
    let loop_ = "--points depth=1 --period 1ms --deadline 1s";
    desk.output("exchange null:// --depth 1,4 --count 50 --no-calibration");
    desk.fails(
        &format!("report last {loop_}"),
        2,
        &["select points of a higher depth with --points"],
    );
    // As of `deadline --depth 1`, the response of every cycle is known.
    desk.output("exchange null:// --depth 1,4 --interval 1ms --count 50 --no-calibration");
    desk.wiregauge(&format!("report last {loop_} --quiet"))
        .assert()
        .success();
}

#[test]
fn a_figure_is_drawn_in_the_format_of_its_name() {
    let desk = Desk::new();
    desk.output("exchange null:// --count 200 --no-calibration");
    for (name, begin) in [("d.svg", &b"<svg"[..]), ("d.png", &b"\x89PNG"[..])] {
        let file = desk.text(name);
        desk.wiregauge(&format!("deadline last --period 1ms --figure {file}"))
            .assert()
            .success()
            .stderr(contains("wrote"));
        let bytes = std::fs::read(&file).expect("the figure");
        assert!(
            bytes
                .windows(begin.len())
                .take(200)
                .any(|part| part == begin),
            "{name}"
        );
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let desk = Desk::new();
    desk.output("exchange null:// --count 50 --no-calibration");
    desk.refuses(
        "deadline",
        2,
        "
        last                                  => --period 1ms
        last --period 1                       => is not a duration
        last --period 1ms --deadline 2ms      => --depth 2
        last --period 1ms --beyond often      => is not a valid number of responses
        last --period 1ms --require p99<2ms   => not a figure of cycles
        last --period 1ms --point 9           => no such point
        last --period 1ms --figure d.jpg      => .svg or .png
        nothing --period 1ms                  => cannot find a run `nothing`
        ",
    );
    desk.refuses("deadline last", 3, "--period 1ms --figure no/d.svg => no");
    desk.output("stream null:// --direction in --settle 10ms --duration 500ms");
    let deadline = "deadline last --period 1ms";
    desk.refuses(deadline, 2, "=> a stream run | wiregauge exchange");
    if cfg!(feature = "loop") {
        desk.output("loop virtual --duration 100ms");
        desk.refuses(deadline, 2, "=> is a loop | wiregauge show");
    }
}
