//! The program `wiregauge-serve`. What it serves is tested in `crates/cli`, through the same library.

use assert_cmd::Command;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};
use wiregauge_wire::{Kind, REQUEST_HEADER, RESPONSE_HEADER, Request};

const PROGRAM: &str = env!("CARGO_BIN_EXE_wiregauge-serve");

/// Nothing here takes nearly as long.
const BOUND: Duration = Duration::from_secs(60);

/// A responder on a free port, which ends with the test.
struct Running(Child);

impl Running {
    /// Waits until it serves; returns its address without the scheme, and its standard output.
    fn start() -> (Running, String, BufReader<ChildStdout>) {
        let mut child = std::process::Command::new(PROGRAM)
            .arg("tcp://127.0.0.1:0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("serving tcp://");
        let address = address.unwrap_or_else(|| panic!("{line}")).to_owned();
        (Running(child), address, stdout)
    }

    /// Sends a signal; returns the exit code.
    #[cfg(unix)]
    fn ended_by(&mut self, signal: rustix::process::Signal) -> Option<i32> {
        use rustix::process::{Pid, kill_process};
        kill_process(Pid::from_child(&self.0), signal).expect("it runs");
        let begin = Instant::now();
        while begin.elapsed() < BOUND {
            if let Some(status) = self.0.try_wait().expect("its state") {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("it runs on after {signal:?}");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Ends with this code and says this.
#[track_caller]
fn refused(arguments: &[&str], code: i32, text: &str) {
    let mut command = Command::new(PROGRAM);
    let output = command.args(arguments).timeout(BOUND).output();
    let output = output.expect("it ends");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert!(
        stderr.starts_with("error: ") && stderr.contains(text),
        "{stderr}"
    );
    assert!(output.stdout.is_empty(), "{:?}", output.stdout);
}

#[test]
fn the_help_names_this_program_and_the_flags_of_wiregauge_serve() {
    let output = Command::new(PROGRAM).arg("--help").output().expect("help");
    let help = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success());
    for part in [
        "Usage: wiregauge-serve [OPTIONS] [ADDRESS]",
        "  wiregauge-serve tcp://127.0.0.1:7700\n",
        "--drop <RATE>",
        "--plant <G(s)|FILE>",
        "--request-id <ID>",
        "--profile <NAME>",
        "--function <LIST>",
    ] {
        assert!(help.contains(part), "{part} in\n{help}");
    }
    assert!(!help.contains("wiregauge serve"), "{help}");
}

#[cfg(unix)]
#[test]
fn it_serves_until_a_signal_ends_it_with_code_0() {
    use std::io::Write;
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::INT] {
        let (mut running, address, _stdout) = Running::start();
        let request = Request {
            kind: Kind::Exchange,
            sequence: 1,
            out_payload: 0,
            in_bytes: RESPONSE_HEADER as u32,
        };
        let mut frame = [0; REQUEST_HEADER];
        request.encode(&mut frame);
        let mut client = TcpStream::connect(address).expect("a connection");
        client.set_read_timeout(Some(BOUND)).expect("a timeout");
        client.write_all(&frame).expect("sent");
        client
            .read_exact(&mut [0; RESPONSE_HEADER])
            .expect("a response");
        assert_eq!(running.ended_by(signal), Some(0), "{signal:?}");
    }
}

#[test]
fn usage_errors_are_code_2_and_a_failed_link_is_code_3() {
    refused(&[], 2, "<ADDRESS>");
    refused(&["tcp://127.0.0.1:0", "--dorp", "1%"], 2, "--drop");
    refused(&["carrier-pigeon://coop"], 2, "carrier-pigeon");
    refused(
        &["pty:", "--devices", "2"],
        2,
        "--devices requires `wiregauge-serve usb-virtual`",
    );
    let (_running, address, _stdout) = Running::start();
    refused(&[&format!("tcp://{address}")], 3, "in use");
}
