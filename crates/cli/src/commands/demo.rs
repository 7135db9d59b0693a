//! `wiregauge demo`: the point of it all, with no hardware. Starts a modelled full-speed device and
//! a TCP responder as processes of their own, and measures both with the commands that it shows.

use crate::Outcome;
use crate::args::DemoArgs;
use crate::output::style::{HEADING, RESET, TYPE};
use anyhow::{Context, bail};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use wiregauge_run::Run;

/// Prints a line; a reader that has seen enough is an error, not a panic.
macro_rules! tell {
    ($($what:tt)*) => { writeln!(anstream::stdout(), $($what)*)? };
}

/// A responder that is gone when this is dropped.
struct Responder {
    process: Child,
    address: String,
}

impl Responder {
    fn start(binary: &Path, arguments: &[&str]) -> anyhow::Result<Responder> {
        let mut process = Command::new(binary)
            .arg("serve")
            .args(arguments)
            .arg("--quiet")
            .stdout(Stdio::piped())
            .spawn()
            .context("starting a responder")?;
        let output = process
            .stdout
            .take()
            .context("reading from the responder")?;
        let mut responder = Responder {
            process,
            address: String::new(),
        };
        let mut line = String::new();
        BufReader::new(output)
            .read_line(&mut line)
            .context("reading from the responder")?;
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

/// Runs the command.
pub fn run(args: &DemoArgs) -> anyhow::Result<Outcome> {
    let binary = std::env::current_exe().context("finding this program")?;
    let home = args.store.clone().unwrap_or_else(wiregauge_run::runs_home);

    say("1. A modelled microcontroller on full-speed USB, 700 us of work for each request")?;
    let device = ["pty:", "--bus", "full-speed", "--service-time", "700us"];
    type_this(&format!("wiregauge serve {}", device.join(" ")))?;
    let responder = Responder::start(&binary, &device)?;
    let sweep = "--out 16 --in 48,500,2000,8000 --depth 1,2,4 --duration 1400ms";
    let board = measure(&binary, &home, &responder.address, sweep)?;
    drop(responder);
    lesson(&board)?;
    report(&binary, args, &board)?;

    say("2. A TCP responder on this host")?;
    let device = ["tcp://127.0.0.1:0"];
    type_this(&format!("wiregauge serve {}", device.join(" ")))?;
    let responder = Responder::start(&binary, &device)?;
    let sweep = "--out 16 --in 48,1000,8000 --depth 1,4,16 --count 10000";
    let host = measure(&binary, &home, &responder.address, sweep)?;
    drop(responder);
    report(&binary, args, &host)?;

    tell!(
        "\nBoth runs are stored in {} with every sample.",
        home.display()
    );
    say("Next, for a device of your own")?;
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

fn measure(binary: &Path, home: &Path, address: &str, sweep: &str) -> anyhow::Result<Run> {
    let dir: PathBuf = wiregauge_run::new_run_dir(home, address);
    type_this(&format!("wiregauge exchange {address} {sweep}"))?;
    tell!("");
    let status = Command::new(binary)
        .args(["exchange", address])
        .args(sweep.split(' '))
        .arg("--store")
        .arg(&dir)
        .status()
        .context("starting the measurement")?;
    if !status.success() {
        bail!("the measurement failed ({status})");
    }
    Ok(Run::open(&dir)?)
}

/// Writes the page of a run; the command names it.
fn report(binary: &Path, args: &DemoArgs, run: &Run) -> anyhow::Result<()> {
    tell!("");
    match args.store {
        None => type_this("wiregauge report last")?,
        Some(_) => type_this(&format!("wiregauge report {}", run.dir.display()))?,
    }
    let status = Command::new(binary)
        .arg("report")
        .arg(&run.dir)
        .status()
        .context("starting the report")?;
    if !status.success() {
        bail!("the report failed ({status})");
    }
    Ok(())
}

/// Says what the table shows, from the figures in it.
fn lesson(run: &Run) -> std::io::Result<()> {
    let trt = |in_bytes: u32, depth: u32| {
        let mut points = run.file.points.iter();
        let point = points.find(|p| p.point.in_bytes == in_bytes && p.point.depth == depth)?;
        Some((
            point.trt.as_ref()?.mean.value,
            point.limit.as_ref().map_or(0.0, |l| l.used),
        ))
    };
    let (Some(one), Some(two), Some(four), Some(large_one), Some(large_four)) = (
        trt(48, 1),
        trt(48, 2),
        trt(48, 4),
        trt(8000, 1),
        trt(8000, 4),
    ) else {
        return Ok(());
    };
    tell!(
        "\n{HEADING}What it shows:{RESET} with 48 B answers, keeping 2 requests outstanding repeats {:.1} times\n\
         as often, 4 of them {:.1} times. With 8000 B answers the bus is the limit: {:.0} % of it at\n\
         depth 1, {:.0} % at depth 4.",
        one.0 / two.0,
        one.0 / four.0,
        large_one.1 * 100.0,
        large_four.1 * 100.0
    );
    Ok(())
}

fn say(text: &str) -> std::io::Result<()> {
    tell!(
        "
{HEADING}{text}{RESET}"
    );
    Ok(())
}

fn type_this(command: &str) -> std::io::Result<()> {
    tell!("  {TYPE}$ {command}{RESET}");
    Ok(())
}
