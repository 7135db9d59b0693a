//! `wiregauge export`: a stored run for other programs.

use crate::Outcome;
use crate::args::ExportArgs;
use crate::caller::Session;
use crate::failure::StorageFailed;
use anyhow::{Context, bail};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use wiregauge_run::{AnyRun, Run};

/// Runs the command.
pub fn run(args: &ExportArgs, session: &Session<'_>) -> anyhow::Result<Outcome> {
    let run = wiregauge_run::find(&wiregauge_run::runs_home(), &args.run)?;
    let run = match args.recompute {
        true => recomputed(run)?,
        false => run,
    };
    let run = run.stored();
    if let Some(path) = &args.csv {
        let mut out = open(path, session)?;
        // The kind is kept, so that `| head` is known as such.
        run.write_csv(&mut out, args.data)
            .map_err(std::io::Error::from)?;
        out.flush()?;
    }
    if let Some(path) = &args.json {
        let mut out = open(path, session)?;
        run.write_json(&mut out).map_err(std::io::Error::from)?;
        out.flush()?;
    }
    if let Some(path) = &args.parquet {
        run.write_parquet(path)?;
        session.caller.wrote(path);
    }
    Ok(Outcome::Done)
}

fn recomputed(run: AnyRun) -> anyhow::Result<AnyRun> {
    match run {
        AnyRun::Exchange(run) => {
            let file = wiregauge_run::recompute(&run)?;
            Ok(AnyRun::Exchange(Run { file, ..run }))
        }
        other => bail!(
            "cannot recompute {}: its samples do not contain all that its figures are computed from, as it is a \
             {} run; only exchange runs can be recomputed",
            other.stored().name(),
            other.stored().kind()
        ),
    }
}

fn open<'a>(path: &Path, session: &'a Session<'_>) -> anyhow::Result<Box<dyn Write + 'a>> {
    if path == Path::new("-") {
        return Ok(Box::new(BufWriter::new(session.caller.bytes())));
    }
    let file = File::create(path)
        .map_err(StorageFailed)
        .with_context(|| format!("cannot create {}", path.display()))?;
    session.caller.wrote(path);
    Ok(Box::new(BufWriter::new(file)))
}
