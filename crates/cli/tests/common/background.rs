//! A program that runs beside the test: what it says is collected, waiting for it is bounded, and
//! it is gone when it is dropped.

use super::BOUND;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::fmt;
use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How a program ended and what it said.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ended {
            code,
            stdout,
            stderr,
        } = self;
        // Many figures are of no help where a test failed; the last words are.
        let shown: String = stdout.chars().take(3000).collect();
        write!(
            f,
            "exit code {code:?}\n-- stdout\n{shown}\n-- stderr\n{stderr}"
        )
    }
}

/// A program that runs beside the test.
pub struct Background {
    child: Child,
    command: String,
    stdout: Collected,
    stderr: Collected,
}

/// What one of its outputs has said so far.
struct Collected {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Collected {
    fn from(mut output: impl Read + Send + 'static) -> Collected {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&bytes);
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 65_536];
            while let Ok(count @ 1..) = output.read(&mut buffer) {
                let mut into = into.lock().unwrap_or_else(PoisonError::into_inner);
                into.extend_from_slice(&buffer[..count]);
            }
        });
        Collected {
            bytes,
            reader: Some(reader),
        }
    }

    fn text(&self) -> String {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Waits until the output is closed, but not for a grandchild that holds it open.
    fn finish(&mut self) {
        let begin = Instant::now();
        if let Some(reader) = self.reader.take() {
            while !reader.is_finished() && begin.elapsed() < Duration::from_secs(2) {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    }
}

impl Background {
    /// Starts it.
    pub fn start(command: &mut Command) -> Background {
        let printed = format!("{command:?}");
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("starting {printed}: {error}"));
        let stdout = Collected::from(child.stdout.take().expect("asked for"));
        let stderr = Collected::from(child.stderr.take().expect("asked for"));
        Background {
            child,
            command: printed,
            stdout,
            stderr,
        }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("sending a signal");
    }

    /// Sends it and the processes that it started a signal, as a terminal does; it must have been started as
    /// the leader of a process group.
    pub fn signal_group(&self, signal: Signal) {
        kill_process_group(Pid::from_child(&self.child), signal).expect("sending a signal");
    }

    /// What it has said so far, on standard output and on standard error.
    pub fn said(&self) -> (String, String) {
        (self.stdout.text(), self.stderr.text())
    }

    /// True while it runs.
    pub fn is_running(&mut self) -> bool {
        self.status().is_none()
    }

    fn status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("asking for a child")
    }

    /// Waits until something is found in what it said (standard output, standard error).
    pub fn until_said<T>(&mut self, what: &str, find: impl Fn(&str, &str) -> Option<T>) -> T {
        let begin = Instant::now();
        loop {
            let over = !self.is_running();
            if over {
                self.stdout.finish();
                self.stderr.finish();
            }
            let (stdout, stderr) = self.said();
            if let Some(found) = find(&stdout, &stderr) {
                return found;
            }
            if over || begin.elapsed() > BOUND {
                let _ = self.child.kill();
                let why = if over { "ended" } else { "was killed" };
                let command = &self.command;
                panic!("{command} {why} without {what}:\n{stdout}\n-- stderr\n{stderr}");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for its end; kills it and fails if that does not come.
    pub fn ended(mut self) -> Ended {
        let begin = Instant::now();
        let status = loop {
            match self.status() {
                Some(status) => break status,
                None if begin.elapsed() > BOUND => {
                    let _ = self.child.kill();
                    let (stdout, stderr) = self.said();
                    let command = &self.command;
                    panic!("{command} hung:\n{stdout}\n-- stderr\n{stderr}");
                }
                None => std::thread::sleep(Duration::from_millis(3)),
            }
        };
        self.stdout.finish();
        self.stderr.finish();
        let (stdout, stderr) = self.said();
        Ended {
            code: status.code(),
            stdout,
            stderr,
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
