//! Runs that are cut short: Ctrl-C keeps the point in progress, `kill -9` loses no more than that.

use crate::common;

use common::{Background, Desk, has_all, rows, until};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{self, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{self, SocketFlags, SocketType};
use rustix::process::Signal;
use serde_json::Value;
use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

/// Starts a run of three points, two seconds each: a test that is late by a second still stops the one that it means.
fn start(desk: &Desk, address: &str) -> Background {
    let flags = "--in 48,100,200 --rate 250 --count 500 --no-calibration";
    Background::start(&mut desk.command(&format!("exchange {address} {flags}")))
}

/// The file of a point's samples.
fn samples(desk: &Desk, file: &str) -> Option<PathBuf> {
    let runs = desk.stored();
    let path = desk.runs().join(runs.first()?).join("samples").join(file);
    path.exists().then_some(path)
}

fn listings(desk: &Desk) -> Vec<Value> {
    let listed = desk.wiregauge("runs --json").assert().success();
    serde_json::from_slice(&listed.get_output().stdout).expect("JSON")
}

fn only_listing(desk: &Desk) -> Value {
    let listed = listings(desk);
    assert_eq!(listed.len(), 1, "{listed:?}");
    listed[0].clone()
}

fn exported_rows(desk: &Desk) -> Vec<common::Row> {
    let exported = desk.wiregauge("export last --csv").assert().success();
    rows(&String::from_utf8_lossy(&exported.get_output().stdout))
}

#[test]
fn ctrl_c_ends_the_demo_before_its_device() {
    let desk = Desk::new();
    let mut demo = Background::start(desk.command("demo").process_group(0));
    demo.until_said("the measurement", |stdout, _| {
        stdout.contains("exchange serial:").then_some(())
    });
    until("a point has begun", || {
        samples(&desk, "point-0000.rows").is_some()
    });
    demo.signal_group(Signal::INT);
    let ended = demo.ended();
    assert_eq!(ended.code, Some(130), "{ended}");
    assert!(!ended.stderr.contains("error:"), "{ended}");
    // Before the first exchange has ended there is nothing to keep.
    let listed = listings(&desk);
    assert!(
        listed.iter().all(|run| run["state"] == "interrupted"),
        "{listed:?}"
    );
}

#[test]
fn ctrl_c_keeps_the_point_in_progress() {
    let desk = Desk::new();
    for (signal, address) in [(Signal::INT, "tcp://:0"), (Signal::TERM, "pty:")] {
        let server = desk.serve(address);
        let run = start(&desk, &server.address);
        until("the second point has begun", || {
            samples(&desk, "point-0001.rows").is_some()
        });
        std::thread::sleep(Duration::from_millis(600));
        run.signal(signal);
        let ended = run.ended();
        assert_eq!(ended.code, Some(130), "{ended}");
        // What was measured is printed, and what it is not.
        assert!(ended.stdout.contains("RTT in "), "{ended}");
        assert!(ended.stdout.contains("not measured to the end"), "{ended}");
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
fn a_kill_loses_no_finished_point() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let run = start(&desk, &server.address);
    until("the second point has begun", || {
        samples(&desk, "point-0001.rows").is_some()
    });
    run.signal(Signal::KILL);
    let ended = run.ended();
    assert_eq!(ended.code, None, "{ended}");
    let listing = only_listing(&desk);
    assert_eq!(listing["state"], "killed");
    assert_eq!(listing["points"], 1);
    let listed = desk.output("runs");
    has_all(&listed, &["      was killed (SIGKILL"]);
    let rows = exported_rows(&desk);
    let of = |point| rows.iter().filter(|row| row.point == point).count();
    assert_eq!(of(0), 501);
    assert!(of(1) <= 501, "as many as were stored");
    desk.wiregauge("show last").assert().success();
}

#[test]
fn a_run_that_was_killed_in_its_first_point_is_not_explained() {
    let desk = Desk::new();
    // Nobody answers, so there is no sample before the timeout.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = silent.local_addr().expect("its address").port();
    let run = Background::start(&mut desk.command(&format!(
        "exchange tcp://127.0.0.1:{port} --protocol echo --timeout 60s --duration 1h --no-calibration"
    )));
    until("the first point has begun", || {
        samples(&desk, "point-0000.rows").is_some()
    });
    run.signal(Signal::KILL);
    run.ended();
    desk.fails(
        "explain last",
        2,
        &["no point was finished (the run is killed)"],
    );
}

/// Starts a run that ends with its standard input.
fn start_with_stdin(desk: &Desk, words: &str) -> Child {
    desk.command(&format!("--end-with-stdin {words}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

#[test]
fn a_run_that_was_started_to_end_with_its_standard_input_does_and_keeps_its_samples() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let flags = "--in 48,100 --rate 250 --count 500 --no-calibration";
    let mut run = start_with_stdin(&desk, &format!("exchange {} {flags}", server.address));
    until("the second point has begun", || {
        samples(&desk, "point-0001.rows").is_some()
    });
    assert_eq!(run.try_wait().expect("its state"), None);
    drop(run.stdin.take());
    let ended = run.wait_with_output().expect("its end");
    assert_eq!(ended.status.code(), Some(130), "{ended:?}");
    let listing = only_listing(&desk);
    assert_eq!(listing["state"], "interrupted");
    // The command that repeats it is the user's.
    let command = desk.json("show last --format json")["conditions"]["command"].clone();
    assert!(!command.to_string().contains("stdin"), "{command}");
    assert!(exported_rows(&desk).len() >= 501);
}

#[test]
fn standard_input_that_has_ended_already_ends_the_command_with_a_message() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let (pipe_of_a_dead_parent, writer) = std::io::pipe().expect("a pipe");
    drop(writer);
    let words = format!(
        "--end-with-stdin exchange {} --duration 60s",
        server.address
    );
    for stdin in [Stdio::null(), pipe_of_a_dead_parent.into()] {
        let ended = desk.command(&words).stdin(stdin).output();
        let ended = ended.expect("it starts");
        assert_eq!(ended.status.code(), Some(130), "{ended:?}");
        let said = String::from_utf8_lossy(&ended.stderr);
        has_all(&said, &["error: interrupted: standard input has ended"]);
    }
}

#[test]
fn after_a_kill_the_csv_file_has_every_finished_point() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let csv = desk.path("points.csv");
    let flags = "--in 48,100,200 --rate 250 --count 500 --no-calibration";
    let arguments = format!(
        "exchange {} {flags} --csv {}",
        server.address,
        csv.display()
    );
    let run = Background::start(&mut desk.command(&arguments));
    until("the second point has begun", || {
        samples(&desk, "point-0001.rows").is_some()
    });
    run.signal(Signal::KILL);
    let ended = run.ended();
    assert_eq!(ended.code, None, "{ended}");
    let written = std::fs::read_to_string(&csv).expect("it was written");
    let rows = rows(&written);
    assert_eq!(rows.len(), 501);
    let exported = desk.wiregauge("export last --csv").assert().success();
    assert_eq!(
        written,
        String::from_utf8_lossy(&exported.get_output().stdout)
    );
}

#[test]
fn a_run_can_be_looked_at_while_it_runs() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let run = start(&desk, &server.address);
    until("the first point is there", || {
        samples(&desk, "point-0000.parquet").is_some()
            && samples(&desk, "point-0001.rows").is_some()
    });
    assert_eq!(only_listing(&desk)["state"], "running");
    let shown = desk.output("show last");
    assert!(shown.starts_with("still running: "), "{shown}");
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
        samples(&desk, "point-0000.rows").is_some()
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
        let said = "interrupted before the first sample";
        assert!(ended.stderr.contains(said), "{ended}");
    }
}

