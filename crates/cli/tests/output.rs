//! What a measurement prints and how it exits: tables for people, JSON for machines, nothing that a
//! pipe does not want.

use crate::common;

use common::{Desk, has_all};
use predicates::str::is_match;
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
    let text = desk.output(&format!("{exchange} --depth 1,4 --below 1ms,1s --full"));
    has_all(
        &text,
        &[
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
        ],
    );
    let dir = text
        .lines()
        .find_map(|line| line.strip_prefix("stored in "));
    let dir = std::path::Path::new(dir.expect("it says where"));
    assert!(dir.join("run.json").is_file() && dir.starts_with(desk.runs()));
}

/// The longest line, in characters.
fn longest(text: &str) -> usize {
    let widths = text.lines().map(|line| line.chars().count());
    widths.max().unwrap_or(0)
}

#[test]
fn one_table_and_one_sentence_fit_the_terminal() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --name test-board --drop every=40");
    let board = desk.serve("pty: --bus full-speed");
    let (address, board) = (&server.address, &board.address);
    let sizes = "--out 16,2000 --in 48,8000 --depth 1,4 --count 100 --timeout 30ms";
    let runs = [
        (
            format!("exchange {address} {sizes}"),
            "Fastest at ",
            "jitter",
        ),
        (
            format!("exchange {address} --rate 1k --count 100"),
            "keep 1 kHz",
            "schedule",
        ),
        (
            format!("exchange {board} --in 48,8000 --count 20"),
            "Fastest at ",
            "% of limit",
        ),
        (
            format!("stream {address} --direction in,both --duration 1s"),
            "IN ",
            "lost B",
        ),
    ];
    for (command, answer, head) in runs {
        desk.output(&command);
        let mut sentence = String::new();
        for columns in [100, 80] {
            let mut show = desk.wiregauge("show last");
            let shown = show.env("COLUMNS", columns.to_string()).assert().success();
            let text = String::from_utf8_lossy(&shown.get_output().stdout).into_owned();
            let (run, _) = text.split_once("\nstored in ").expect("where it is stored");
            assert!(longest(run) <= columns, "{columns}: {run}");
            let (_, below) = run.split_once("\n\n").expect("a heading");
            // Where a host stalls, that is "This run does not show whether starts keep 1 kHz".
            let (first, _) = below.split_once("\n\n").expect("a table");
            assert!(first.contains(answer), "{answer}: {run}");
            first
                .lines()
                .next()
                .unwrap_or_default()
                .clone_into(&mut sentence);
            assert_eq!(run.matches(head).count(), 1, "{head}: {run}");
        }
        let full = desk.output("show last --full");
        let tables = full.matches(" p99 ").count();
        assert!(tables > 1 && !full.contains(&sentence), "{full}");
    }
}

#[test]
fn every_warning_is_one_line_with_a_code_that_help_explains() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --drop every=10");
    let flags = "--count 50 --timeout 30ms --host-load cpu=1 --no-calibration";
    let text = desk.output(&format!("exchange {} {flags}", server.address));
    let is_code = |word: &&str| word.len() == 3 && word.starts_with('W');
    let first_words = text.lines().filter_map(|line| line.split(':').next());
    let codes: Vec<&str> = first_words.filter(is_code).collect();
    // Beside a loss, what a busy host did may be its cause.
    let cause = "W07";
    let changing = codes.iter().filter(|code| **code != cause);
    let changing: Vec<&&str> = changing.collect();
    assert_eq!(changing, [&"W01"], "those that change the answer: {text}");
    let last = text
        .split("\n\n")
        .find(|block| block.starts_with("all tables"));
    assert!(last.is_some_and(|line| line.contains("W05")), "{text}");
    for code in &codes {
        let of_code = codes.iter().filter(|other| *other == code).count();
        assert!(of_code == 1 || *code == cause, "{code} once: {text}");
        has_all(
            &desk.output(&format!("help {code}")),
            &[*code, "Consequence:", "Remedy:"],
        );
    }
    has_all(&text, &[&format!("wiregauge help {}", codes[0])]);
    let full = desk.output("show last --full");
    has_all(&full, &["\nW01: "]);
    for same in ["W5", "w05", "W05"] {
        let help = desk.output(&format!("help {same}"));
        assert!(help.starts_with("W05 ") && help.contains("drift"), "{help}");
    }
    for unknown in ["help foo", "help exchange stream", "help W01 W02"] {
        desk.fails(unknown, 2, &["unrecognized subcommand"]);
    }
    desk.fails("help W99", 2, &["unknown warning code W99"]);
    let listed = desk.output("help warnings");
    for one in wiregauge_report::tables::WARNINGS {
        assert!(listed.contains(&format!("{} {}", one.code, one.finding)));
    }
}

