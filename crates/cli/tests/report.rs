//! `wiregauge report`: a page that is whole and in the right place, figures as files, and errors that
//! say what to do.

use crate::common;

use common::{Desk, has_all};
use predicates::prelude::*;
use predicates::str::contains;
use std::path::{Path, PathBuf};

const QUICK: &str = "--count 60 --no-calibration --quiet";

/// Measures a run into a directory of this name.
fn exchange(desk: &Desk, name: &str, flags: &str) -> PathBuf {
    let dir = desk.path(name);
    let mut command = desk.wiregauge(&format!("exchange null:// {QUICK} {flags} --store"));
    command.arg(&dir).assert().success();
    dir
}

fn stream(desk: &Desk, name: &str) -> PathBuf {
    let (dir, server) = (desk.path(name), desk.serve("tcp://:0"));
    let (store, address) = (dir.display(), &server.address);
    let flags = "--direction in --transfer 4k --duration 600ms --quiet";
    desk.output(&format!("stream {address} {flags} --store {store}"));
    dir
}

/// A page, of which it is known that it is one.
fn page(path: &Path) -> String {
    let text = std::fs::read_to_string(path).expect("a page");
    assert!(
        text.starts_with("<!DOCTYPE html>") && text.trim_end().ends_with("</html>"),
        "{text}"
    );
    text
}

fn names_in(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).expect("a directory");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn the_page_of_a_run_lies_beside_its_samples_and_is_named() {
    let desk = Desk::new();
    let run = exchange(&desk, "my run", "--in 48,100 --depth 1,2");
    let file = run.join("report.html");
    let mut report = desk.command("report");
    report.arg(&run);
    let printed = report.output().expect("it runs");
    let printed = String::from_utf8(printed.stdout).expect("text");
    let size = std::fs::metadata(&file).expect("the page").len();
    assert!(size > 5_000, "{size} B");
    has_all(&printed, &[&format!("wrote {}", file.display())]);
    assert!(printed.contains("kB"), "{printed}");
    // To be clicked on: a blank would end it.
    has_all(&printed, &["file:///", "my%20run/report.html"]);
    let page = page(&file);
    has_all(&page, &["null://", "<svg"]);
    // Nothing is fetched from anywhere.
    for from in ["src=\"http", "href=\"http", "@import", "url(http"] {
        assert!(!page.contains(from), "{from}");
    }
    // The run is still one, and its page is made anew without a question.
    assert!(report.status().expect("it runs").success());
    assert_eq!(names_in(&run), ["report.html", "run.json", "samples"]);
}

#[test]
fn several_runs_come_onto_one_page_whatever_their_kind() {
    let desk = Desk::new();
    for name in ["before", "after"] {
        exchange(&desk, name, "--depth 1,4");
    }
    let stream = stream(&desk, "flow");
    desk.output("report ./before ./after");
    let text = page(&desk.path("report.html"));
    has_all(&text, &["before", "after"]);
    let mixed = format!("report ./before {} -o mixed.html", stream.display());
    desk.output(&mixed);
    let text = page(&desk.path("mixed.html"));
    has_all(&text, &["RTT in ", "Rates"]);
}

#[test]
fn a_run_without_points_has_a_page_and_a_warning_but_no_figures() {
    let desk = Desk::new();
    let run = exchange(&desk, "run", "");
    let file = run.join("run.json");
    let text = std::fs::read_to_string(&file).expect("run.json");
    let mut json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    json["points"] = serde_json::json!([]);
    json["state"] = serde_json::json!({"failed": {"error": "it <i>broke</i>"}});
    std::fs::write(&file, json.to_string()).expect("written");
    std::fs::remove_dir_all(run.join("samples")).expect("removed");
    desk.wiregauge("report ./run -o page.html")
        .assert()
        .success()
        .stderr(contains("no point was finished"));
    let text = page(&desk.path("page.html"));
    assert!(text.contains("it &lt;i&gt;broke&lt;/i&gt;"), "{text}");
    desk.fails(
        "report ./run --figures pictures",
        2,
        &["nothing to draw", "pictures"],
    );
    // A page that was asked for as well is there all the same.
    desk.wiregauge("report ./run --figures pictures -o both.html")
        .assert()
        .success()
        .stderr(contains("nothing to draw"));
    page(&desk.path("both.html"));
}

