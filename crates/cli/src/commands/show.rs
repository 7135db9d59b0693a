//! `wiregauge show`: a stored run as it was printed when it was measured, or for a paper, an issue or
//! a program.

use super::{ending, printed};
use crate::Outcome;
use crate::args::{Look, ShowArgs, ShowFormat};
use crate::caller::Session;
use anyhow::bail;
use std::io::Write;
use wiregauge_report::tables;
use wiregauge_run::{AnyRun, with_run};

/// Runs the command.
pub fn run(args: &ShowArgs, session: &Session<'_>) -> anyhow::Result<Outcome> {
    let format = match (args.format, args.look.json) {
        (None, false) => ShowFormat::Text,
        (None | Some(ShowFormat::Json), true) => ShowFormat::Json,
        (Some(format), false) => format,
        (Some(_), true) => bail!("--json means --format json: use only one of them"),
    };
    let run = wiregauge_run::find(&wiregauge_run::runs_home(), &args.run)?;
    let tell = || tables::of(&run, args.look.confidence);
    let text = match format {
        ShowFormat::Text | ShowFormat::Json => {
            let json = format == ShowFormat::Json;
            print(&run, Look { json, ..args.look }, session)?;
            return Ok(Outcome::Done);
        }
        ShowFormat::Md => tables::markdown(run.stored(), &tell()),
        ShowFormat::Latex => tables::latex(run.stored(), &tell()),
        ShowFormat::Csv => {
            ending::print([run.stored()], true, session)?;
            tables::csv(&run)
        }
    };
    let mut out = session.caller.bytes();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(Outcome::Done)
}

fn print(run: &AnyRun, look: Look, session: &Session<'_>) -> anyhow::Result<()> {
    with_run!(run, run => printed::run(run, None, look, session))?;
    if !look.json && !look.quiet {
        let mut out = session.caller.words();
        writeln!(out, "\nstored in {}", run.stored().dir().display())?;
        let command = tables::command(run.stored().conditions());
        writeln!(out, "measured with: {command}")?;
    }
    Ok(())
}