/// A device whose queue of connections can be filled: who connects then waits.
struct Listening {
    address: String,
    listener: OwnedFd,
    queued: Vec<OwnedFd>,
}

impl Listening {
    fn new(desk: &Desk, scheme: &str) -> Listening {
        let (listener, address) = if scheme == "tcp" {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
            let at = listener.local_addr().expect("its address").to_string();
            (OwnedFd::from(listener), at)
        } else {
            let path = desk.text("device");
            let listener = UnixListener::bind(&path).expect("a free path");
            (OwnedFd::from(listener), path)
        };
        Listening {
            address: format!("{scheme}://{address}"),
            listener,
            queued: Vec::new(),
        }
    }

    /// Accepts the next connection and echoes so many requests of 48 bytes.
    fn accept(&self, requests: usize) -> File {
        let mut link = File::from(net::accept(&self.listener).expect("a connection"));
        for _ in 0..requests {
            let mut request = [0; 48];
            link.read_exact(&mut request).expect("a request");
            link.write_all(&request).expect("answered");
        }
        link
    }

    /// The system accepts no more connections, and lets who connects wait.
    fn fill(&mut self) {
        net::listen(&self.listener, 0).expect("a shorter queue");
        let at = net::getsockname(&self.listener).expect("its address");
        loop {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            let family = at.address_family();
            let socket = net::socket_with(family, SocketType::STREAM, flags, None);
            let socket = socket.expect("a socket");
            match net::connect(&socket, &at) {
                Ok(()) => {}
                Err(Errno::AGAIN) => return,
                Err(Errno::INPROGRESS) => {
                    let mut fds = [PollFd::new(&socket, PollFlags::OUT)];
                    let ready = rustix::io::retry_on_intr(|| poll(&mut fds, Some(&BRIEF)));
                    if ready.expect("waited") == 0 {
                        return;
                    }
                }
                Err(error) => panic!("connecting: {error}"),
            }
            self.queued.push(socket);
        }
    }
}

