//! How runs ended that are looked at: the first line of every command that reads runs.

use crate::caller::Session;
use crate::output::style::{CAUTION, RESET};
use std::io::{self, Write};
use wiregauge_run::Stored;

/// Prints a line for each run that was not measured and stored to its end; `beside` the output if that is for machines.
pub fn print<'a>(
    runs: impl IntoIterator<Item = &'a dyn Stored>,
    beside: bool,
    session: &Session<'_>,
) -> io::Result<()> {
    let runs: Vec<&dyn Stored> = runs.into_iter().collect();
    for run in &runs {
        let Some(line) = run.ending_line() else {
            continue;
        };
        let name = match runs.len() {
            1 => String::new(),
            _ => format!("{}: ", run.name()),
        };
        let mut out = match beside {
            true => session.caller.remarks(),
            false => session.caller.words(),
        };
        writeln!(out, "{CAUTION}{name}{line}{RESET}")?;
    }
    Ok(())
}
