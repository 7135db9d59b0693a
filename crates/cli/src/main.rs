//! The `wiregauge` binary: reads the command line, calls the engine, prints what it found. One file
//! a command; no measuring here.

mod args;
mod commands;
mod fail_if;
mod output;
mod stage_list;
mod stream_limit;
mod values;

use clap::Parser;
use std::process::ExitCode;
use wiregauge::{LinkError, LinkErrorKind};

/// How a command ended, as the exit code tells it.
pub enum Outcome {
    /// 0: done.
    Done,
    /// 1: measured, but a limit stated with `--require` was missed, or a `--fail-if` met.
    Missed,
    /// 130, as shells number it: the user interrupted it; what was measured is kept.
    Interrupted,
}

const USAGE: u8 = 2;
const FAILED: u8 = 3;

fn main() -> ExitCode {
    // No command of the user's: neither help nor completions have it.
    let served = wiregauge::closed_loop::be_device_if_asked();
    let done = match served {
        Some(served) => served.map(|()| Outcome::Done).map_err(Into::into),
        None => commands::run(args::Arguments::parse()),
    };
    code(done)
}

fn code(done: anyhow::Result<Outcome>) -> ExitCode {
    match done {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Missed) => ExitCode::from(1),
        Ok(Outcome::Interrupted) => ExitCode::from(130),
        Err(error) => {
            // A reader that has seen enough (`| head`) is no failure.
            let broken_pipe = error
                .downcast_ref::<std::io::Error>()
                .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe);
            if broken_pipe {
                return ExitCode::SUCCESS;
            }
            anstream::eprintln!(
                "{}error:{} {error:#}",
                output::style::BAD,
                output::style::RESET
            );
            ExitCode::from(code_of(&error))
        }
    }
}

fn code_of(error: &anyhow::Error) -> u8 {
    if let Some(error) = error.downcast_ref::<LinkError>() {
        return match error.kind() {
            LinkErrorKind::Usage => USAGE,
            _ => FAILED,
        };
    }
    match error.downcast_ref::<commands::StorageFailed>() {
        Some(_) => FAILED,
        None => USAGE,
    }
}
