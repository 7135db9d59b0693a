//! Runs that are cut short: Ctrl-C keeps the point in progress, `kill -9` loses no more than that.

mod common;

use common::{Background, Desk, rows, until};
use rustix::process::Signal;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

/// Starts a run of three points, half a second each.
fn start(desk: &Desk, address: &str) -> Background {
    let flags = "--in 48,100,200 --rate 1000 --count 500 --no-calibration";
    Background::start(&mut desk.command(&format!("exchange {address} {flags}")))
}

/// The file of a point's samples.
fn samples(desk: &Desk, file: &str) -> Option<PathBuf> {
    let runs = desk.stored();
    let path = desk.runs().join(runs.first()?).join("samples").join(file);
    path.exists().then_some(path)
}

fn only_listing(desk: &Desk) -> Value {
    let listed = desk.wiregauge("runs --json").assert().success();
    let listed = serde_json::from_slice::<Value>(&listed.get_output().stdout).expect("JSON");
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    listed[0].clone()
}

fn exported_rows(desk: &Desk) -> Vec<common::Row> {
    let exported = desk.wiregauge("export last --csv").assert().success();
    rows(&String::from_utf8_lossy(&exported.get_output().stdout))
}

#[test]
fn ctrl_c_keeps_the_point_in_progress() {
    let desk = Desk::new();
    for (signal, address) in [(Signal::INT, "tcp://:0"), (Signal::TERM, "pty:")] {
        let server = desk.serve(address);
        let run = start(&desk, &server.address);
        until("the second point has begun", || {
            samples(&desk, "point-0001.parquet.part").is_some()
        });
        std::thread::sleep(Duration::from_millis(150));
        run.signal(signal);
        let ended = run.ended();
        assert_eq!(ended.code, Some(130), "{ended}");
        // What was measured is printed, and what it is not.
        assert!(ended.stdout.contains("RTT in "), "{ended}");
        assert!(ended.stdout.contains("not measured to its end"), "{ended}");
        let listing = only_listing(&desk);
        assert_eq!(listing["state"], "interrupted");
        assert_eq!(listing["points"], 2);
        let rows = exported_rows(&desk);
        let of = |point| rows.iter().filter(|row| row.point == point).count();
        assert_eq!(of(0), 501);
        assert!((2..501).contains(&of(1)), "{}", of(1));
        std::fs::remove_dir_all(desk.runs()).expect("cleared for the next");
    }
}

#[test]
fn a_kill_loses_at_most_the_point_in_progress() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let run = start(&desk, &server.address);
    until("the second point has begun", || {
        samples(&desk, "point-0001.parquet.part").is_some()
    });
    run.signal(Signal::KILL);
    let ended = run.ended();
    assert_eq!(ended.code, None, "{ended}");
    let listing = only_listing(&desk);
    assert_eq!(listing["state"], "running or crashed");
    assert_eq!(listing["points"], 1);
    assert_eq!(exported_rows(&desk).len(), 501);
    desk.wiregauge("show last").assert().success();
}

#[test]
fn a_run_can_be_looked_at_while_it_runs() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let run = start(&desk, &server.address);
    until("the first point is there", || {
        samples(&desk, "point-0000.parquet").is_some()
            && samples(&desk, "point-0001.parquet.part").is_some()
    });
    assert_eq!(only_listing(&desk)["state"], "running or crashed");
    assert!(exported_rows(&desk).len() >= 501);
    let ended = run.ended();
    assert_eq!(ended.code, Some(0), "{ended}");
    assert_eq!(only_listing(&desk)["state"], "complete");
    assert_eq!(exported_rows(&desk).len(), 3 * 501);
}

#[test]
fn ctrl_c_before_anything_answered_ends_the_program_too() {
    let desk = Desk::new();
    // A device that says nothing for a long time.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address");
    let flags = "--timeout 20s --protocol echo --no-calibration";
    let mut command = desk.command(&format!("exchange tcp://{address} {flags}"));
    let run = Background::start(&mut command);
    until("the run has begun", || {
        samples(&desk, "point-0000.parquet.part").is_some()
    });
    run.signal(Signal::INT);
    let ended = run.ended();
    assert_eq!(ended.code, Some(130), "{ended}");
}

#[test]
fn ctrl_c_while_the_device_does_not_say_who_it_is_ends_the_program_too() {
    let desk = Desk::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address");
    for command in ["exchange", "stream"] {
        let flags = "--timeout 60s";
        let mut command = desk.command(&format!("{command} tcp://{address} {flags}"));
        let run = Background::start(&mut command);
        until("the run has begun", || !desk.stored().is_empty());
        // It has connected, and says HELLO.
        let _link = listener.accept().expect("a connection");
        run.signal(Signal::INT);
        let ended = run.ended();
        assert_eq!(ended.code, Some(130), "{ended}");
        assert!(desk.stored().is_empty(), "nothing was measured");
    }
}

#[test]
fn a_second_ctrl_c_ends_the_program_at_once() {
    let desk = Desk::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address");
    // A queue that is full: the system goes on trying to connect, whatever the program is told.
    rustix::net::listen(&listener, 0).expect("a shorter queue");
    let brief = Duration::from_millis(300);
    let mut queue = Vec::new();
    while let Ok(link) = std::net::TcpStream::connect_timeout(&address, brief) {
        queue.push(link);
    }
    let flags = "--timeout 60s --no-calibration";
    let mut command = desk.command(&format!("exchange tcp://{address} {flags}"));
    let mut run = Background::start(&mut command);
    until("the run has begun", || !desk.stored().is_empty());
    run.signal(Signal::INT);
    std::thread::sleep(brief);
    // Connecting is not interrupted by the first one; on a busy host it may have got through all the same.
    if run.is_running() {
        run.signal(Signal::INT);
    }
    run.ended();
}
