//! No command overwrites a file unless --force says so, and what cannot be written is exit code 3, whatever the command.

use crate::common::{self, Desk};
use predicates::prelude::*;
use predicates::str::contains;
use std::fs;

/// A desk with a run, and its responder, from which it can be measured again.
fn desk_with_a_run() -> Desk {
    let desk = Desk::new();
    desk.output("exchange null:// --depth 1,2 --count 50 --no-calibration --quiet");
    desk
}

#[test]
fn no_command_overwrites_a_file_unless_it_is_forced() {
    let desk = desk_with_a_run();
    let measured = "--count 5 --no-calibration --quiet --no-store";
    for (command, file) in [
        (format!("exchange null:// {measured} --csv x"), "x"),
        ("export last --csv x".into(), "x"),
        ("export last --json x".into(), "x"),
        ("export last --parquet x".into(), "x"),
        ("report last -o x.html".into(), "x.html"),
        (
            "report last --figures d --format svg".into(),
            "d/rtt-histogram.svg",
        ),
        ("deadline last --period 1ms --figure x.svg".into(), "x.svg"),
        ("man d".into(), "d/wiregauge-show.1"),
    ] {
        fs::create_dir_all(desk.path("d")).expect("a directory");
        fs::write(desk.path(file), "four years").expect("a file");
        let refused =
            format!("cannot write {file}: the file exists\n  hint: --force overwrites it");
        desk.wiregauge(&command)
            .assert()
            .code(2)
            .stderr(contains(refused));
        let kept = fs::read(desk.path(file)).expect("the file");
        assert_eq!(kept, b"four years", "{command}");
        desk.output(&format!("{command} --force"));
        let new = fs::read(desk.path(file)).expect("the file");
        assert_ne!(new, b"four years", "{command}");
        fs::remove_dir_all(desk.path("d")).expect("removed");
    }
    // Nothing else was left beside them.
    let left = fs::read_dir(desk.path("")).expect("the desk");
    let mut left: Vec<_> = left
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["runs", "x", "x.html", "x.svg"]);
}

#[test]
fn a_command_that_is_refused_for_a_file_opens_no_device_and_writes_none_of_its_files() {
    let desk = desk_with_a_run();
    fs::write(desk.path("x"), "four years").expect("a file");
    for command in [
        "exchange unix://nobody --csv x",
        "stream unix://nobody --csv x",
        "stream unix://nobody --direction in --record x",
        "loop virtual --csv x",
        "loop-control unix://nobody --plant 1/s --pid 1,0,0 --period 1ms --csv x",
        "serve pty: --bus full-speed --trace x",
    ] {
        desk.wiregauge(command)
            .assert()
            .code(2)
            .stdout("")
            .stderr(contains("the file exists\n  hint: --force overwrites it"));
    }
    fs::create_dir(desk.path("d")).expect("a directory");
    fs::write(desk.path("d/rtt-series.png"), "four years").expect("a file");
    desk.wiregauge("report last --figures d")
        .assert()
        .code(2)
        .stderr(contains("rtt-series.png: the file exists"));
    assert_eq!(fs::read_dir(desk.path("d")).expect("the files").count(), 1);
}

#[test]
fn an_empty_file_and_an_earlier_page_may_be_replaced() {
    let desk = desk_with_a_run();
    fs::write(desk.path("x"), "").expect("a file");
    desk.output("export last --csv x");
    assert_eq!(
        common::rows(&fs::read_to_string(desk.path("x")).expect("rows")).len(),
        102
    );
    desk.output("report last -o x.html");
    desk.output("report last -o x.html");
    // A page is not the place of anything else.
    desk.wiregauge("export last --csv x.html")
        .assert()
        .code(2)
        .stderr(contains("the file exists"));
}

#[test]
fn an_export_that_fails_midway_leaves_the_old_file() {
    let desk = desk_with_a_run();
    fs::write(desk.path("x"), "four years").expect("a file");
    let run = desk.runs().join(&desk.stored()[0]);
    fs::remove_file(run.join("samples/point-0001.parquet")).expect("removed");
    desk.wiregauge("export last --csv x --force")
        .assert()
        .failure();
    assert_eq!(fs::read(desk.path("x")).expect("the file"), b"four years");
}

#[test]
fn an_output_that_takes_nothing_is_a_failure_to_write_for_every_command() {
    let desk = desk_with_a_run();
    for command in [
        "show last",
        "show last --json",
        "show last --format md",
        "export last --csv",
        "export last --csv /dev/full",
        "export last --json /dev/full",
        "report last -o -",
        "runs",
        "runs --json",
        "explain last",
        "deadline last --period 1ms",
        "compare last last --json",
        "limits tcp",
        "completions bash",
        "help",
        "help exchange",
        "help W07",
        "--version",
        "exchange null:// --count 5 --no-calibration --no-store",
        "exchange null:// --count 5 --no-calibration --no-store --json",
    ] {
        let full = fs::File::options()
            .write(true)
            .open("/dev/full")
            .expect("/dev/full");
        let ended = desk
            .command(command)
            .stdout(full)
            .output()
            .expect("it starts");
        assert_eq!(ended.status.code(), Some(3), "{command}: {ended:?}");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(
            said.contains("error:") && said.contains("No space left"),
            "{command}: {said}"
        );
    }
    let ended = desk.wiregauge("man /proc/none").assert().code(3);
    ended.stderr(contains("cannot create the directory").and(contains("hint: ")));
}

#[test]
fn a_device_that_fails_costs_no_special_file() {
    let desk = Desk::new();
    let pipe = desk.path("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .expect("a pipe");
    let _reader = rustix::fs::open(
        &pipe,
        rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NONBLOCK,
        rustix::fs::Mode::empty(),
    );
    desk.wiregauge("exchange unix://nobody --csv pipe")
        .assert()
        .code(3);
    assert!(pipe.exists(), "it was not created by the command");
}
