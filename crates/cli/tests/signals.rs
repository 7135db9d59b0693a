//! What ends a run from outside: a signal, a closed terminal, an output that nobody reads. Whatever it is, the run is
//! ended in order.

use crate::common;

use common::{Background, Desk, until};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};

/// A run that takes a minute if nothing ends it.
fn long_run(desk: &Desk, address: &str) -> Command {
    desk.command(&format!(
        "exchange {address} --rate 1000 --duration 60s --no-calibration"
    ))
}

fn only_listing(desk: &Desk) -> Value {
    let listed = desk.json("runs --json");
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    listed[0].clone()
}

fn has_begun(desk: &Desk) {
    until("a point has begun", || desk.measures());
}

/// Waits for the end of a program whose outputs are not collected.
fn code_of(mut child: Child) -> Option<i32> {
    let begin = std::time::Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("its state") {
            return status.code();
        }
        if begin.elapsed() > common::BOUND {
            let _ = child.kill();
            panic!("it hangs");
        }
        std::thread::sleep(std::time::Duration::from_millis(3));
    }
}

#[test]
fn signals_that_come_together_are_one() {
    // `timeout` sends SIGTERM to its child and to the group; a shell sends SIGHUP again.
    for pair in [
        [Signal::TERM, Signal::TERM],
        [Signal::HUP, Signal::TERM],
        [Signal::TERM, Signal::HUP],
    ] {
        let desk = Desk::new();
        let server = desk.serve("tcp://:0");
        let run = Background::start(&mut long_run(&desk, &server.address));
        has_begun(&desk);
        for signal in pair {
            run.signal(signal);
        }
        let ended = run.ended();
        assert_eq!(ended.code, Some(130), "{pair:?}: {ended}");
    }
}

#[test]
fn a_run_under_nohup_outlives_its_terminal() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let flags = "--rate 1000 --count 500 --no-calibration";
    let wiregauge = common::WIREGAUGE;
    let script = format!(
        "trap '' HUP; exec {wiregauge} exchange {} {flags}",
        server.address
    );
    let run = Background::start(&mut desk.command_of("sh", ["-c", script.as_str()]));
    has_begun(&desk);
    run.signal(Signal::HUP);
    let ended = run.ended();
    assert_eq!(ended.code, Some(0), "{ended}");
    assert_eq!(only_listing(&desk)["state"], "complete");
}

#[test]
fn an_output_that_nobody_reads_any_more_costs_no_exchange() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let flags = "--rate 1000 --count 500 --no-calibration";
    let run = format!("exchange {} {flags}", server.address);
    for (limit, code) in [("", 0), (" --require max<1ns", 1)] {
        let mut child = desk
            .command(&format!("{run}{limit}"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        has_begun(&desk);
        drop((child.stdout.take(), child.stderr.take()));
        assert_eq!(code_of(child), Some(code));
        let listing = only_listing(&desk);
        assert_eq!(listing["state"], "complete");
        assert_eq!(listing["exchanges"], 500);
        std::fs::remove_dir_all(desk.runs()).expect("cleared for the next");
    }
}

#[test]
fn an_error_that_nobody_reads_is_still_an_exit_code() {
    let desk = Desk::new();
    let mut child = desk
        .command("exchange unix://nobody --no-calibration")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(child.stderr.take());
    assert_eq!(code_of(child), Some(3));
}

/// A terminal whose window is `master`; a program that is started with `command` has it as its own.
struct Terminal {
    master: OwnedFd,
    path: String,
}

impl Terminal {
    fn new() -> Terminal {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).expect("a pseudo-terminal");
        grantpt(&master).expect("grantpt");
        unlockpt(&master).expect("unlockpt");
        let path = ptsname(&master, Vec::new()).expect("ptsname");
        let path = path.to_string_lossy().into_owned();
        Terminal { master, path }
    }

    fn end(&self) -> File {
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        File::from(rustix::fs::open(&self.path, flags, Mode::empty()).expect("the terminal"))
    }

    /// Starts a program that prints to the terminal, which is its controlling one where `controls` is set.
    fn start(&self, desk: &Desk, arguments: &str, controls: bool) -> Child {
        let mut command = match controls {
            true => {
                let mut command = desk.command_of("setsid", ["--ctty", common::WIREGAUGE]);
                command.args(arguments.split_whitespace());
                command
            }
            false => desk.command(arguments),
        };
        command
            .stdin(self.end())
            .stdout(self.end())
            .stderr(self.end())
            .spawn()
            .expect("it starts")
    }
}

#[test]
fn a_terminal_that_is_closed_ends_a_run_in_order() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let terminal = Terminal::new();
    let flags = "--rate 1000 --duration 60s --no-calibration";
    let run = terminal.start(&desk, &format!("exchange {} {flags}", server.address), true);
    has_begun(&desk);
    std::thread::sleep(std::time::Duration::from_millis(500));
    drop(terminal.master);
    assert_eq!(code_of(run), Some(130));
    let listing = only_listing(&desk);
    assert_eq!(listing["state"], "interrupted");
    assert!(listing["exchanges"].as_u64() > Some(0), "{listing}");
    desk.output("show last");
}

#[test]
fn a_terminal_that_is_gone_costs_no_exchange_of_a_run_that_goes_on() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let terminal = Terminal::new();
    let flags = "--rate 500 --count 500 --no-calibration";
    let run = terminal.start(
        &desk,
        &format!("exchange {} {flags}", server.address),
        false,
    );
    has_begun(&desk);
    drop(terminal.master);
    // The result could not be printed, but it is stored.
    assert_eq!(code_of(run), Some(3));
    let listing = only_listing(&desk);
    assert_eq!(listing["state"], "complete");
    assert_eq!(listing["exchanges"], 500);
}

#[test]
fn sigpipe_is_not_the_end_of_a_run() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let flags = "--rate 1000 --count 300 --no-calibration";
    let command = format!("exchange {} {flags}", server.address);
    let run = Background::start(&mut desk.command(&command));
    has_begun(&desk);
    let pid = Pid::from_raw(i32::try_from(run.pid()).expect("a process id")).expect("not 0");
    kill_process(pid, Signal::PIPE).expect("sent");
    let ended = run.ended();
    assert_eq!(ended.code, Some(0), "{ended}");
}
