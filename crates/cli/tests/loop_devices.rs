//! Closed loops over virtual devices that move their samples themselves, in a thread or a process of
//! their own: what they count and verify, and what becomes of the process.

#![cfg(feature = "loop")]

use crate::common;

use common::{Background, Desk, until};
use predicates::prelude::*;
use predicates::str::contains;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use wiregauge_record::{Disturbance, LoopSummary};
use wiregauge_run::{Loop, RunFile};

const DEVICES: [&str; 2] = ["virtual:thread", "virtual:process"];

/// Blocks of 5 ms, a preload of a fifth of a second, and rings of two seconds, which outlast the moods of
/// a busy machine.
const SHORT: &str = "--rate 1M --notify 10000 --ring 4000000 --preload 400000 --duration 700ms \
                     --settle 50ms --no-calibration";

/// Loops, which must succeed, and gives its only point and what the device said of itself.
#[track_caller]
fn looped(desk: &Desk, device: &str, flags: &str) -> (LoopSummary, String) {
    let command = format!("loop {device} {flags} --json");
    let ended = Background::start(&mut desk.command(&command)).ended();
    assert_eq!(ended.code, Some(0), "{ended}");
    let run: RunFile<Loop> = serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("no run was printed ({error}): {ended}"));
    let [point] = <[LoopSummary; 1]>::try_from(run.points).expect("one point");
    (point, format!("{:?}", run.conditions.link))
}

/// The only child of a program, once it has one.
fn device_of(program: &Background) -> Pid {
    let tasks = PathBuf::from(format!("/proc/{}/task", program.pid()));
    let children = || -> Vec<Pid> {
        let tasks = fs::read_dir(&tasks).into_iter().flatten().flatten();
        let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
        let lists: String = lists.collect();
        let pids = lists.split_whitespace().filter_map(|pid| pid.parse().ok());
        pids.filter_map(Pid::from_raw).collect()
    };
    until("the device's process runs", || !children().is_empty());
    children()[0]
}

/// Fails if a process does not end, and its parent does not take note of it.
fn assert_gone(pid: Pid) {
    let path = PathBuf::from(format!("/proc/{}", pid.as_raw_nonzero()));
    until("the device's process is gone", || !path.exists());
}

/// A loop of 20 s over a process, in its first point for a while, and that process.
fn begun(desk: &Desk, flags: &str) -> (Background, Pid) {
    let command =
        format!("loop virtual:process --duration 20s --settle 20ms --no-calibration {flags}");
    let run = Background::start(&mut desk.command(&command));
    until("the loop runs", || desk.measures());
    let device = device_of(&run);
    // The rings are laid out first, on a busy machine for a good while.
    std::thread::sleep(Duration::from_millis(800));
    (run, device)
}

/// Data rows of the stored run.
fn kept(desk: &Desk) -> usize {
    desk.output("export last --csv").lines().count() - 1
}

#[test]
fn the_latency_is_the_preload_across_a_thread_and_a_process() {
    for device in DEVICES {
        let desk = Desk::new();
        for (process, method) in [("copy", "sequence"), ("gain:0.5", "reference")] {
            let (point, printed) = looped(&desk, device, &format!("{SHORT} --process {process}"));
            assert!(printed.contains(device), "{printed}");
            let found = point.verified.as_ref().expect("verified");
            assert_eq!(found.method, method);
            assert_eq!(
                (found.wrong, found.found_frames),
                (0, Some(200_000)),
                "{found:?}"
            );
            assert!(found.compared > 10, "{found:?}");
            // 750 ms of blocks of 5 ms, less the start-up.
            assert!((130..=145).contains(&point.blocks), "{}", point.blocks);
        }
    }
}

#[test]
fn how_late_the_device_itself_was_is_kept_apart() {
    for device in DEVICES {
        let desk = Desk::new();
        let (point, _) = looped(&desk, device, SHORT);
        let late = point.disturbances.iter().find_map(|d| match d {
            Disturbance::DeviceLate(late) => Some(*late),
            _ => None,
        });
        let late = late.expect("a device that is a program");
        let service = point.service.as_ref().expect("blocks").max;
        // The loop cannot have been faster than its device.
        assert!(late.longest_ns > 0 && late.longest_ns as f64 <= service);
        assert!(late.times <= point.blocks);
        let shown = desk.output("show last");
        assert!(shown.contains("the virtual device, a program on this host"));
    }
}

#[test]
fn a_device_that_is_killed_is_a_failed_link_and_its_samples_are_kept() {
    let desk = Desk::new();
    let (run, device) = begun(&desk, "--rate 1M --notify 10000");
    kill_process(device, Signal::KILL).expect("there");
    let ended = run.ended();
    assert_eq!(ended.code, Some(3), "{ended}");
    for said in ["virtual device", "signal 9", "hint: "] {
        assert!(ended.stderr.contains(said), "{ended}");
    }
    assert_gone(device);
    assert!((5..4_000).contains(&kept(&desk)));
    desk.wiregauge("show last").assert().success();
}

#[test]
fn ctrl_c_ends_the_device_and_keeps_the_blocks() {
    for wait in ["sleep", "spin"] {
        let desk = Desk::new();
        let (run, device) = begun(&desk, &format!("--rate 1M --notify 10000 --wait {wait}"));
        run.signal(Signal::INT);
        let ended = run.ended();
        assert_eq!(ended.code, Some(130), "{ended}");
        assert_gone(device);
        assert!((5..4_000).contains(&kept(&desk)));
    }
}

#[test]
fn a_device_outlives_neither_a_loop_that_is_killed_nor_one_that_ends() {
    let desk = Desk::new();
    let (run, device) = begun(&desk, "--rate 1M --notify 10000");
    run.signal(Signal::KILL);
    run.ended();
    assert_gone(device);
    let flags = "--rate 1M --notify 10000,20000 --duration 100ms --no-calibration --no-store";
    let command = format!("loop virtual:process {flags}");
    let run = Background::start(&mut desk.command(&command));
    let device = device_of(&run);
    assert_eq!(run.ended().code, Some(0));
    assert_gone(device);
}

#[test]
fn the_device_of_a_loop_cannot_be_started_by_hand_and_is_no_command() {
    let desk = Desk::new();
    desk.fails(
        "virtual-device",
        2,
        &[
            "not the shared memory",
            "hint: use wiregauge loop virtual:process",
        ],
    );
    for listing in ["help", "completions bash"] {
        desk.wiregauge(listing)
            .assert()
            .success()
            .stdout(contains("virtual-device").not());
    }
    desk.fails(
        "loop virtual:card",
        2,
        &["one of: virtual, virtual:thread, virtual:process"],
    );
}
