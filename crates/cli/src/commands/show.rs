//! `wiregauge show`: a stored run as it was printed when it was measured.

use super::printed;
use crate::Outcome;
use crate::args::ShowArgs;

/// Runs the command.
pub fn run(args: &ShowArgs) -> anyhow::Result<Outcome> {
    let run = wiregauge_run::find(&wiregauge_run::runs_home(), &args.run)?;
    printed::print(&run.file, args.look)?;
    if !args.look.json && !args.look.quiet {
        anstream::println!("\nstored in {}", run.dir.display());
        anstream::println!("measured with: {}", run.file.conditions.command.join(" "));
    }
    Ok(Outcome::Done)
}
