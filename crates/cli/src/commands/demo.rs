//! `wiregauge demo`: the point of it all, with no hardware. Starts a modelled full-speed device and
//! a TCP responder as processes of their own, and measures both with the commands that it shows.

use crate::Outcome;
use crate::args::{Arguments, DemoArgs};
use crate::caller::Session;
use crate::output::style::{HEADING, RESET, TYPE};
use crate::platform;
use anyhow::{Context, bail};
use clap::Parser;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Prints a line; a reader that has seen enough is an error, not a panic.
macro_rules! tell {
    ($session:expr, $($what:tt)*) => { writeln!($session.caller.words(), $($what)*)? };
}

/// A responder that is gone when this is dropped.
struct Responder {
    process: Child,
    address: String,
}

impl Responder {
    fn start(session: &Session<'_>, arguments: &[&str]) -> anyhow::Result<Responder> {
        let program = session.caller.program();
        let (binary, words) = program
            .split_first()
            .context("cannot find the program's own path")?;
        // Ctrl-C is for the measurement, which must end before its device.
        let mut process = platform::without_ctrl_c(&mut Command::new(binary))
            .args(words)
            .arg("serve")
            .args(arguments)
            .arg("--quiet")
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a responder")?;
        let output = process
            .stdout
            .take()
            .context("cannot read from the responder")?;
        let mut responder = Responder {
            process,
            address: String::new(),
        };
        let mut line = String::new();
        BufReader::new(output)
            .read_line(&mut line)
            .context("cannot read from the responder")?;
        match line.trim().strip_prefix("serving ") {
            Some(address) => responder.address = address.to_string(),
            None => bail!("the responder did not start: serve {}", arguments.join(" ")),
        }
        Ok(responder)
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Runs any command: the demo types some.
type RunCommand = fn(Arguments, &Session<'_>) -> anyhow::Result<Outcome>;

/// Runs the command.
pub fn run(
    args: &DemoArgs,
    session: &Session<'_>,
    run_command: RunCommand,
) -> anyhow::Result<Outcome> {
    let home = args.store.clone().unwrap_or_else(wiregauge_run::runs_home);
    let say = |text: &str| say(session, text);
    let type_this = |command: &str| type_this(session, command);

    say("1. A modelled microcontroller on full-speed USB, service time 700 us")?;
    let device = [
        platform::DEMO_BOARD,
        "--bus",
        "full-speed",
        "--service-time",
        "700us",
    ];
    type_this(&format!("wiregauge serve {}", device.join(" ")))?;
    let responder = Responder::start(session, &device)?;
    let sweep = "--out 16 --in 48,500,2000,8000 --depth 1,2,4 --duration 1400ms";
    let Some(board) = measure(run_command, session, &home, &responder.address, sweep)? else {
        return Ok(Outcome::Interrupted);
    };
    drop(responder);
    report(run_command, session, args, &board)?;

    say("2. A TCP responder on this host")?;
    let device = ["tcp://127.0.0.1:0"];
    type_this(&format!("wiregauge serve {}", device.join(" ")))?;
    let responder = Responder::start(session, &device)?;
    let sweep = "--out 16 --in 48,1000,8000 --depth 1,4,16 --count 10000";
    let Some(host) = measure(run_command, session, &home, &responder.address, sweep)? else {
        return Ok(Outcome::Interrupted);
    };
    drop(responder);
    report(run_command, session, args, &host)?;

    tell!(
        session,
        "\nBoth runs are stored in {}, with all samples.",
        home.display()
    );
    say("Next: measure your own device")?;
    for line in [
        "wiregauge exchange serial:///dev/ttyACM0 --protocol echo --out 64 --depth 1,2,4",
        "wiregauge exchange tcp://DEVICE:7 --protocol echo --out 1..1k --connect each",
        "wiregauge exchange tcp://DEVICE:7700 --in 48..8k --rate 500 --below 2ms,5ms",
        "wiregauge show last --format md       wiregauge runs      wiregauge export last --csv",
        "wiregauge report last                 wiregauge report last --figures DIR",
        "wiregauge help exchange",
    ] {
        type_this(line)?;
    }
    Ok(Outcome::Done)
}

/// Runs a command of ours as if it had been typed.
fn run_this(
    run_command: RunCommand,
    session: &Session<'_>,
    words: &[&OsStr],
) -> anyhow::Result<Outcome> {
    let name = OsStr::new("wiregauge");
    let arguments = Arguments::try_parse_from(std::iter::once(&name).chain(words))?;
    run_command(arguments, &session.typing(words))
}

/// Measures; returns the directory of the run, nothing if the user interrupted it.
fn measure(
    run_command: RunCommand,
    session: &Session<'_>,
    home: &Path,
    address: &str,
    sweep: &str,
) -> anyhow::Result<Option<PathBuf>> {
    let dir: PathBuf = wiregauge_run::new_run_dir(home, address);
    type_this(session, &format!("wiregauge exchange {address} {sweep}"))?;
    tell!(session, "");
    let mut words: Vec<&OsStr> = vec!["exchange".as_ref(), address.as_ref()];
    words.extend(sweep.split(' ').map(OsStr::new));
    words.extend(["--store".as_ref(), dir.as_os_str()]);
    let outcome = run_this(run_command, session, &words)?;
    Ok((outcome != Outcome::Interrupted).then_some(dir))
}

/// Writes the page of a run; the command names it.
fn report(
    run_command: RunCommand,
    session: &Session<'_>,
    args: &DemoArgs,
    run: &Path,
) -> anyhow::Result<()> {
    tell!(session, "");
    match args.store {
        None => type_this(session, "wiregauge report last")?,
        Some(_) => type_this(session, &format!("wiregauge report {}", run.display()))?,
    }
    run_this(run_command, session, &["report".as_ref(), run.as_os_str()])?;
    Ok(())
}

fn say(session: &Session<'_>, text: &str) -> std::io::Result<()> {
    tell!(session, "\n{HEADING}{text}{RESET}");
    Ok(())
}

fn type_this(session: &Session<'_>, command: &str) -> std::io::Result<()> {
    tell!(session, "  {TYPE}$ {command}{RESET}");
    Ok(())
}
