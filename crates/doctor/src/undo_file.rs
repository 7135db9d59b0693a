//! The undo file: which settings were changed, and what they were before.

use crate::platform;
use crate::{Change, FixError};
use serde::{Deserialize, Serialize};
use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

const SCHEMA: u32 = 1;

/// Nobody has so many settings.
const MOST_BYTES: u64 = 4 << 20;

/// A setting that was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    /// Which setting, as in [`Change`].
    pub path: PathBuf,
    /// What stood there at first.
    pub from: String,
    /// What was written.
    pub to: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Content {
    schema: u32,
    /// The kernel's id of this start of the computer, if the next start undoes all changes; else empty.
    boot: String,
    changes: Vec<Noted>,
}

/// The file, and what is in it or will be.
pub struct UndoFile {
    path: PathBuf,
    content: Content,
}

/// Where it lies if nobody says otherwise: `$XDG_STATE_HOME/wiregauge/undo.json`, else
/// `~/.local/state/wiregauge/undo.json`; on Windows `%LOCALAPPDATA%\wiregauge\undo.json`. `None` where there is no home.
pub fn undo_place() -> Option<PathBuf> {
    place_from(|name| env::var_os(name))
}

fn place_from(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let state = platform::state_home(&variable)?;
    Some(state.join("wiregauge").join("undo.json"))
}

impl UndoFile {
    /// One that is there; `None` if there is none.
    pub fn open(path: &Path) -> Result<Option<UndoFile>, FixError> {
        let failed = |error: io::Error| FixError::Read {
            path: path.to_owned(),
            error,
        };
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(failed)?,
        };
        // Who may write this file may have anything written to a setting by whoever undoes.
        if let Some(owner) = platform::foreign_owner(&file).map_err(failed)? {
            return Err(FixError::Foreign {
                path: path.to_owned(),
                owner,
            });
        }
        let mut text = String::new();
        file.take(MOST_BYTES)
            .read_to_string(&mut text)
            .map_err(failed)?;
        let content: Content = serde_json::from_str(&text).map_err(|error| failed(error.into()))?;
        if content.schema != SCHEMA {
            let said = format!(
                "it has format {}, from another version of wiregauge",
                content.schema
            );
            return Err(failed(io::Error::other(said)));
        }
        Ok(Some(UndoFile {
            path: path.to_owned(),
            content,
        }))
    }

    /// The one that is there, unless it is of an earlier start of the computer; else an empty one.
    pub fn open_or_new(path: &Path, start: &str) -> Result<UndoFile, FixError> {
        let found = UndoFile::open(path)?.filter(|found| !found.is_of_another_start(start));
        Ok(found.unwrap_or_else(|| UndoFile {
            path: path.to_owned(),
            content: Content {
                schema: SCHEMA,
                boot: start.to_owned(),
                changes: Vec::new(),
            },
        }))
    }

    /// True if the computer was started again since.
    pub fn is_of_another_start(&self, start: &str) -> bool {
        self.content.boot != start
    }

    /// What is in it, in the order in which it was changed.
    pub fn noted(&self) -> &[Noted] {
        &self.content.changes
    }

    /// Adds changes. Of a setting that was changed before, what stood there at first stays.
    pub fn note(&mut self, changes: &[Change]) {
        for change in changes {
            let mut known = self.content.changes.iter_mut();
            match known.find(|noted| noted.path == change.path) {
                // What we wrote last time still stands, so it is ours to put back.
                Some(noted) if noted.to == change.from => noted.to.clone_from(&change.to),
                Some(noted) => {
                    noted.from.clone_from(&change.from);
                    noted.to.clone_from(&change.to);
                }
                None => self.content.changes.push(Noted {
                    path: change.path.clone(),
                    from: change.from.clone(),
                    to: change.to.clone(),
                }),
            }
        }
    }

    /// Takes out a change that was noted and could not be made.
    pub fn forget(&mut self, change: &Change) {
        let changes = &mut self.content.changes;
        if let Some(at) = changes.iter().position(|noted| noted.path == change.path) {
            match changes[at].from == change.from {
                true => {
                    changes.remove(at);
                }
                // What was written an earlier time stands still.
                false => changes[at].to.clone_from(&change.from),
            }
        }
    }

    /// Takes out all.
    pub fn clear(&mut self) {
        self.content.changes.clear();
    }

    /// Keeps only these.
    pub fn keep(&mut self, noted: Vec<Noted>) {
        self.content.changes = noted;
    }

    /// Writes it to disk, whole or not at all; without changes there is no file.
    pub fn write(&self) -> Result<(), FixError> {
        let failed = |error: io::Error| FixError::Write {
            path: self.path.clone(),
            error,
        };
        if self.content.changes.is_empty() {
            return match fs::remove_file(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
                _ => Ok(()),
            };
        }
        let dir = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(dir).map_err(failed)?;
        let mut file = tempfile::NamedTempFile::new_in(dir).map_err(failed)?;
        serde_json::to_writer_pretty(&mut file, &self.content)
            .map_err(|error| failed(error.into()))?;
        file.write_all(b"\n").map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&self.path)
            .map_err(|error| failed(error.error))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(variables: &[(&str, &str)]) -> Option<PathBuf> {
        place_from(|name| {
            let found = variables.iter().find(|(n, _)| *n == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_undo_file_lies_where_state_belongs() {
        let both = [("XDG_STATE_HOME", "/s"), ("HOME", "/h")];
        assert_eq!(place(&both), Some("/s/wiregauge/undo.json".into()));
        let home = Some(PathBuf::from("/h/.local/state/wiregauge/undo.json"));
        assert_eq!(place(&both[1..]), home);
        assert_eq!(place(&[("XDG_STATE_HOME", "odd"), ("HOME", "/h")]), home);
        assert_eq!(place(&[]), None);
    }
}