/// Longer than a connection to this host takes.
const BRIEF: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 300_000_000,
};

/// Starts a run that connects for each exchange, with a device that answers the first three and then
/// leaves the run waiting for a connection.
fn reconnecting(desk: &Desk, scheme: &str, flags: &str) -> (Background, Listening) {
    let mut device = Listening::new(desk, scheme);
    let run = format!(
        "exchange {} --protocol echo --connect each --out 48 --count 100 --no-calibration {flags}",
        device.address
    );
    let run = Background::start(&mut desk.command(&run));
    drop(device.accept(0));
    for _ in 0..3 {
        drop(device.accept(1));
    }
    let last = device.accept(0);
    device.fill();
    drop(last);
    (run, device)
}

#[test]
fn ctrl_c_while_it_reconnects_keeps_what_was_measured() {
    for scheme in ["tcp", "unix"] {
        let desk = Desk::new();
        let (run, _device) = reconnecting(&desk, scheme, "--timeout 60s");
        std::thread::sleep(Duration::from_millis(300));
        run.signal(Signal::INT);
        let ended = run.ended();
        assert_eq!(ended.code, Some(130), "{scheme}: {ended}");
        let rows = exported_rows(&desk);
        let answered = rows.iter().filter(|row| row.status == "ok").count();
        assert_eq!(answered, 3, "{scheme}: {rows:?}");
        // The fourth is lost with its connection, unless Ctrl-C came before it was seen to be closed.
        let lost = rows.iter().filter(|row| row.status == "lost").count();
        assert!(lost <= 1 && rows.len() == 3 + lost, "{scheme}: {rows:?}");
    }
}

#[test]
fn a_device_that_accepts_no_more_connections_is_given_up_after_the_timeout() {
    for scheme in ["tcp", "unix"] {
        for timeout in ["50ms", "300ms"] {
            let desk = Desk::new();
            let flags = format!("--timeout {timeout} --give-up 3");
            let (run, _device) = reconnecting(&desk, scheme, &flags);
            let ended = run.ended();
            assert_eq!(ended.code, Some(3), "{scheme} {timeout}: {ended}");
        }
    }
}

#[test]
fn a_second_ctrl_c_ends_the_program_at_once() {
    let desk = Desk::new();
    // A file that takes 64 KiB and then no more: whoever writes to it waits, whatever the signal.
    let full = desk.path("rows.csv");
    fs::mknodat(fs::CWD, &full, FileType::Fifo, Mode::RWXU, 0).expect("a pipe");
    let _reader = fs::open(&full, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty());
    let flags = "--protocol echo --count 20k --no-calibration --csv rows.csv";
    let mut run = Background::start(&mut desk.command(&format!("exchange null:// {flags}")));
    run.until_said("what it measured", |stdout, _| {
        stdout.contains("Median RTT ").then_some(())
    });
    run.signal(Signal::INT);
    std::thread::sleep(Duration::from_millis(300));
    assert!(run.is_running(), "the file still takes nothing");
    run.signal(Signal::INT);
    run.ended();
}
