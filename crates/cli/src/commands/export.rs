//! `wiregauge export`: a stored run for other programs.

use super::ending;
use crate::Outcome;
use crate::args::ExportArgs;
use crate::caller::Session;
use crate::output::files::{self, Output};
use anyhow::bail;
use std::io::{BufWriter, IntoInnerError, Write};
use std::path::Path;
use wiregauge_run::{AnyRun, Exchange, Run};

/// Runs the command.
pub fn run(args: &ExportArgs, session: &Session<'_>) -> anyhow::Result<Outcome> {
    let run = wiregauge_run::find(&wiregauge_run::runs_home(), &args.run)?;
    ending::print([run.stored()], true, session)?;
    let run = match args.recompute {
        true => recomputed(&run)?,
        false => run,
    };
    let run = run.stored();
    let force = args.force.force;
    if let Some(path) = &args.csv {
        written(path, force, session, |out| {
            // The kind is kept, so that `| head` is known as such.
            run.write_csv(out, args.data)
                .map(drop)
                .map_err(std::io::Error::from)
        })?;
    }
    if let Some(path) = &args.json {
        written(path, force, session, |out| {
            run.write_json(out).map_err(std::io::Error::from)
        })?;
    }
    if let Some(path) = &args.parquet {
        files::check(path, force)?;
        run.write_parquet(path)?;
        session.caller.wrote(path);
    }
    Ok(Outcome::Done)
}

/// Writes a file, or standard output.
fn written(
    path: &Path,
    force: bool,
    session: &Session<'_>,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> anyhow::Result<()> {
    let mut out = BufWriter::new(Output::create(path, force, session.caller)?);
    write(&mut out)?;
    let out = out.into_inner().map_err(IntoInnerError::into_error)?;
    out.finish()?;
    if !files::is_stdout(path) {
        session.caller.wrote(path);
    }
    Ok(())
}

fn recomputed(run: &AnyRun) -> anyhow::Result<AnyRun> {
    let Some(exchanges) = run.as_kind::<Exchange>() else {
        bail!(
            "cannot recompute {}: its samples do not contain all that its figures are computed from, as it is a \
             {} run; only exchange runs can be recomputed",
            run.stored().name(),
            run.stored().kind()
        );
    };
    let file = wiregauge_run::recompute(exchanges)?;
    Ok(AnyRun::from(Run {
        file,
        ..exchanges.clone()
    }))
}
