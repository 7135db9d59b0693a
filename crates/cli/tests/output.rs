//! What a measurement prints and how it exits: tables for people, JSON for machines, nothing that a
//! pipe does not want.

use crate::common;

use common::Desk;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

const QUICK: &str = "exchange null:// --count 40 --no-calibration";

/// Standard error of a command that must succeed.
#[track_caller]
fn remarks(desk: &Desk, arguments: &str) -> String {
    let done = desk.wiregauge(arguments).assert().success();
    String::from_utf8_lossy(&done.get_output().stderr).into_owned()
}

#[test]
fn a_measurement_prints_tables_with_units_and_says_where_it_is_stored() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --name test-board");
    let exchange = format!("exchange {} --count 200", server.address);
    let text = desk.output(&format!("{exchange} --depth 1,4 --below 1ms,1s"));
    for part in [
        server.address.as_str(),
        "test-board",
        "RTT in ",
        "TRT in ",
        "p99.9",
        "max3",
        "kB/s",
        "exchanges/s",
        "Floor: this host without the device",
        "tcp echo on this host",
        "stored in ",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    let dir = text
        .lines()
        .find_map(|line| line.strip_prefix("stored in "));
    let dir = std::path::Path::new(dir.expect("it says where"));
    assert!(dir.join("run.json").is_file() && dir.starts_with(desk.runs()));
}

#[test]
fn json_of_a_run_holds_every_figure_in_base_units() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let flags = "--count 300 --depth 2 --below 1s --rate 2k --no-calibration --json";
    let run = desk.json(&format!("exchange {} {flags}", server.address));
    assert_eq!(run["schema"], 1);
    assert_eq!(run["state"], "complete");
    assert_eq!(run["plan"]["address"], server.address.as_str());
    assert_eq!(run["plan"]["schedule"]["every-ns"], 500_000);
    let point = &run["points"][0];
    assert_eq!(point["counts"]["exchanges"], 300);
    assert_eq!(point["counts"]["lost"], 0);
    for of in ["rtt", "from_intended", "trt", "device"] {
        for figure in ["p50", "p90", "p99", "p999", "mean"] {
            let value = &point[of][figure]["value"];
            assert!(
                value.as_f64().is_some_and(|ns| ns > 0.0),
                "{of}.{figure}: {value}"
            );
        }
        assert!(point[of]["max3"].as_f64() <= point[of]["max"].as_f64());
        assert!(point[of]["min"].as_f64() <= point[of]["p50"]["value"].as_f64());
    }
    assert_eq!(point["rtt"]["n"], 300);
    assert!(point["below"][0]["share"].as_f64() > Some(0.9));
    let command: Vec<&str> = run["conditions"]["command"]
        .as_array()
        .expect("the command")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert!(
        command.ends_with(&["--no-calibration", "--json"]),
        "{command:?}"
    );
    for condition in ["kernel", "cpu", "name"] {
        let value = run["conditions"]["host"][condition].as_str();
        assert!(value.is_some_and(|value| !value.is_empty()), "{condition}");
    }
    // What was printed is what is stored.
    assert_eq!(desk.json("show last --json"), run);
    assert_eq!(desk.json("export last --json"), run);
}

#[test]
fn a_required_limit_decides_the_exit_code() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --drop every=10");
    let exchange = format!("exchange {} --count 30 --timeout 50ms", server.address);
    let exchange = format!("{exchange} --no-calibration --quiet");
    desk.wiregauge(&format!("{exchange} --require p50<10s --require lost<50%"))
        .assert()
        .code(0);
    // Of 30, three are lost.
    desk.wiregauge(&format!("{exchange} --in 48,100 --require lost<1%"))
        .assert()
        .code(1)
        .stderr(
            contains("limit not met: lost<1%").and(contains("rows 1, 2").or(contains("row 1, 2"))),
        );
    desk.wiregauge(&format!("{exchange} --require max<1ns"))
        .assert()
        .code(1)
        .stderr(contains("max<1ns"));
}

#[test]
fn quiet_prints_the_tables_and_nothing_else() {
    let desk = Desk::new();
    let command = format!("{QUICK} --quiet");
    let text = desk.output(&command);
    assert!(
        text.contains("RTT in ") && !text.contains("stored in"),
        "{text}"
    );
    assert_eq!(remarks(&desk, &command), "");
}

#[test]
fn json_prints_json_and_nothing_else() {
    let desk = Desk::new();
    let command = format!("{QUICK} --json");
    desk.json(&command);
    assert_eq!(remarks(&desk, &command), "");
}

#[test]
fn nothing_has_colour_or_a_progress_bar_where_there_is_no_terminal() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --drop every=10");
    let exchange = format!("exchange {} --count 200 --timeout 30ms", server.address);
    for command in [
        exchange.as_str(),
        "show last",
        "runs",
        "help",
        "exchange --help",
    ] {
        let done = desk.wiregauge(command).assert().success();
        let output = done.get_output();
        for text in [&output.stdout, &output.stderr] {
            let text = String::from_utf8_lossy(text);
            assert!(
                !text.contains('\x1b') && !text.contains('\r'),
                "{command}: {text}"
            );
        }
    }
    let failed = desk.wiregauge("exchange carrier-pigeon://roof").assert();
    let text = String::from_utf8_lossy(&failed.get_output().stderr).into_owned();
    assert!(!text.contains('\x1b'), "{text}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let desk = Desk::new();
    let count = "--count 20k --no-calibration --quiet";
    desk.output(&format!("exchange null:// {count}"));
    for command in [
        "export last --csv",
        "export last --json",
        "show last --json",
        "show last",
    ] {
        let mut child = desk
            .command(command)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut reader = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        reader.read_line(&mut line).expect("a line");
        drop(reader);
        let ended = child.wait_with_output().expect("it ends");
        let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(0), "{command}: {stderr}");
        assert!(
            !stderr.contains("error") && !stderr.contains("panicked"),
            "{stderr}"
        );
    }
}

#[test]
fn a_measurement_whose_reader_has_gone_is_stored_all_the_same() {
    let desk = Desk::new();
    for command in [QUICK.to_string(), format!("{QUICK} --json"), "help".into()] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let ended = desk
            .command(&command)
            .stdout(writer)
            .stderr(Stdio::piped())
            .spawn()
            .and_then(|child| child.wait_with_output())
            .expect("it runs");
        let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(0), "{command}: {stderr}");
        assert!(!stderr.contains("panicked"), "{command}: {stderr}");
    }
    assert_eq!(desk.stored().len(), 2);
    assert_eq!(desk.json("runs --json")[0]["state"], "complete");
}
