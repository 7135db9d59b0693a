//! A run once it is measured: stored, found, listed, exported.

use crate::common;

use common::{Desk, has_all, rows};
use predicates::str::contains;
use serde_json::Value;

const QUICK: &str = "exchange null:// --count 40 --no-calibration";

#[test]
fn a_stored_run_is_found_by_name_by_its_beginning_by_path_and_as_the_last() {
    let desk = Desk::new();
    desk.output(QUICK);
    let name = desk.stored().remove(0);
    let dir = desk.runs().join(&name);
    let file = dir.join("run.json");
    for run in [
        name.as_str(),
        &name[..12],
        "last",
        &dir.display().to_string(),
        &file.display().to_string(),
    ] {
        let shown = desk.output(&format!("show {run}"));
        assert!(shown.contains("null://"), "{run}: {shown}");
    }
}

#[test]
fn a_run_shown_again_has_the_tables_that_it_had_when_it_was_measured() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let exchange = format!("exchange {} --count 50 --quiet", server.address);
    let measured = desk.output(&format!("{exchange} --no-calibration --in 48,500"));
    assert_eq!(desk.output("show last --quiet"), measured);
}

#[test]
fn the_list_of_runs_tells_what_each_is() {
    let desk = Desk::new();
    assert!(desk.output("runs").contains("no runs in "));
    assert_eq!(desk.json("runs --json"), Value::Array(Vec::new()));
    desk.output(&format!("{QUICK} --out 1,2,3"));
    let name = desk.stored().remove(0);
    let listed = desk.json("runs --json");
    assert_eq!(listed[0]["name"], name.as_str());
    assert_eq!(listed[0]["address"], "null://");
    assert_eq!(listed[0]["state"], "complete");
    assert_eq!(
        (&listed[0]["points"], &listed[0]["exchanges"]),
        (&3.into(), &120.into())
    );
    let text = desk.output("runs");
    has_all(&text, &[&name, "complete"]);
    // What is wrong with a run stands below it.
    let damaged = desk.runs().join("2019-01-01-damaged");
    std::fs::create_dir(&damaged).expect("a directory");
    std::fs::write(damaged.join("run.json"), "{").expect("a file");
    let text = desk.output("runs");
    let lines: Vec<&str> = text.lines().collect();
    let row = lines.iter().position(|line| line.contains("unreadable"));
    let row = row.unwrap_or_else(|| panic!("{text}"));
    assert!(
        lines[row + 1].trim_start().starts_with("cannot read"),
        "{text}"
    );
    assert!(
        lines.iter().skip(row + 2).any(|line| line.contains(&name)),
        "{text}"
    );
}

#[test]
fn csv_has_one_row_for_each_exchange() {
    let desk = Desk::new();
    let csv = desk.path("rows.csv");
    desk.output(&format!(
        "{QUICK} --out 8,16 --depth 1,2 --csv {}",
        csv.display()
    ));
    let text = std::fs::read_to_string(&csv).expect("the file");
    let header = text.lines().next().expect("a header");
    assert_eq!(
        header,
        "point,depth,sequence,phase,delta_time_us,bytes_sent,bytes_received,status,start_us,\
         intended_us,connect_us,access_us,outstanding,link,together,device_rx_ticks,device_tx_ticks,\
         kernel_tx_us,kernel_tx_done_us,kernel_rx_us"
    );
    assert_eq!(rows(&text).len(), 4 * 41);
    // The same from the store, to a file and to standard output.
    assert_eq!(desk.output("export last --csv"), text);
    assert_eq!(desk.output("export last --csv -"), text);
    let again = desk.path("again.csv");
    desk.output(&format!("export last --csv {}", again.display()));
    assert_eq!(std::fs::read_to_string(again).expect("the file"), text);
}

#[test]
fn kept_data_are_the_bytes_of_each_answer() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --protocol echo --corrupt every=10");
    let flags = "--protocol echo --out 20 --count 30 --keep-data";
    let run = desk.measure(&server.address, flags);
    run.accounts_for_every_exchange();
    assert_eq!(run.counts().corrupted, 3);
    for row in &run.rows {
        let data = row.data_hex.as_deref().expect("a column of data");
        assert_eq!(data.len(), 2 * row.bytes_received as usize, "{row:?}");
        // The scrambled number of the exchange stands first in its request and came back with it.
        let mark = (row.sequence as u32)
            .wrapping_mul(0x9E37_79B1)
            .to_le_bytes();
        let mark: String = mark.iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(data.starts_with(&mark), "{row:?}");
    }
    // A changed bit is the last byte's here: the pattern, but for one bit.
    let byte = |row: &common::Row| {
        let data = row.data_hex.as_deref().unwrap_or_default();
        u8::from_str_radix(&data[38..], 16).expect("hexadecimal")
    };
    let pattern = |sequence: u64| ((sequence + 15) % 251) as u8;
    for row in run.with_status("corrupted") {
        assert_eq!(
            (byte(row) ^ pattern(row.sequence)).count_ones(),
            1,
            "{row:?}"
        );
    }
    for row in run.with_status("ok") {
        assert_eq!(byte(row), pattern(row.sequence), "{row:?}");
    }
    let exported = desk.output("export last --csv --data");
    assert_eq!(rows(&exported).len(), run.rows.len());
}

