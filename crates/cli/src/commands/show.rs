//! `wiregauge show`: a stored run as it was printed when it was measured.

use super::printed;
use crate::Outcome;
use crate::args::ShowArgs;
use std::io::Write;
use wiregauge_report::told;
use wiregauge_run::AnyRun;

/// Runs the command.
pub fn run(args: &ShowArgs) -> anyhow::Result<Outcome> {
    let run = wiregauge_run::find(&wiregauge_run::runs_home(), &args.run)?;
    match &run {
        AnyRun::Exchange(run) => printed::exchange(&run.file, args.look)?,
        AnyRun::Stream(run) => printed::stream(&run.file, args.look)?,
        AnyRun::Loop(run) => printed::closed_loop(&run.file, args.look)?,
    }
    if !args.look.json && !args.look.quiet {
        let mut out = anstream::stdout();
        writeln!(out, "\nstored in {}", run.stored().dir().display())?;
        let command = told::command(run.stored().conditions());
        writeln!(out, "measured with: {command}")?;
    }
    Ok(Outcome::Done)
}
