//! `wiregauge show --format`: what is written for others is read back as they would read it.

use crate::common;

use common::{Desk, has_all};
use std::collections::HashMap;

type Rows = Vec<HashMap<String, String>>;

/// The rows of a CSV text by the names of their columns; every row has every column.
fn rows(text: &str) -> Rows {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows = reader.deserialize().map(|row| row.expect("a whole row"));
    rows.collect()
}

fn number(row: &HashMap<String, String>, column: &str) -> f64 {
    let cell = row.get(column).unwrap_or_else(|| panic!("no {column}"));
    cell.parse()
        .unwrap_or_else(|_| panic!("{column} is `{cell}`"))
}

#[test]
fn csv_of_an_exchange_run_has_one_row_a_point_in_base_units() {
    let desk = Desk::new();
    let flags = "--in 48,100 --depth 1,2 --count 300 --below 1s --no-calibration --quiet";
    desk.output(&format!("exchange null:// {flags}"));
    let run = desk.json("show last --json");
    let rows = rows(&desk.output("show last --format csv"));
    assert_eq!(rows.len(), 4);
    for (row, point) in rows.iter().zip(run["points"].as_array().expect("points")) {
        assert_eq!(
            number(row, "point"),
            point["point"]["index"].as_f64().unwrap()
        );
        assert_eq!(
            number(row, "depth"),
            point["point"]["depth"].as_f64().unwrap()
        );
        assert_eq!(row["address"], "null://");
        assert_eq!(row["ending"], "complete");
        assert_eq!(number(row, "answered"), 300.0);
        let of = |name: &str| point["rtt"][name]["value"].as_f64();
        for (name, column) in [("mean", "rtt_mean_ns"), ("p99", "rtt_p99_ns")] {
            assert_eq!(Some(number(row, column)), of(name), "{column}");
        }
        // On a busy host the samples may be worth too few independent ones for a bound.
        for (bound, key) in [("rtt_p50_low_ns", "low"), ("rtt_p50_high_ns", "high")] {
            let stored = point["rtt"]["p50"][key].as_f64();
            assert_eq!(row[bound].parse().ok(), stored, "{bound}");
        }
        // 300 samples cannot bound this one.
        assert_eq!(row["rtt_p999_high_ns"], "");
        assert_eq!(number(row, "below_1000000000_ns_share"), 1.0);
        // What there is none of is empty, not 0.
        assert_eq!(row["limit_bytes_s"], "");
        assert_eq!(row["connect_p50_ns"], "");
    }
}

#[test]
fn csv_of_a_stream_run_has_one_row_a_point_and_way() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let flags = "--direction in,both --transfer 4k --duration 600ms --rate 1MB/s --quiet";
    desk.output(&format!("stream {} {flags}", server.address));
    let rows = rows(&desk.output("show last --format csv"));
    let ways: Vec<&str> = rows.iter().map(|row| row["way"].as_str()).collect();
    assert_eq!(ways, ["in", "in", "out"]);
    for row in &rows {
        assert_eq!(row["address"], server.address);
        assert_eq!(number(row, "transfer_bytes"), 4096.0);
        assert!(number(row, "rate_bytes_s") > 1000.0);
        assert_eq!(number(row, "lost_bytes"), 0.0);
        assert!(number(row, "gap_p50_ns") > 0.0);
        assert!(row.contains_key("buffer_at_1000000_bytes_s_worst_bytes"));
    }
}

/// A run whose names try to break out of every format.
fn hostile(desk: &Desk) {
    desk.output("exchange null:// --count 40 --no-calibration --quiet --store run");
    let file = desk.path("run/run.json");
    let text = std::fs::read_to_string(&file).expect("run.json");
    let mut json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let name = "a|b,\"c\"\n</td>\\end{table}`#$%&_{}~^";
    json["plan"]["address"] = name.into();
    json["conditions"]["host"]["name"] = name.into();
    json["conditions"]["link"]["settings"] = serde_json::json!([[name, name]]);
    json["conditions"]["command"] = serde_json::json!(["wiregauge", name, "```"]);
    json["warnings"] = serde_json::json!([name]);
    std::fs::write(&file, json.to_string()).expect("written");
}

#[test]
fn names_in_a_run_break_no_format() {
    let desk = Desk::new();
    hostile(&desk);
    let rows = rows(&desk.output("show ./run --format csv"));
    assert_eq!(rows.len(), 1);
    assert!(rows[0]["address"].starts_with("a|b,\"c\"\n</td>"));

    let md = desk.output("show ./run --format md");
    let (before, code) = md.split_once("````sh\n").expect("a fence of four");
    assert!(code.ends_with("\n````\n"), "{md}");
    assert!(!before.contains("</td>"), "{md}");
    let bars = |line: &str| {
        line.replace("\\\\", "")
            .replace("\\|", "")
            .matches('|')
            .count()
    };
    let mut width = None;
    for line in before.lines() {
        match (line.starts_with('|'), width) {
            (true, None) => width = Some(bars(line)),
            (true, Some(width)) => assert_eq!(bars(line), width, "{line}"),
            (false, _) => width = None,
        }
    }

    let latex = desk.output("show ./run --format latex");
    let tex: Vec<&str> = latex
        .lines()
        .filter(|line| !line.starts_with('%'))
        .collect();
    let count = |what: &str| {
        tex.iter()
            .filter(|line| line.trim_start().starts_with(what))
            .count()
    };
    assert!(count("\\begin{table}") >= 2, "{latex}");
    assert_eq!(count("\\begin{table}"), count("\\end{table}"));
    assert_eq!(count("\\begin{tabular}"), count("\\end{tabular}"));
    assert!(tex.iter().all(|line| !line.contains("\\end{table}`")));
}

