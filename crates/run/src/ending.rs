//! How a run ended, in one sentence that every view shows alike.

use crate::error::RunError;
use crate::kind::RunKind;
use crate::platform::{self, Lock};
use crate::run_file::{RunFile, State, Text};
use crate::run_writer::LOCK_NAME;
use crate::unfinished;
use std::path::Path;
use wiregauge_record::grouped;

/// Whether the program that writes a run still does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// It is being written.
    Running,
    /// Its writer stored how it ended.
    Ended,
    /// Its writer was ended before it could store that.
    Killed,
    /// It is being written, or its writer was killed: the directory has no lock to tell, as in runs of format 1.
    Unknown,
}

/// What is known of a run beside its `run.json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Whether its writer lives.
    pub life: Life,
    /// Points of the plan that were measured to their end.
    pub finished: usize,
    /// Rows that are stored, of all points.
    pub rows: u64,
}

/// How much of a run is read at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Summaries of points without one are computed from their rows.
    Whole,
    /// Rows are counted only.
    Brief,
}

impl Progress {
    /// Of a run that is not on a disk.
    pub(crate) fn of_file<K: RunKind>(file: &RunFile<K>) -> Progress {
        let is_finished = |s: &K::Summary| K::is_complete(s) && K::is_planned(&file.plan, s);
        Progress {
            life: match file.state {
                State::Running => Life::Unknown,
                _ => Life::Ended,
            },
            finished: file.points.iter().filter(|s| is_finished(s)).count(),
            rows: file.rows(),
        }
    }
}

/// Understands a `run.json`, and looks at what the directory has beside it.
pub(crate) fn load<K: RunKind>(
    dir: &Path,
    text: Text,
    depth: Depth,
) -> Result<(RunFile<K>, Progress), RunError> {
    let mut file = RunFile::<K>::parse(text)?;
    let mut life = Life::Ended;
    if file.state == State::Running {
        life = match platform::lock_of(&dir.join(LOCK_NAME)) {
            Lock::Held => Life::Running,
            lock => {
                // The writer stores the end before it gives the lock back: it may have done both by now.
                file = RunFile::parse(Text::read(dir)?)?;
                match (&file.state, lock) {
                    (State::Running, Lock::Free) => Life::Killed,
                    (State::Running, _) => Life::Unknown,
                    _ => Life::Ended,
                }
            }
        };
    }
    let finished = Progress::of_file(&file).finished;
    match depth {
        Depth::Whole => unfinished::add(dir, &mut file),
        Depth::Brief => unfinished::count(dir, &mut file),
    }
    let rows = file.rows();
    let progress = Progress {
        life,
        finished,
        rows,
    };
    Ok((file, progress))
}

/// The state in a word for a table.
pub(crate) fn state_word(state: &State, life: Life) -> &'static str {
    match (state, life) {
        (State::Running, Life::Running) => "running",
        (State::Running, Life::Killed) => "killed",
        (state, _) => state.describe(),
    }
}

/// How the run ended; `None` if it was measured and stored to its end.
pub(crate) fn line<K: RunKind>(file: &RunFile<K>, progress: &Progress) -> Option<String> {
    if let Some(line) = loss_line(file) {
        return Some(line);
    }
    let counted = format!("{} {}", grouped(progress.rows), K::ROWS);
    let points = format!(
        "{} of {} points complete",
        progress.finished,
        K::planned(&file.plan).max(progress.finished)
    );
    let words = match (&file.state, progress.life) {
        (State::Complete, _) => return None,
        (State::Running, Life::Running) => {
            return Some(format!("still running: {counted} so far, {points}"));
        }
        (State::Running, Life::Killed) => "was killed (SIGKILL, a crash or a power cut)".to_owned(),
        (State::Running, _) => "is running or was killed".to_owned(),
        (State::Interrupted, _) => match &file.ended_by {
            Some(signal) => format!("ended by {signal}"),
            None => "interrupted".to_owned(),
        },
        (State::Failed { error }, _) => {
            return Some(format!("failed after {counted}, {points}: {error}"));
        }
    };
    Some(format!("{words} after {counted}, {points}"))
}

/// How many rows were stored; `None` if all were.
fn loss_line<K: RunKind>(file: &RunFile<K>) -> Option<String> {
    let sum = |sum: u64, rows: u64| sum.saturating_add(rows);
    let stored = file.stored.iter().map(|point| point.rows).fold(0, sum);
    let taken = file.stored.iter().map(|point| point.taken).fold(0, sum);
    if stored >= taken {
        return None;
    }
    let words = file.storage_error.as_deref().unwrap_or("the rest is lost");
    Some(format!(
        "stored {} of {} {}: {words}",
        grouped(stored),
        grouped(taken),
        K::ROWS
    ))
}
