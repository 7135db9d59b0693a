//! What later commands say of a run that did not come to its end: first, how it ended.

use crate::common;

use common::{Background, Desk, Server, has_all, until};
use predicates::prelude::*;
use predicates::str::{contains, starts_with};
use rustix::process::Signal;
use std::fs;

/// Two points, the second of which takes a minute.
const FLAGS: &str = "--depth 1,2 --rate 500 --count 30000 --no-calibration";

/// A desk with a run that this signal ended in its first point.
fn desk_with_a_run_ended_by(signal: Signal) -> (Desk, Server) {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let command = format!("exchange {} {FLAGS} --store run", server.address);
    let run = Background::start(&mut desk.command(&command));
    until("some exchanges are stored", || {
        let run = wiregauge_run::Run::<wiregauge_run::Exchange>::open(&desk.path("run"));
        run.is_ok_and(|run| run.progress.rows > 100)
    });
    run.signal(signal);
    let ended = run.ended();
    assert_ne!(ended.code, Some(0), "{ended}");
    (desk, server)
}

/// What the first line says.
fn first_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn every_command_says_first_how_a_run_ended() {
    for (signal, says) in [
        (
            Signal::KILL,
            "was killed (SIGKILL, a crash or a power cut) after ",
        ),
        (Signal::HUP, "ended by SIGHUP after "),
        (Signal::TERM, "ended by SIGTERM after "),
    ] {
        let (desk, server) = desk_with_a_run_ended_by(signal);
        let ended = " exchanges, 0 of 2 points complete";
        for command in [
            "show ./run",
            "show ./run --full",
            "show ./run --quiet",
            "explain ./run",
            "deadline ./run",
            "control ./run --plant 1000/(s^2+s) --pid 0.96,0,0.049",
            "report ./run",
        ] {
            let done = desk.wiregauge(command).assert().success();
            let line = first_line(&done.get_output().stdout);
            assert!(
                line.starts_with(says) && line.contains(ended),
                "{command}: {line}"
            );
        }
        for command in [
            "export ./run --csv",
            "show ./run --format csv",
            "deadline ./run --json",
        ] {
            let done = desk.wiregauge(command).assert().success();
            let line = first_line(&done.get_output().stderr);
            assert!(line.starts_with(says), "{command}: {line}");
        }
        let whole = "--depth 1 --rate 500 --count 20 --no-calibration --store whole";
        desk.output(&format!("exchange {} {whole}", server.address));
        desk.wiregauge("compare ./whole ./run")
            .assert()
            .success()
            .stdout(starts_with(format!("run: {says}")));
        let md = desk.output("show ./run --format md");
        assert!(md.contains(&format!("**{says}")), "{md}");
        let page = fs::read_to_string(desk.path("run/report.html")).expect("a page");
        let sentence = says[1..].trim_end();
        assert!(page.contains(sentence), "{sentence}");
    }
}

#[test]
fn the_list_of_runs_says_which_run_and_how_others_ended() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let start = |flags: &str| {
        let known = desk.stored().len();
        let command = format!("exchange {} {flags}", server.address);
        let run = Background::start(&mut desk.command(&command));
        until("its first exchanges are stored", || {
            let listed = desk.json("runs --json");
            let listed = listed.as_array().expect("a list");
            listed.len() > known && listed.iter().all(|run| run["exchanges"].as_u64() > Some(0))
        });
        run
    };
    let state = |at: usize| {
        desk.json("runs --json")[at]["state"]
            .as_str()
            .map(str::to_owned)
    };
    let running = start(FLAGS);
    assert_eq!(state(0).as_deref(), Some("running"));
    let shown = desk.output("show last");
    assert!(shown.starts_with("still running: "), "{shown}");
    desk.wiregauge("report last")
        .assert()
        .success()
        .stdout(starts_with("still running: "));
    running.signal(Signal::KILL);
    running.ended();
    assert_eq!(state(0).as_deref(), Some("killed"));
    let interrupted = start(FLAGS);
    interrupted.signal(Signal::HUP);
    interrupted.ended();
    let listed = desk.output("runs");
    has_all(&listed, &["killed", "interrupted"]);
    assert!(listed.contains("      ended by SIGHUP after "), "{listed}");
    assert!(listed.contains("      was killed (SIGKILL"), "{listed}");
    let lines: Vec<&str> = listed.lines().collect();
    let below = |line: &&str| line.starts_with("      ") && line.contains(" after ");
    assert_eq!(lines.iter().filter(|line| below(line)).count(), 2);
    for pair in lines.windows(2).filter(|pair| below(&pair[1])) {
        let after = pair[1].split(" after ").nth(1).unwrap_or_default();
        let counted = after.split(" exchanges").next().unwrap_or_default();
        assert!(
            pair[0].ends_with(&format!(" {counted} exchanges")),
            "{listed}"
        );
    }
}

#[test]
fn a_full_disk_ends_a_run_and_every_view_says_how_much_is_stored() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let command = format!(
        "exchange {} --count 1000000 --no-calibration --store run",
        server.address
    );
    let ended = desk.with_room_for(300, &command);
    assert_eq!(ended.code, Some(3), "{ended}");
    assert!(ended.stderr.contains("error: "), "{ended}");
    assert!(
        ended.stderr.to_lowercase().contains("file too large"),
        "{ended}"
    );
    let line = first_line(ended.stdout.as_bytes());
    assert!(
        line.starts_with("stored ") && line.contains(" exchanges: file too large"),
        "{line}"
    );
    for command in ["show ./run", "explain ./run", "report ./run"] {
        let done = desk.wiregauge(command).assert().success();
        assert_eq!(first_line(&done.get_output().stdout), line, "{command}");
    }
    let text = desk.output("export ./run --csv");
    let stored = common::rows(&text).len().to_string();
    let of_line: String = line.split(' ').nth(1).unwrap_or_default().replace(',', "");
    assert_eq!(stored, of_line);
}

#[test]
fn a_run_that_keeps_going_on_a_full_disk_counts_what_it_could_not_store() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let command = format!(
        "exchange {} --count 30000 --no-calibration --store run --keep-going",
        server.address
    );
    let ended = desk.with_room_for(300, &command);
    assert_eq!(ended.code, Some(3), "{ended}");
    assert!(
        ended
            .stderr
            .contains("the run goes on, and what is not stored is counted"),
        "{ended}"
    );
    let line = first_line(ended.stdout.as_bytes());
    assert!(
        line.starts_with("stored ") && line.contains(" of 30,001 exchanges: file too large"),
        "{line}"
    );
    desk.wiregauge("show ./run")
        .assert()
        .success()
        .stdout(starts_with(line.clone()).and(contains("30,000")));
}

#[test]
fn points_that_were_stored_before_the_disk_was_full_are_whole() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    // The samples of the first point fit; the kept answers of the second do not.
    let flags = "--in 48,20000 --count 200 --keep-data --no-calibration --store run";
    let ended = desk.with_room_for(300, &format!("exchange {} {flags}", server.address));
    assert_eq!(ended.code, Some(3), "{ended}");
    let exported = desk.output("export ./run --csv");
    let rows = common::rows(&exported);
    let of = |point: u32| rows.iter().filter(|row| row.point == point).count();
    assert_eq!(of(0), 201);
    assert!((1..201).contains(&of(1)), "{}", of(1));
    // The samples that could not be completed do not keep the disk full.
    let names = fs::read_dir(desk.path("run/samples")).expect("the samples");
    let mut names: Vec<_> = names
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["point-0000.parquet", "point-0001.rows"]);
}