#[test]
fn markdown_has_all_that_an_issue_needs() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --drop every=20");
    let flags = "--count 100 --timeout 30ms --quiet";
    desk.output(&format!("exchange {} {flags}", server.address));
    let text = desk.output("show last --format md");
    has_all(
        &text,
        &[
            "## wiregauge exchange: tcp://",
            "### RTT in ",
            "### Warnings",
            "were not answered in time",
            "| Floor: this host without the device",
            "| kernel ",
            "| clock source ",
            "| Nagle ",
            "| wiregauge ",
            "### Measured with",
            "--timeout 30ms",
        ],
    );
    // More is said with --confidence, as on a terminal.
    let more = desk.output("show last --format md --confidence");
    assert!(more.contains("### 95 % confidence intervals") && more.len() > text.len());
}

#[test]
fn json_is_json_under_both_its_names_and_under_no_other() {
    let desk = Desk::new();
    desk.output("exchange null:// --count 40 --no-calibration --quiet");
    let json = desk.output("show last --json");
    assert_eq!(desk.output("show last --format json"), json);
    assert_eq!(desk.output("show last --json --format json"), json);
    for format in ["text", "md", "latex", "csv"] {
        desk.fails(
            &format!("show last --json --format {format}"),
            2,
            &["--json means --format json"],
        );
    }
    desk.fails("show last --format yaml", 2, &["yaml", "latex"]);
    assert_eq!(
        desk.output("show last --format text"),
        desk.output("show last")
    );
}

#[test]
fn figures_computed_again_from_the_samples_of_a_run_are_those_that_it_stored() {
    let desk = Desk::new();
    let flags = "--depth 1,4 --count 300 --below 1us,1ms --no-calibration --quiet";
    desk.output(&format!("exchange null:// {flags}"));
    let stored = desk.json("show last --json");
    assert_eq!(desk.json("export last --json --recompute"), stored);
}

#[test]
fn only_exchange_runs_can_be_computed_again() {
    let desk = Desk::new();
    desk.output("stream null:// --duration 500ms --settle 10ms --quiet");
    desk.fails(
        "export last --json --recompute",
        2,
        &["stream run", "only exchange runs"],
    );
}

/// True where this machine has a TeX with the packages that the tables need.
fn has_tex() -> bool {
    let found = std::process::Command::new("kpsewhich")
        .arg("booktabs.sty")
        .output();
    let has_booktabs = found.is_ok_and(|found| found.status.success());
    let tex = std::process::Command::new("pdflatex")
        .arg("--version")
        .output();
    has_booktabs && tex.is_ok_and(|tex| tex.status.success())
}

#[test]
fn latex_of_every_kind_of_run_and_of_hostile_names_compiles() {
    if !has_tex() {
        eprintln!(
            "not tested: pdflatex with booktabs is not installed here (texlive-latex-recommended)"
        );
        return;
    }
    let desk = Desk::new();
    hostile(&desk);
    let server = desk.serve("tcp://:0");
    let address = &server.address;
    desk.output(&format!(
        "exchange {address} --in 48,1000 --depth 1,2 --count 300 --below 1ms --no-calibration --quiet --store two"
    ));
    desk.output(&format!(
        "stream {address} --transfer 4k --duration 300ms --quiet --store flow"
    ));
    for run in ["run", "two", "flow"] {
        let tables = desk.output(&format!("show ./{run} --format latex --confidence"));
        let document = format!(
            "\\documentclass{{article}}\n\\usepackage{{booktabs}}\n\\begin{{document}}\n{tables}\\end{{document}}\n"
        );
        let file = desk.path(&format!("{run}.tex"));
        std::fs::write(&file, document).expect("written");
        let dir = file.parent().expect("a directory");
        let made = std::process::Command::new("pdflatex")
            .args(["-interaction=nonstopmode", "-halt-on-error"])
            .arg(&file)
            .current_dir(dir)
            .output()
            .expect("pdflatex runs");
        let log = String::from_utf8_lossy(&made.stdout);
        assert!(made.status.success(), "{run}: {log}");
        assert!(!log.contains("Missing character"), "{run}: {log}");
        assert!(dir.join(format!("{run}.pdf")).exists(), "{run}");
    }
}