#[test]
fn samples_that_are_gone_are_missed_aloud() {
    let desk = Desk::new();
    let run = exchange(&desk, "run", "--in 48,100");
    std::fs::remove_file(run.join("samples/point-0001.parquet")).expect("removed");
    desk.wiregauge("report ./run -o page.html")
        .assert()
        .success()
        .stderr(contains("cannot draw the samples of row 2:").and(contains("row 1").not()));
    page(&desk.path("page.html"));
}

#[test]
fn figures_are_files_of_the_formats_asked_for() {
    let desk = Desk::new();
    exchange(&desk, "run", "");
    let printed = desk.output("report ./run --figures new/pictures --format svg");
    let dir = desk.path("new/pictures");
    let names = names_in(&dir);
    assert!(names.contains(&"rtt-histogram.svg".to_owned()), "{names:?}");
    for name in &names {
        assert!(name.ends_with(".svg"), "{names:?}");
        let text = std::fs::read_to_string(dir.join(name)).expect("a figure");
        assert!(
            text.contains("<svg") && text.trim_end().ends_with("</svg>"),
            "{name}"
        );
        assert!(printed.contains(&format!("{name} (")), "{printed}");
    }
    // Without -o the figures are all.
    assert!(!desk.path("run/report.html").exists());
    desk.output("report ./run --figures more --format png,svg,png -o page.html --quiet");
    let more = names_in(&desk.path("more"));
    assert_eq!(more.len(), 2 * names.len(), "{more:?}");
    let picture = std::fs::read(desk.path("more/rtt-histogram.png")).expect("a picture");
    assert!(picture.starts_with(b"\x89PNG\r\n"));
    page(&desk.path("page.html"));
}

#[test]
fn a_page_on_standard_output_has_it_for_itself() {
    let desk = Desk::new();
    exchange(&desk, "run", "");
    let text = desk.output("report ./run -o - --figures pictures --format svg");
    assert!(text.starts_with("<!DOCTYPE html>") && text.ends_with("</html>\n"));
    assert!(desk.path("pictures/rtt-histogram.svg").exists());
    assert_eq!(desk.output("report ./run -o page.html --quiet"), "");
}

#[test]
fn bad_input_is_answered_with_what_to_do() {
    let desk = Desk::new();
    exchange(&desk, "run", "--in 48,1000 --depth 1,2");
    exchange(&desk, "fast", "--depth 1,2");
    stream(&desk, "flow");
    std::fs::write(desk.path("file"), "").expect("written");
    desk.refuses(
        "report",
        2,
        "
                                            => RUN
        nosuch                              => nosuch | wiregauge runs
        ./run nosuch                        => nosuch
        ./run --figures d --format gif      => gif | svg | png
        ./run --format svg                  => --figures
        ./run -o .                          => directory
        ./run -o run/run.json               => run.json
        ./run --points queue=1 -o page.html => no `queue`
        ./run --points in=49 -o page.html   => no point has in=49; in is 48, 1000
        ./run --points depth=1,9 -o page.html => no point has depth=9; depth is 1, 2
        ./run --points depth=1,in -o page.html => no point has depth=in
        ./run --points 48 -o page.html      => is not a valid selection of points
        ./fast --jitter 50us -o page.html   => fast was measured as fast as possible, so it has no period
        ./fast --deadline 500us -o page.html => give the period of the loop, such as --period 1ms
        ./fast --period 1ms --deadline 2ms -o page.html => select points of a higher depth with --points, or measure
        ./fast ./flow --period 1ms -o page.html => cannot compute deadlines of flow: it is a stream run
        ",
    );
    assert!(!desk.path("page.html").exists());
    desk.output("report ./fast --period 1ms --deadline 2ms --points depth=2 -o page.html");
    desk.refuses(
        "report ./run",
        3,
        "
        -o no/such/page.html  => no/such/page.html | No such file | check that the directory exists
        --figures file        => file
        ",
    );
    let run = desk.path("run/run.json");
    let text = std::fs::read_to_string(&run).expect("run.json");
    std::fs::write(&run, text.replacen("\"exchange\"", "\"telepathy\"", 1)).expect("written");
    desk.refuses("report ./run", 2, "=> telepathy");
}