#[test]
fn parquet_has_its_magic_at_both_ends_and_json_goes_to_a_file_too() {
    let desk = Desk::new();
    desk.output(QUICK);
    let (parquet, file) = (desk.path("all.parquet"), desk.path("run.json"));
    for (flag, path) in [("--parquet", &parquet), ("--json", &file)] {
        desk.wiregauge(&format!("export last {flag} {}", path.display()))
            .assert()
            .success()
            .stdout("");
    }
    let bytes = std::fs::read(&parquet).expect("the file");
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    let text = std::fs::read_to_string(&file).expect("the file");
    let run: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(run["points"][0]["counts"]["exchanges"], 40);
    desk.fails("export last", 2, &["--parquet", "--csv"]);
}

#[test]
fn a_run_may_be_stored_anywhere_or_nowhere() {
    let desk = Desk::new();
    let there = desk.path("some/where");
    desk.output(&format!("{QUICK} --store {}", there.display()));
    assert!(there.join("run.json").is_file());
    let text = desk.output(&format!("{QUICK} --no-store"));
    assert!(!text.contains("stored in"), "{text}");
    assert_eq!(desk.stored(), Vec::<String>::new());
    desk.wiregauge(&format!("{QUICK} --no-store --store x"))
        .assert()
        .code(2);
}

/// Runs this command, whose last argument may have blanks.
fn noted(desk: &Desk, command: &str, note: &str) {
    let mut command = desk.wiregauge(command);
    command.args(["--note", note]).assert().success();
}

#[test]
fn a_note_is_stored_with_its_run_and_shown_with_it() {
    let desk = Desk::new();
    noted(&desk, QUICK, "new cable,\nhub <removed> ");
    let stored = "new cable,\nhub <removed>";
    let run = desk.json("export last --json");
    assert_eq!(run["conditions"]["note"], stored);
    assert_eq!(desk.json("runs --json")[0]["note"], stored);
    let listed = desk.output("runs");
    has_all(
        &listed,
        &["\n      note: new cable,\n      hub <removed>\n"],
    );
    let shown = desk.output("show last");
    has_all(&shown, &["\n  note: new cable,\n  hub <removed>\n"]);
    let markdown = desk.output("show last --format md");
    assert!(markdown.contains("note: new cable,\n\nhub &lt;removed&gt;"));
    assert!(markdown.contains("new cable, hub &lt;removed&gt;"));
    let latex = desk.output("show last --format latex");
    assert!(latex.contains("% note: new cable,\n% hub <removed>"));
    let page = desk.output("report last -o -");
    assert!(page.contains("<br>note: new cable,<br>hub &lt;removed&gt;"));
    // The command that repeats the run has the note too.
    assert!(page.contains("<span>--note</span>"));
}

#[test]
fn every_command_that_stores_a_run_takes_a_note() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let address = &server.address;
    let plant = desk.serve("tcp://:0 --plant 1/s");
    let commands = [
        format!("exchange {address} --count 20 --no-calibration"),
        format!("stream {address} --direction in --duration 50ms --settle 10ms"),
        "loop virtual --rate 1M --notify 10000 --duration 50ms --settle 10ms".to_owned(),
        format!("tune {address} --minimise trt --in 48 --depth 1,2 --count 200 --no-calibration"),
        format!(
            "loop-control {} --plant 1/s --pid 1,0,0 --period 1ms --count 20",
            plant.address
        ),
    ];
    for command in commands {
        noted(&desk, &command, "the same");
        let note = &desk.json("export last --json")["conditions"]["note"];
        assert_eq!(note, "the same", "{command}");
    }
}

#[test]
fn a_comparison_shows_which_side_has_which_note() {
    let desk = Desk::new();
    for (name, note) in [("before", "old cable"), ("after", "new cable")] {
        let store = desk.runs().join(name);
        noted(&desk, &format!("{QUICK} --store {}", store.display()), note);
    }
    let compared = desk.json("compare before after --json");
    assert_eq!(compared["before"][0]["note"], "old cable");
    assert_eq!(compared["after"][0]["note"], "new cable");
    let text = desk.output("compare before after");
    has_all(&text, &["\n  note: old cable -> new cable\n"]);
    let page = desk.output("report before after -o -");
    assert!(
        page.contains("<th scope=\"row\">Run: note</th><td>old cable</td><td>new cable</td>"),
        "the conditions that differ"
    );
}

#[test]
fn a_note_that_cannot_be_printed_is_refused() {
    let desk = Desk::new();
    for (note, why) in [
        (
            "x".repeat(1001),
            "the note has 1001 characters: the maximum is 1000",
        ),
        (" \n".to_owned(), "the note is empty"),
        (
            "\u{1b}[31mred".to_owned(),
            "the note has the control character \\u{1b}: only line breaks are allowed",
        ),
    ] {
        let mut command = desk.wiregauge(QUICK);
        let refused = command.arg(format!("--note={note}")).assert().code(2);
        refused.stderr(contains(why));
    }
    assert_eq!(desk.stored(), Vec::<String>::new());
    noted(&desk, QUICK, &"x".repeat(1000));
}
