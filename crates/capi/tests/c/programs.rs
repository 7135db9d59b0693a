//! The test programs in C, each linked in every way that it can be.

use crate::installed::{Linked, compiled, home, run, succeeds};
use crate::responder::{Responder, silent};
use crate::stored_run::stored_run;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;
use wiregauge_record::Protocol;
use wiregauge_responder::Faults;

fn program(folder: &TempDir, name: &str, linked: Linked) -> PathBuf {
    let source = home().join("tests/c").join(name).with_extension("c");
    compiled(folder.path(), &source, linked)
}

/// The arguments of the programs.
struct Around {
    folder: TempDir,
    responder: Responder,
    echo: Responder,
    run: String,
}

impl Around {
    fn new() -> Around {
        let folder = tempfile::tempdir().unwrap();
        Around {
            run: stored_run(folder.path()).to_str().unwrap().to_owned(),
            folder,
            responder: Responder::start(Protocol::Wiregauge),
            echo: Responder::start(Protocol::Echo),
        }
    }

    fn walk(&self) -> [&str; 3] {
        [&self.responder.address, &self.echo.address, &self.run]
    }

    fn bad_input(&self) -> [&str; 2] {
        [&self.responder.address, &self.run]
    }
}

#[test]
fn every_function_does_what_it_is_meant_to_do() {
    let around = Around::new();
    for linked in [Linked::Shared, Linked::Static] {
        let walk = program(&around.folder, "walk", linked);
        run(&walk, &around.walk());
    }
}

#[test]
fn nothing_leaks_and_nothing_is_read_beyond_its_end() {
    let around = Around::new();
    let walk = program(&around.folder, "walk", Linked::Sanitized);
    run(&walk, &around.walk());
    let bad_input = program(&around.folder, "bad_input", Linked::Sanitized);
    run(&bad_input, &around.bad_input());
}

#[test]
fn devices_that_know_nothing_of_wiregauge_are_asked_in_their_own_protocols() {
    let folder = tempfile::tempdir().unwrap();
    let scpi = Responder::start(Protocol::Scpi);
    let modbus = Responder::start(Protocol::Modbus);
    for linked in [Linked::Shared, Linked::Sanitized] {
        let queries = program(&folder, "queries", linked);
        run(&queries, &[&scpi.address, &modbus.address]);
    }
}

#[test]
fn threads_signals_and_forks_are_answered() {
    let around = Around::new();
    let (_listener, silent) = silent();
    let threads = program(&around.folder, "threads", Linked::Shared);
    let said = run(&threads, &[&around.responder.address, &silent]);
    assert_eq!(said.matches("2000 exchanges").count(), 2, "{said}");
}

/// A C program has SIGPIPE as the system sets it, which ends it.
#[test]
fn a_device_that_goes_away_does_not_end_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let faults = Faults {
        disconnect_after: Some(100),
        ..Faults::default()
    };
    let responder = Responder::with(Protocol::Wiregauge, faults);
    run(
        &program(&folder, "vanish", Linked::Shared),
        &[&responder.address],
    );
}

fn reopen(times: &str) {
    let around = Around::new();
    let reopen = program(&around.folder, "reopen", Linked::Shared);
    print!("{}", run(&reopen, &[&around.responder.address, times]));
}

#[test]
fn opening_and_closing_leaves_descriptors_and_memory_as_they_were() {
    reopen("500");
}

#[test]
#[ignore = "opens a device ten thousand times"]
fn opening_and_closing_ten_thousand_times_leaves_them_too() {
    reopen("10000");
}

#[test]
#[ignore = "valgrind is slow, and need not be there for the other tests"]
fn valgrind_finds_nothing() {
    let around = Around::new();
    // Optimised code looks at a value before it knows whether it counts (in parquet's reader, for one), which is
    // no fault; the unoptimised build, and the sanitizers, do look for what was never written.
    let undefined = match cfg!(debug_assertions) {
        true => "--undef-value-errors=yes",
        false => "--undef-value-errors=no",
    };
    for (name, arguments) in [
        ("walk", &around.walk()[..]),
        ("bad_input", &around.bad_input()[..]),
    ] {
        succeeds(
            Command::new("valgrind")
                .args([
                    "--quiet",
                    "--leak-check=full",
                    "--errors-for-leak-kinds=definite,indirect",
                ])
                .args(["--error-exitcode=9", undefined])
                .arg(program(&around.folder, name, Linked::Shared))
                .args(arguments),
        );
    }
}
