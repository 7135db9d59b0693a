//! What `exchange` and `stream` share: a place for the run, the engine on every link, the result
//! printed and kept.

use super::printed;
use super::recorder::{LinkRecorder, Recorder};
use super::unmet::{self, Judged, Stated, Unmet};
use crate::Outcome;
use crate::args::{KeepArgs, Look, Undecided};
use crate::caller::{Session, remark};
use crate::failure::{StorageFailed, unless_nobody_reads};
use crate::output::files;
use crate::output::progress::{Extent, Progress};
use crate::output::style::{CAUTION, RESET};
use anyhow::Context;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use wiregauge_link::LinkErrorKind;
use wiregauge_measure::multi_link::{self, Divisible, Turn};
use wiregauge_measure::sink::RunError;
use wiregauge_report::Reported;
use wiregauge_run::{Files, Run, RunFile, State};

/// A measurement that is ready to run.
pub struct Measurement<'a, K: Files> {
    /// What is to be measured.
    pub plan: K::Plan,
    /// How many points.
    pub points: usize,
    /// How long each of them is.
    pub extent: Extent,
    /// Where the run is kept.
    pub keep: &'a KeepArgs,
    /// The CSV file asked for.
    pub csv: Option<&'a Path>,
    /// How the result is printed.
    pub look: Look,
}

impl<K: Reported> Measurement<'_, K>
where
    K::Plan: Divisible + Send + Sync,
    K::Summary: Send,
{
    /// Runs `engine` over every link, prints and keeps what it yields. `judged` judges the stated limits.
    pub fn run(
        self,
        session: &Session<'_>,
        engine: impl Fn(&K::Plan, &AtomicBool, &mut LinkRecorder<'_, K>) -> Result<bool, RunError>
        + Sync,
        judged: impl Fn(&RunFile<K>) -> Vec<Judged>,
        undecided: Undecided,
    ) -> anyhow::Result<Outcome> {
        let (keep, look, plan) = (self.keep, self.look, &self.plan);
        let links = 1 + K::more_links(plan);
        let with_data = K::keeps_data(plan);
        // A file that cannot be written is better known before the run than after it.
        let csv = match self.csv {
            Some(path) => Some(files::create(path, keep.force.force)?),
            None => None,
        };
        // Not stored means: in a directory that is gone afterwards.
        let mut passing = match keep.no_store {
            true => Some(tempfile::tempdir().context("cannot create a directory")?),
            false => None,
        };
        let dir: PathBuf = match (&passing, &keep.store) {
            (Some(passing), _) => passing.path().join("run"),
            (None, Some(dir)) => dir.clone(),
            (None, None) => {
                wiregauge_run::new_run_dir(&wiregauge_run::runs_home(), K::address(plan))
            }
        };
        let stop = session.caller.stop()?;
        let meter = session.caller.meter(look.quiet || look.json);
        let progress = Progress::new(self.points, self.extent, meter);
        let (command, note) = (session.command(), keep.note.clone());
        let recorder = Recorder::<K>::new(&dir, plan, links, command, note, progress);
        let recorder = recorder.map_err(StorageFailed)?;
        let mut recorder = recorder.stopping(stop.clone(), keep.keep_going);
        session.caller.begun(&dir);
        // A pipe may be read slowly or not at all, which must not hold up what is measured.
        let is_file = |csv: &File| csv.metadata().is_ok_and(|metadata| metadata.is_file());
        let (file, pipe) = match csv {
            Some(csv) if is_file(&csv) => (Some(csv), None),
            pipe => (None, pipe),
        };
        if let Some(file) = file {
            let with_csv = recorder.with_csv(file, with_data);
            recorder = with_csv.map_err(StorageFailed)?;
        }
        let result = multi_link::run(links, &stop, |turn: Turn<'_>| {
            engine(&plan.part(&turn), &stop, &mut recorder.link(turn))
        });
        let (file, mut finished) = recorder.finish(state_of(&result), session.caller.ended_by());
        // As every later view shows it: a point that was cut short has a summary of its rows.
        let run = Run::<K>::open(&dir).unwrap_or_else(|_| Run::new(dir.clone(), file));
        let mut printed = Ok(());
        // An unfinished run decides none.
        let judged = match result {
            Ok(true) => judged(&run.file),
            _ => Vec::new(),
        };
        if !matches!(result, Ok(true)) && run.file.points.iter().all(K::is_empty) {
            // Nothing was measured: an empty run among the stored ones would only be in the way.
            remove(&dir);
            if let Some(path) = self.csv.filter(|path| path.is_file()) {
                let _ = std::fs::remove_file(path);
            }
            if matches!(state_of(&result), State::Interrupted) && !look.quiet {
                remark!(
                    session,
                    "{CAUTION}note:{RESET} interrupted before the first sample: there is no result, and nothing is stored"
                );
            }
        } else {
            let stored = passing.is_none();
            session.caller.measured(&dir, &mut passing);
            let look = Look {
                error_follows: result.is_err(),
                ..look
            };
            // Whatever becomes of the output, the run is ended in order.
            printed =
                unless_nobody_reads(printed::run(&run, unmet::verdict(&judged), look, session));
            if let Some(pipe) = pipe {
                finished = finished.and(write_csv::<K>(&dir, pipe, with_data));
            }
            if stored && !look.quiet && !look.json {
                // A reader that has seen enough (`| head`) is no failure.
                let _ = writeln!(session.caller.words(), "\nstored in {}", dir.display());
            }
        }
        match result {
            Err(RunError::Link(error)) if error.kind() == LinkErrorKind::Interrupted => {
                return Ok(Outcome::Interrupted);
            }
            Err(RunError::Link(error)) => return Err(error.into()),
            Err(RunError::Sink(error)) => return Err(StorageFailed(error).into()),
            Ok(_) => finished.map_err(StorageFailed)?,
        }
        if result.is_ok_and(|complete| !complete) {
            return Ok(Outcome::Interrupted);
        }
        printed?;
        let unmet: Vec<Unmet> = judged.into_iter().flat_map(|one| one.unmet).collect();
        Ok(unmet::outcome(Stated::Limit, &unmet, undecided, session))
    }
}

/// How a run ended, as its directory says.
pub fn state_of(result: &Result<bool, RunError>) -> State {
    let error = match result {
        Ok(true) => return State::Complete,
        Ok(false) => return State::Interrupted,
        // Before there was anything to measure.
        Err(RunError::Link(error)) if error.kind() == LinkErrorKind::Interrupted => {
            return State::Interrupted;
        }
        Err(RunError::Link(error)) => error.to_string(),
        Err(RunError::Sink(error)) => error.to_string(),
    };
    State::Failed { error }
}

fn write_csv<K: Files>(dir: &Path, file: File, with_data: bool) -> std::io::Result<()> {
    let mut out = BufWriter::new(file);
    wiregauge_run::write_csv(&Run::<K>::open(dir)?, &mut out, with_data)?;
    out.flush()
}

/// Removes what a run wrote into a directory that was empty before.
pub fn remove(dir: &Path) {
    for file in ["run.json", "run.lock"] {
        let _ = std::fs::remove_file(dir.join(file));
    }
    let _ = std::fs::remove_dir_all(dir.join("samples"));
    let _ = std::fs::remove_dir(dir);
}
