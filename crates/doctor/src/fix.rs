//! Settings are changed here and put back: what stood there is on disk before the first of them is touched.

use crate::settings::Settings;
use crate::undo_file::{Noted, UndoFile};
use crate::{Change, FixError};
use serde::Serialize;
use std::io;
use std::path::{Path, PathBuf};

/// What became of one setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "how")]
pub enum Ended {
    /// It was written.
    Written,
    /// It was so already.
    WasSo,
    /// Somebody else changed it meanwhile, so it was left as it is.
    LeftAlone,
    /// It is not there any more: the device was unplugged.
    Gone,
    /// It could not be written.
    Refused {
        /// What the system said.
        why: String,
    },
}

/// A setting, before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Which setting, as in [`Change`].
    pub path: PathBuf,
    /// What stood there before; nothing where it could not be read.
    pub before: Option<String>,
    /// What was to stand there.
    pub wanted: String,
    /// What became of it.
    #[serde(flatten)]
    pub ended: Ended,
}

impl Step {
    /// True if what was wanted could not be had.
    pub fn failed(&self) -> bool {
        matches!(self.ended, Ended::Refused { .. })
    }
}

/// What an undo did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "how")]
pub enum Undone {
    /// There is no undo file.
    Nothing,
    /// The settings were changed before the computer was started the last time, which put them back.
    ByRestart,
    /// These were put back, the last one first.
    Steps {
        /// Each of them.
        steps: Vec<Step>,
    },
}

/// Makes the changes. First of all they are noted in the undo file, so that a crash in the middle
/// can be undone; those that could not be made are taken out of it afterwards.
pub fn fix(
    settings: &dyn Settings,
    changes: &[Change],
    file: &Path,
) -> Result<Vec<Step>, FixError> {
    if changes.is_empty() {
        return Ok(Vec::new());
    }
    let mut undo = UndoFile::open_or_new(file, &settings.start())?;
    undo.note(changes);
    undo.write()?;
    let mut steps = Vec::new();
    for change in changes {
        let step = change_to(settings, &change.path, &change.from, &change.to);
        if !matches!(step.ended, Ended::Written) {
            undo.forget(change);
        }
        steps.push(step);
    }
    undo.write()?;
    Ok(steps)
}

/// Puts back what the undo file names, the last change first, and removes it. What cannot be put back stays in it.
pub fn undo(settings: &dyn Settings, file: &Path) -> Result<Undone, FixError> {
    let Some(mut undo) = UndoFile::open(file)? else {
        return Ok(Undone::Nothing);
    };
    if undo.is_of_another_start(&settings.start()) {
        undo.clear();
        undo.write()?;
        return Ok(Undone::ByRestart);
    }
    let mut steps = Vec::new();
    let noted: Vec<Noted> = undo.noted().iter().rev().cloned().collect();
    let mut left = Vec::new();
    for one in noted {
        let step = change_to(settings, &one.path, &one.to, &one.from);
        if step.failed() {
            left.push(one);
        }
        steps.push(step);
    }
    left.reverse();
    undo.keep(left);
    undo.write()?;
    Ok(Undone::Steps { steps })
}

/// Writes a setting if it is what it is taken for.
fn change_to(settings: &dyn Settings, path: &Path, from: &str, to: &str) -> Step {
    let (before, ended) = match settings.read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => (None, Ended::Gone),
        Err(error) => (None, refused(&error)),
        Ok(before) => {
            let ended = if before == to {
                Ended::WasSo
            } else if before != from {
                Ended::LeftAlone
            } else {
                match write(settings, path, &before, to) {
                    Ok(()) => Ended::Written,
                    Err(error) => refused(&error),
                }
            };
            (Some(before), ended)
        }
    };
    Step {
        path: path.to_owned(),
        before,
        wanted: to.to_owned(),
        ended,
    }
}

fn refused(error: &io::Error) -> Ended {
    Ended::Refused {
        why: error.to_string(),
    }
}

/// Writes, and reads the value back: the system may not have accepted it.
fn write(settings: &dyn Settings, path: &Path, before: &str, value: &str) -> io::Result<()> {
    settings.write(path, value)?;
    let after = settings.read(path)?;
    if after == value {
        return Ok(());
    }
    if after != before {
        settings.write(path, before)?;
    }
    Err(io::Error::other(format!(
        "the system changed {value:?} to {after:?}"
    )))
}
