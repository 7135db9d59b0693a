//! What later commands say of a run that did not come to its end: first, how it ended.

use crate::common;

use common::{Background, Desk, Server, until};
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
