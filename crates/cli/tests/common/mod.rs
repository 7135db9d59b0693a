//! What every test needs: a desk of its own with an own place for runs, the real binary, responders
//! and other servers that are gone when the test is, and a bound on the time of everything.

// Each test file is a program of its own and uses a part of this.
#![allow(dead_code, unused_imports)]

mod background;
mod frames;
mod run;
mod servers;
mod stream_run;

pub use background::{Background, Ended};
pub use frames::request;
pub use run::{Row, Run, rows};
pub use servers::{EchoTty, Server};
pub use stream_run::StreamRun;

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// Nothing in these tests takes nearly so long; what does, hangs, and is killed.
pub const BOUND: Duration = Duration::from_secs(240);

/// The program under test.
pub const WIREGAUGE: &str = env!("CARGO_BIN_EXE_wiregauge");

/// The text has all of these parts.
#[track_caller]
pub fn has_all(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

/// A temporary directory with the stored runs of one test and whatever else it writes.
pub struct Desk {
    dir: TempDir,
}

impl Desk {
    /// An empty desk.
    pub fn new() -> Desk {
        // Short, because the path of a Unix socket has at most 107 bytes.
        let dir = tempfile::Builder::new().prefix("wg").tempdir();
        Desk {
            dir: dir.expect("a temporary directory"),
        }
    }

    /// A path on the desk.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The same as text, to stand in an address or among arguments.
    pub fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Where the runs of this test are stored.
    pub fn runs(&self) -> PathBuf {
        self.path("runs")
    }

    /// Names of the stored runs.
    pub fn stored(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.runs()) else {
            return Vec::new();
        };
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        names
            .map(|name| name.to_string_lossy().into_owned())
            .collect()
    }

    /// True once a run has begun its first point: the link is open.
    pub fn measures(&self) -> bool {
        let begun = |name: String| {
            let samples = self.runs().join(name).join("samples");
            samples.join("point-0000.rows").exists()
        };
        self.stored().into_iter().any(begun)
    }

    /// The program with these arguments, separated by blanks; bounded in time.
    pub fn wiregauge(&self, arguments: &str) -> assert_cmd::Command {
        let mut command = assert_cmd::Command::from_std(self.command(arguments));
        command.timeout(BOUND);
        command
    }

    /// The same, to be started in the background.
    pub fn command(&self, arguments: &str) -> Command {
        self.command_of(WIREGAUGE, arguments.split_whitespace())
    }

    /// Any program with the surroundings of this desk.
    pub fn command_of<S: AsRef<OsStr>>(
        &self,
        program: impl AsRef<OsStr>,
        arguments: impl IntoIterator<Item = S>,
    ) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("WIREGAUGE_RUNS", self.runs())
            .env_remove("CLICOLOR_FORCE")
            .env("TERM", "xterm-256color")
            .current_dir(self.dir.path());
        command
    }

    /// The program as a user without any right: as `nobody` if this is root.
    pub fn command_as_nobody(&self, arguments: &str) -> Command {
        // What is built need not be where others may look.
        let program = self.path("wiregauge");
        if !program.exists() {
            // By a program of its own: a file that this one has open for writing could not be started by its other threads.
            let mut copy = self.command_of("cp", [Path::new(WIREGAUGE), &program]);
            assert!(copy.status().is_ok_and(|status| status.success()));
        }
        let readable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(self.path(""), readable).expect("permissions");
        let mut command = if rustix::process::getuid().is_root() {
            let flags = [
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
                "--inh-caps=-all",
            ];
            let mut command = self.command_of("setpriv", flags);
            command.arg(&program);
            command
        } else {
            self.command_of(&program, [] as [&str; 0])
        };
        command.args(arguments.split_whitespace());
        command
    }

    /// Runs the program with files of at most so many kilobytes, as on a disk that is nearly full.
    pub fn with_room_for(&self, kilobytes: u32, arguments: &str) -> Ended {
        // `ulimit -f` counts blocks of 512 bytes (POSIX); beyond it, and with the signal ignored,
        // writes fail as on a full disk.
        let blocks = 2 * kilobytes;
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec {WIREGAUGE} {arguments}");
        Background::start(&mut self.command_of("sh", ["-c", script.as_str()])).ended()
    }

    /// Standard output of a command that must succeed.
    #[track_caller]
    pub fn output(&self, arguments: &str) -> String {
        let done = self.wiregauge(arguments).assert().success();
        String::from_utf8_lossy(&done.get_output().stdout).into_owned()
    }

    /// The command ends with this code, and standard error has all of these texts.
    #[track_caller]
    pub fn fails(&self, command: &str, code: i32, says: &[&str]) {
        let done = self.wiregauge(command).assert().code(code);
        has_all(&String::from_utf8_lossy(&done.get_output().stderr), says);
    }

    /// Each line of the table has the arguments of the command, and behind `=>` what is said, with ` | ` between the parts:
    /// it ends with this code, prints no result and leaves no run.
    #[track_caller]
    pub fn refuses(&self, command: &str, code: i32, table: &str) {
        let stored = self.stored().len();
        for line in table.lines().filter(|line| !line.trim().is_empty()) {
            let (arguments, says) = line.split_once("=>").expect("arguments and words");
            let command = format!("{command} {arguments}");
            let done = self.wiregauge(&command).assert().code(code).stdout("");
            let said = String::from_utf8_lossy(&done.get_output().stderr);
            for part in says.split(" | ").map(str::trim) {
                assert!(said.contains(part), "no `{part}`: {command}: {said}");
            }
        }
        assert_eq!(self.stored().len(), stored, "an empty run is left");
    }

    /// What a command that must succeed prints, read as JSON.
    #[track_caller]
    pub fn json(&self, arguments: &str) -> serde_json::Value {
        serde_json::from_str(&self.output(arguments)).expect("JSON")
    }

    /// `wiregauge serve` with these arguments.
    pub fn serve(&self, arguments: &str) -> Server {
        Server::wiregauge(self.command(&format!("serve {arguments}")))
    }

    /// Measures, which must succeed, and gives the run with all its rows.
    pub fn measure(&self, address: &str, flags: &str) -> Run {
        let (run, ended) = self.try_measure(address, flags);
        assert_eq!(ended.code, Some(0), "{ended}");
        run
    }

    /// Measures, and gives the run and how the program ended. There must be a run to give.
    pub fn try_measure(&self, address: &str, flags: &str) -> (Run, Ended) {
        let csv = tempfile::NamedTempFile::new_in(self.dir.path()).expect("a file for the rows");
        let flags = format!("{flags} --no-calibration --json --csv");
        let mut command = self.command(&format!("exchange {address} {flags}"));
        command.arg(csv.path());
        let ended = Background::start(&mut command).ended();
        (Run::read(&ended, csv.path()), ended)
    }
}

/// Waits until something is so; fails if it never is.
pub fn until(what: &str, is_so: impl Fn() -> bool) {
    let begin = std::time::Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < BOUND, "it never came to be that {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