#[test]
fn json_of_a_run_holds_every_figure_in_base_units() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    // At a larger depth, a busy host sends two requests at once: a TRT of 0.
    let flags = "--count 300 --depth 1 --below 1h --rate 2k --no-calibration --json";
    let run = desk.json(&format!("exchange {} {flags}", server.address));
    assert_eq!(run["schema"], 2);
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
    assert_eq!(point["below"][0]["share"], 1.0);
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
    desk.wiregauge(&format!(
        "{exchange} --require min<10s --require corrupted=0"
    ))
    .assert()
    .code(0);
    // Of 30, three are lost in each row, or more on a slow machine.
    let lost = r"limit missed: lost=0: \d+ at IN (48|100) B; also missed at 1 other point\n";
    desk.wiregauge(&format!("{exchange} --in 48,100 --require lost=0"))
        .assert()
        .code(1)
        .stderr(is_match(lost).unwrap());
    desk.wiregauge(&format!("{exchange} --require min<1ns"))
        .assert()
        .code(1)
        .stderr(
            is_match(r"limit missed: min<1ns: \d[\d.]* (ns|us|ms|s), [\d,]+ times the limit\n")
                .unwrap(),
        );
}

#[test]
fn a_limit_on_a_percentile_is_missed_when_the_losses_reach_beyond_it() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --drop every=10");
    let exchange = format!("exchange {} --count 10 --timeout 1s", server.address);
    let exchange = format!("{exchange} --no-calibration --quiet");
    // Of ten, one is lost: nine of ten are answered, and p90 is the last of them.
    // So few prove nothing.
    for (flags, code) in [("", 1), (" --undecided fail", 1), (" --undecided pass", 0)] {
        let undecided = is_match(r"limit undecided: p90<10s: .* with 10 exchanges\n");
        desk.wiregauge(&format!("{exchange} --require p90<10s{flags}"))
            .assert()
            .code(code)
            .stderr(undecided.unwrap());
    }
    for percentile in ["p99", "rtt.p99.9", "max"] {
        desk.fails(&format!("{exchange} --require {percentile}<10s"), 1, &[&format!(
                "limit missed: {percentile}<10s: undefined: 10 % of the exchanges have no correct answer in time"
            )]);
    }
}

#[test]
fn a_run_that_fails_unanswered_prints_the_error_and_no_empty_table() {
    let desk = Desk::new();
    let server = desk.serve("udp://:0 --drop 100%");
    let flags = "--depth 4 --timeout 20ms --no-calibration";
    let mut exchange = desk.wiregauge(&format!("exchange {} {flags}", server.address));
    let done = exchange.assert().code(3);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let stdout = text(&done.get_output().stdout);
    let stderr = text(&done.get_output().stderr);
    has_all(&stderr, &["no answer to the first 12 exchanges"]);
    assert!(stdout.contains("stored in "), "{stdout}");
    for repeated in ["lost", "No point", "W01", "W03"] {
        assert!(!stdout.contains(repeated), "{repeated}: {stdout}");
    }
    let shown = desk.output("show last");
    assert!(
        shown.starts_with("failed after ") && !shown.contains(" lost"),
        "{shown}"
    );
    let full = desk.output("show last --full");
    has_all(&full, &["Failed exchanges", "W01"]);
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
fn a_program_that_reads_the_output_gets_no_colours_although_the_environment_asks_for_them() {
    let desk = Desk::new();
    for (words, code) in [
        ("exchange tcp://127.0.0.1:1 --count 5", 3),
        ("exchange null:// --depth 0", 2),
        ("exchange null:// --count 40 --no-calibration", 0),
        ("help", 0),
    ] {
        let printed = |words: &str| {
            let mut command = desk.command(words);
            let output = command.env("CLICOLOR_FORCE", "1").output();
            let output = output.expect("it starts");
            assert_eq!(output.status.code(), Some(code), "{output:?}");
            [output.stdout, output.stderr].concat()
        };
        assert!(printed(words).contains(&0x1b), "{words}");
        let plain = printed(&format!("--plain {words}"));
        let text = String::from_utf8_lossy(&plain);
        assert!(
            !plain.contains(&0x1b) && !text.contains("--plain"),
            "{text}"
        );
    }
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
