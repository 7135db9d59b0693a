//! `wiregauge show`: a stored run as it was printed when it was measured.

use super::printed;
use crate::Outcome;
use crate::args::ShowArgs;
use std::io::Write;

/// Runs the command.
pub fn run(args: &ShowArgs) -> anyhow::Result<Outcome> {
    let run = wiregauge_run::find(&wiregauge_run::runs_home(), &args.run)?;
    printed::print(&run.file, args.look)?;
    if !args.look.json && !args.look.quiet {
        let mut out = anstream::stdout();
        writeln!(out, "\nstored in {}", run.dir.display())?;
        writeln!(
            out,
            "measured with: {}",
            run.file.conditions.command.join(" ")
        )?;
    }
    Ok(Outcome::Done)
}
