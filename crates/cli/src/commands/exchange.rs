//! `wiregauge exchange`: measure, store, print.

use super::recorder::Recorder;
use super::{StorageFailed, plan, printed, stop_flag};
use crate::Outcome;
use crate::args::ExchangeArgs;
use crate::output::progress::Progress;
use crate::output::style::{BAD, RESET};
use anyhow::Context;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use wiregauge::exchange::{self, RunError};
use wiregauge_run::{Exchange, Run, RunFile, State};

/// Runs the command.
pub fn run(args: &ExchangeArgs) -> anyhow::Result<Outcome> {
    let plan = plan::of_exchange(args);
    exchange::check(&plan)?;
    // A file that cannot be written is better known before the run than after it.
    let csv = match &args.csv {
        Some(path) => {
            Some(File::create(path).with_context(|| format!("creating {}", path.display()))?)
        }
        None => None,
    };
    // Not stored means: in a directory that is gone afterwards.
    let passing = if args.no_store {
        Some(tempfile::tempdir().context("making a directory")?)
    } else {
        None
    };
    let dir = match (&passing, &args.store) {
        (Some(passing), _) => passing.path().join("run"),
        (None, Some(dir)) => dir.clone(),
        (None, None) => wiregauge_run::new_run_dir(&wiregauge_run::runs_home(), &plan.address),
    };
    let stop = stop_flag()?;
    let progress = Progress::new(&plan, args.look.quiet || args.look.json);
    let mut recorder = Recorder::new(&dir, &plan, progress).map_err(StorageFailed)?;
    let result = exchange::run(&plan, &stop, &mut recorder);
    let state = match &result {
        Ok(true) => State::Complete,
        Ok(false) => State::Interrupted,
        Err(RunError::Link(error)) => State::Failed {
            error: error.to_string(),
        },
        Err(RunError::Sink(error)) => State::Failed {
            error: error.to_string(),
        },
    };
    let finished = recorder.finish(state);
    if result.is_err() && is_empty(recorder.file()) {
        // Nothing was measured: an empty run among the stored ones would only be in the way.
        remove(recorder.dir());
        args.csv
            .iter()
            .for_each(|path| drop(std::fs::remove_file(path)));
    } else {
        printed::print(recorder.file(), args.look)?;
        if let Some(file) = csv {
            write_csv(&dir, file, args.keep_data).map_err(StorageFailed)?;
        }
        if passing.is_none() && !args.look.quiet && !args.look.json {
            // A reader that has seen enough (`| head`) is no failure.
            let _ = writeln!(
                anstream::stdout(),
                "\nstored in {}",
                recorder.dir().display()
            );
        }
    }
    match result {
        Err(RunError::Link(error)) => return Err(error.into()),
        Err(RunError::Sink(error)) => return Err(StorageFailed(error).into()),
        Ok(_) => finished.map_err(StorageFailed)?,
    }
    if result.is_ok_and(|complete| !complete) {
        return Ok(Outcome::Interrupted);
    }
    Ok(missed(args, &recorder))
}

fn write_csv(dir: &Path, file: File, with_data: bool) -> std::io::Result<()> {
    let mut out = BufWriter::new(file);
    wiregauge_run::write_csv(&Run::<Exchange>::open(dir)?, &mut out, with_data)?;
    out.flush()
}

/// True if no exchange was answered and none was measured.
fn is_empty(file: &RunFile) -> bool {
    file.points
        .iter()
        .all(|point| point.counts.exchanges == 0 && point.first_rtt_ns.is_none())
}

/// Removes what a run wrote into a directory that was empty before.
fn remove(dir: &Path) {
    let _ = std::fs::remove_file(dir.join("run.json"));
    let _ = std::fs::remove_dir_all(dir.join("samples"));
    let _ = std::fs::remove_dir(dir);
}

fn missed(args: &ExchangeArgs, recorder: &Recorder) -> Outcome {
    let mut outcome = Outcome::Done;
    for requirement in &args.require {
        let broken: Vec<String> = recorder
            .file()
            .points
            .iter()
            .filter(|point| !requirement.is_kept_by(point))
            .map(|point| (point.point.index + 1).to_string())
            .collect();
        if !broken.is_empty() {
            let rows = broken.join(", ");
            anstream::eprintln!("{BAD}missed:{RESET} {} in row {rows}", requirement.text);
            outcome = Outcome::Missed;
        }
    }
    outcome
}
