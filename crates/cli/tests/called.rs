//! The commands as functions: what a program gets that calls them without a terminal.

use crate::common;

use common::{Desk, has_all};
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;
use wiregauge_cli::{Called, FailureKind, Outcome, call, declared};

fn words(command: &str) -> Vec<OsString> {
    command.split(' ').map(OsString::from).collect()
}

#[test]
fn a_run_is_named_and_nothing_is_lost_of_what_would_be_printed() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let (called, place) = (Called::default(), desk.text("run"));
    let command = format!("exchange {} --count 20 --store {place}", server.address);
    assert_eq!(call(&words(&command), &called), Ok(Outcome::Done));
    assert_eq!(called.left().runs, [desk.path("run")]);
    let said = String::from_utf8(called.left().said.clone()).expect("text");
    has_all(&said, &["RTT", &place]);
    assert!(!said.contains('\x1b') && called.remarks().is_empty());
    let share = called.share().expect("it reported its progress");
    assert!(share.what.starts_with("point 1 of 1"), "{share:?}");
    // The command of the run is the one that was called, not that of this test.
    let shown = Called::default();
    assert_eq!(
        call(&words(&format!("show {place}")), &shown),
        Ok(Outcome::Done)
    );
    let shown = String::from_utf8(shown.left().said.clone()).expect("text");
    assert!(shown.contains(&format!("wiregauge {command}")), "{shown}");
}

#[test]
fn a_run_that_is_not_stored_belongs_to_who_called() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let called = Called::default();
    let command = format!("exchange {} --count 5 --no-store", server.address);
    assert_eq!(call(&words(&command), &called), Ok(Outcome::Done));
    assert!(called.left().passing);
    let run = called.left().runs.remove(0);
    assert!(run.join("run.json").exists());
    std::fs::remove_dir_all(run.parent().expect("a directory of its own")).expect("removed");
}

#[test]
fn it_ends_when_it_is_told_to_and_keeps_what_was_measured() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let called = Arc::new(Called::default());
    let place = desk.text("run");
    let flags = "--duration 30s --no-calibration";
    let command = format!("exchange {} {flags} --store {place}", server.address);
    let theirs = Arc::clone(&called);
    let measuring = std::thread::spawn(move || call(&words(&command), theirs.as_ref()));
    while !measuring.is_finished() && !called.share().is_some_and(|share| share.part > 0.0) {
        std::thread::sleep(Duration::from_millis(10));
    }
    called.end();
    assert_eq!(
        measuring.join().expect("no panic"),
        Ok(Outcome::Interrupted)
    );
    assert_eq!(called.left().runs.len(), 1);
}

#[test]
fn missed_limits_and_files_are_reported() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let (called, place) = (Called::default(), desk.text("run"));
    let limits = "--require max<1ns --require max<1h";
    let command = format!(
        "exchange {} --count 5 {limits} --store {place}",
        server.address
    );
    assert_eq!(call(&words(&command), &called), Ok(Outcome::Missed));
    let missed = called.left().missed.clone();
    let [one] = &missed[..] else {
        panic!("{missed:?}")
    };
    assert!(
        one.starts_with("max<1ns: ") && !one.contains("point"),
        "{one}"
    );
    let called = Called::default();
    let csv = desk.text("all.csv");
    let command = format!("export {place} --csv {csv}");
    assert_eq!(call(&words(&command), &called), Ok(Outcome::Done));
    assert_eq!(called.left().files, [desk.path("all.csv")]);
}

#[test]
fn a_failure_has_the_words_of_the_program_and_its_kind() {
    let desk = Desk::new();
    for (command, kind, flag) in [
        ("exchange tcp://127.0.0.1:1", "link", None),
        ("exchange tcp://127.0.0.1:1 --in x", "usage", Some("--in")),
        ("exchange", "usage", None),
        ("show no-such-run", "usage", None),
    ] {
        let failure = call(&words(command), &Called::default()).expect_err("it fails");
        let printed = desk.wiregauge(command).assert().failure();
        let printed = String::from_utf8_lossy(&printed.get_output().stderr).into_owned();
        if command != "show no-such-run" {
            // That one names where the runs are, which is not the same for both.
            assert!(
                printed.starts_with(&format!("error: {failure}\n")),
                "{printed} {failure}"
            );
        }
        match kind {
            "usage" => assert_eq!(failure.kind, FailureKind::Usage),
            _ => assert!(matches!(failure.kind, FailureKind::Link(_))),
        }
        if flag.is_some() {
            assert_eq!(failure.flag.as_deref(), flag);
        }
    }
}

#[test]
fn every_flag_of_the_help_is_declared() {
    let desk = Desk::new();
    let all: serde_json::Value = serde_json::from_str(&declared()).expect("JSON");
    for (command, what) in all.as_object().expect("an object") {
        let help = desk.output(&format!("help {command}"));
        for flag in what["flags"].as_array().expect("an array") {
            let name = flag["name"].as_str().expect("a name");
            if name.starts_with("--") {
                assert!(help.contains(name), "{command} {name}");
            }
        }
        let listed = help.lines().filter_map(|line| {
            let line = line.trim_start();
            let at = line.starts_with('-').then(|| line.find("--")).flatten()?;
            line[at..]
                .split(|c: char| c != '-' && !c.is_ascii_alphanumeric())
                .next()
        });
        for name in listed.filter(|name| *name != "--help") {
            let flags = what["flags"].as_array().expect("an array");
            assert!(
                flags.iter().any(|flag| flag["name"] == name),
                "{command} {name}"
            );
        }
    }
}