#[test]
fn points_restrict_the_page_and_its_figures_and_both_say_so() {
    let desk = Desk::new();
    exchange(&desk, "run", "--in 48,1000 --depth 1,2");
    desk.output("report ./run --points in=48,depth=2 -o chosen.html --quiet");
    let chosen = page(&desk.path("chosen.html"));
    assert!(chosen.contains("Shown: 1 of 4 points, those with in=48,depth=2"));
    assert!(!chosen.contains("IN 1,000 B"));
}

/// The section on missed cycles of a page.
fn missed_cycles(desk: &Desk, command: &str) -> String {
    let page = desk.output(&format!("report {command} -o -"));
    let (_, section) = page
        .split_once("<section id=\"deadline\">")
        .expect("missed cycles");
    section
        .split("</section>")
        .next()
        .unwrap_or_default()
        .into()
}

#[test]
fn a_page_counts_the_same_missed_cycles_as_wiregauge_deadline() {
    let desk = Desk::new();
    exchange(&desk, "fast", "--depth 1,2");
    exchange(&desk, "steady", "--interval 200us --depth 1,2");
    for (run, flags, given) in [
        ("fast", "--period 20us", "--period 20us"),
        (
            "fast",
            "--period 20us --deadline 500ns",
            "--period 20us --deadline 500ns",
        ),
        (
            "fast",
            "--period 2us --deadline 1500ns --jitter 100ns",
            "--period 2us --deadline 1.5us --jitter 100ns",
        ),
        (
            "fast",
            "--period 2us --points depth=2",
            "--period 2us --point 1",
        ),
        ("steady", "", "--period 200us"),
        ("steady", "--jitter 300ns", "--period 200us --jitter 300ns"),
        ("steady", "--deadline 1us", "--period 200us --deadline 1us"),
        ("steady", "--period 1ms", "--period 1ms"),
    ] {
        let section = missed_cycles(&desk, &format!("./{run} {flags}"));
        let same = format!("deadline {run} {given}");
        let printed = desk.json(&format!("{same} --json"));
        let sum = |name: &str| -> u64 {
            let points = printed["points"].as_array().expect("points").iter();
            points.map(|point| point[name].as_u64().expect(name)).sum()
        };
        let counted = format!(
            "<p class=\"lead\">Responses: {} of {} cycles of ",
            grouped(sum("missed")),
            grouped(sum("cycles"))
        );
        assert!(section.contains(&counted), "{counted}: {section}");
        // Also the tables, whose cells are the words of the command.
        let text = desk.output(&same);
        let title = text
            .lines()
            .find(|line| line.starts_with("Missed cycles of"));
        let title = title
            .unwrap_or_else(|| panic!("{text}"))
            .replace(" us", " \u{b5}s");
        assert!(section.contains(&title), "{title}: {section}");
    }
}

#[test]
fn the_deadline_of_a_page_is_named_in_its_words() {
    let desk = Desk::new();
    exchange(&desk, "fast", "");
    let words = |flags: &str| missed_cycles(&desk, &format!("./fast {flags}"));
    let whole = words("--period 2ms");
    has_all(
        &whole,
        &["cycles of 2 ms missed their deadline, the end of the cycle ("],
    );
    let early = words("--period 2ms --deadline 500us --jitter 50us");
    has_all(
        &early,
        &[
            "cycles of 2 ms missed their deadline of 500 \u{b5}s, or the jitter limit of 50 \u{b5}s (",
        ],
    );
}

fn grouped(number: u64) -> String {
    wiregauge_quantity::grouped(number)
}
