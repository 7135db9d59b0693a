//! The commands of wiregauge, for whoever calls them: the `wiregauge` binary, the program that the
//! Python package brings, and its functions. They share every flag, default, check and word; what
//! differs is a [`Caller`]. No measuring here.

mod args;
mod asked;
mod called;
mod caller;
mod commands;
mod constraint;
mod control_limit;
mod deadline_limit;
mod declared;
mod fail_if;
mod failure;
mod limit_value;
mod loop_model;
#[cfg(test)]
mod made_up;
mod outcome;
mod output;
mod parent;
mod platform;
mod point_filter;
mod query_values;
#[cfg(feature = "loop")]
mod stage_list;
mod terminal;
mod values;

pub use called::{Called, Left, Share};
pub use caller::{Caller, Session};
pub use declared::declared;
pub use failure::{Failure, FailureKind};
pub use outcome::Outcome;
pub use platform::own_program;

use clap::Parser;
use std::ffi::OsString;
use std::io::Write;
use wiregauge_program::failure::{print, print_parsing};

/// The program `wiregauge`: reads the command line, whose first word is its own name, runs the
/// command on this terminal, and gives the exit code. `program` starts it once more.
pub fn main(mut words: Vec<OsString>, program: Vec<OsString>) -> u8 {
    output::style::plain_if_asked(&mut words);
    if let Err(error) = parent::watch_if_asked(&mut words) {
        return code(Err(error.into()));
    }
    // No command of the user's: neither help nor completions have it.
    #[cfg(feature = "loop")]
    if let Some(served) =
        wiregauge_loop::be_device_if_asked_with(words.get(1..).unwrap_or_default())
    {
        return code(served.map(|()| Outcome::Done).map_err(Into::into));
    }
    let terminal = terminal::Terminal::new(program);
    let session = Session::new(&terminal, &words);
    if let Some(topic) = commands::warning_help::topic(&words) {
        return code(commands::warning_help::run(topic, &session));
    }
    let arguments = match args::Arguments::try_parse_from(&words) {
        Ok(arguments) => arguments,
        Err(error) => return print_parsing(&error),
    };
    let ended = commands::run(arguments, &session);
    // What calls this may end the process in its own way, which need not look after our buffers.
    let flushed = std::io::stdout().flush();
    code(match ended {
        Ok(outcome @ (Outcome::Done | Outcome::Missed)) => {
            failure::unless_nobody_reads(flushed.map_err(Into::into)).map(|()| outcome)
        }
        ended => ended,
    })
}

fn code(ended: anyhow::Result<Outcome>) -> u8 {
    match ended {
        Ok(Outcome::Done) => 0,
        Ok(Outcome::Missed) => 1,
        Ok(Outcome::Interrupted) => 130,
        Err(error) => print(&error, failure::kind_of(&error)),
    }
}

/// A command as a function: its words without the program's name, what it says to `caller`.
pub fn call(words: &[OsString], caller: &dyn Caller) -> Result<Outcome, Failure> {
    let words: Vec<OsString> = std::iter::once(OsString::from("wiregauge"))
        .chain(words.iter().cloned())
        .collect();
    let arguments = args::Arguments::try_parse_from(&words).map_err(|e| Failure::of_words(&e))?;
    commands::run(arguments, &Session::new(caller, &words)).map_err(|e| Failure::of_command(&e))
}
