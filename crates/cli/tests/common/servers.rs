//! What the program is measured against: `wiregauge serve`, socat, Python, and a tty of the test's
//! own. All are gone when they are dropped.

use super::{Background, Desk};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, tcgetattr};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};

/// A server, and where it can be reached.
pub struct Server {
    pub process: Background,
    pub address: String,
}

impl Server {
    /// `wiregauge serve`: it says its address itself.
    pub fn wiregauge(mut command: Command) -> Server {
        let mut process = Background::start(&mut command);
        let address = process.until_said("its address", |stdout, _| {
            let line = stdout
                .split_inclusive('\n')
                .find(|line| line.ends_with('\n'))?;
            Some(line.strip_prefix("serving ")?.trim().to_string())
        });
        Server { process, address }
    }

    /// socat between two of its addresses, once it says `ready` on standard error; what stands
    /// behind it on that line is given to `address`.
    pub fn socat(
        desk: &Desk,
        arguments: &[&str],
        ready: &str,
        address: impl Fn(&str) -> String,
    ) -> Server {
        needs("socat", "-V");
        let command = desk.command_of("socat", ["-d", "-d"]);
        let mut process = Background::start({ command }.args(arguments));
        let address = process.until_said(ready, |_, stderr| {
            let whole = stderr
                .split_inclusive('\n')
                .filter(|line| line.ends_with('\n'));
            let mut rest = whole.filter_map(|line| Some(line.split_once(ready)?.1.trim()));
            rest.next_back().map(&address)
        });
        Server { process, address }
    }

    /// A Python program of the standard library alone, which prints its port.
    pub fn python(desk: &Desk, scheme: &str, program: &str) -> Server {
        needs("python3", "--version");
        let mut command = desk.command_of("python3", ["-u", "-c", program]);
        let mut process = Background::start(&mut command);
        let port = process.until_said("its port", |stdout, _| {
            stdout
                .split_once('\n')
                .map(|(line, _)| line.trim().to_string())
        });
        Server {
            process,
            address: format!("{scheme}://127.0.0.1:{port}"),
        }
    }

    /// What stands behind `://` in its address.
    pub fn host_port(&self) -> &str {
        self.address
            .split_once("://")
            .map_or("", |(_, rest)| rest)
            .trim()
    }
}

/// Fails, and says what to do, where a program is missing. Skipping would look like passing.
fn needs(program: &str, argument: &str) {
    let found = Command::new(program).arg(argument).output();
    assert!(
        found.is_ok_and(|output| output.status.success()),
        "{program} is missing, which this test measures against: run `make setup`"
    );
}

/// A tty in its ordinary, cooked state, whose other end (in this test) echoes what it gets, or answers it.
pub struct EchoTty {
    path: PathBuf,
    tty: OwnedFd,
    during: Arc<Mutex<Option<String>>>,
}

impl EchoTty {
    /// Makes one. With `silent` the other end takes everything and answers nothing.
    pub fn new(silent: bool) -> EchoTty {
        EchoTty::answering(move |received| match silent {
            true => Vec::new(),
            false => received.to_vec(),
        })
    }

    /// Makes one whose other end answers what was received at once with what `reply` returns.
    pub fn answering(mut reply: impl FnMut(&[u8]) -> Vec<u8> + Send + 'static) -> EchoTty {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).expect("a pseudo-terminal");
        grantpt(&master).expect("grantpt");
        unlockpt(&master).expect("unlockpt");
        let name = ptsname(&master, Vec::new()).expect("ptsname");
        let path = PathBuf::from(name.to_string_lossy().into_owned());
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let open = || rustix::fs::open(&path, flags, Mode::empty()).expect("the tty");
        let (tty, watched) = (open(), open());
        let during = Arc::new(Mutex::new(None));
        let seen = Arc::clone(&during);
        // It ends with the process: a thread that reads a tty cannot be stopped.
        std::thread::spawn(move || {
            let mut master = std::fs::File::from(master);
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = master.read(&mut buffer) {
                if let Ok(mut seen) = seen.lock() {
                    *seen = Some(settings(&tcgetattr(&watched).expect("settings")));
                }
                if master.write_all(&reply(&buffer[..count])).is_err() {
                    break;
                }
            }
        });
        EchoTty { path, tty, during }
    }

    /// Its address.
    pub fn address(&self) -> String {
        format!("serial://{}", self.path.display())
    }

    /// How it is set now.
    pub fn settings(&self) -> String {
        settings(&tcgetattr(&self.tty).expect("the settings of the tty"))
    }

    /// How it was set when something was last sent over it.
    pub fn settings_while_used(&self) -> Option<String> {
        self.during.lock().expect("its thread lives").clone()
    }
}

fn settings(termios: &Termios) -> String {
    format!("{termios:?}")
}
