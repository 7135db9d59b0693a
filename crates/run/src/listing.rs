//! The runs in one place: all of them, or the one that the user means.

use crate::any::{AnyRun, Stored};
use crate::error::RunError;
use crate::run_file::{FILE_NAME, State};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

/// One directory among the runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Name of the directory.
    pub name: String,
    /// The directory.
    pub dir: PathBuf,
    /// When the run started, RFC 3339 in UTC; empty where it cannot be read.
    pub started: String,
    /// Address of the (first) link; empty where it cannot be read.
    pub address: String,
    /// All links in words: `tcp://10.0.0.5:7700 and 2 more`.
    pub links: String,
    /// `complete`, `interrupted`, `failed`, `running`, `killed`, `running or killed`, or `unreadable`.
    pub state: String,
    /// How it ended, in a sentence; `None` if it was measured and stored to its end, or cannot be read.
    pub ending: Option<String>,
    /// Finished points.
    pub points: usize,
    /// What was measured, as `run.json` says it; empty where it cannot be read.
    pub kind: &'static str,
    /// Measured exchanges, transfers or the like of all points; of a run that did not complete, the stored ones, as in
    /// `ending`.
    pub measured: u64,
    /// What `measured` counts, in the plural; empty where it cannot be read.
    pub rows: &'static str,
    /// What the user wrote about it.
    pub note: Option<String>,
    /// Why it cannot be read, or why the run failed.
    pub problem: Option<String>,
}

impl Listing {
    fn read(name: String, dir: PathBuf) -> Listing {
        match AnyRun::open_brief(&dir) {
            Ok(run) => Listing::new(name, dir, run.stored()),
            Err(error) => Listing {
                name,
                dir,
                started: String::new(),
                address: String::new(),
                links: String::new(),
                state: "unreadable".to_owned(),
                ending: None,
                points: 0,
                kind: "",
                measured: 0,
                rows: "",
                note: None,
                problem: Some(error.to_string()),
            },
        }
    }

    /// A run that could be opened.
    pub fn new(name: String, dir: PathBuf, run: &dyn Stored) -> Listing {
        let ending = run.ending_line();
        Listing {
            name,
            dir,
            started: run.conditions().started.clone(),
            address: run.address().to_owned(),
            links: run.links(),
            state: run.state_word().to_owned(),
            points: run.points(),
            kind: run.kind(),
            measured: match ending {
                Some(_) => run.stored_rows(),
                None => run.measured(),
            },
            ending,
            rows: run.rows(),
            note: run.conditions().note.clone(),
            problem: match run.state() {
                State::Failed { error } => Some(error.clone()),
                _ => None,
            },
        }
    }

    /// True where the run could be opened.
    pub fn is_readable(&self) -> bool {
        !self.kind.is_empty()
    }

    /// Sorts by time. Names begin with the start too, only with hyphens for colons. Of runs that started in the same
    /// second the one that was written to last is the newer.
    fn order(&self) -> (String, Option<SystemTime>, String) {
        let start = if self.started.is_empty() {
            &self.name
        } else {
            &self.started
        };
        let written = fs::metadata(&self.dir).and_then(|dir| dir.modified());
        (start.replace(':', "-"), written.ok(), self.name.clone())
    }
}

/// All directories in `home`, the newest last. What cannot be read is listed with its problem; a
/// `home` that does not exist has no runs.
pub fn list(home: &Path) -> Result<Vec<Listing>, RunError> {
    let mut runs: Vec<Listing> = directories(home)?
        .into_iter()
        .map(|(name, dir)| Listing::read(name, dir))
        .collect();
    runs.sort_by_cached_key(Listing::order);
    Ok(runs)
}

/// The run that `name` means: `last` for the newest readable one in `home`, the path of a run
/// directory or of its `run.json`, the name of a run in `home`, or the beginning of only one name.
pub fn find(home: &Path, name: &str) -> Result<AnyRun, RunError> {
    AnyRun::open(&dir_of(home, name)?)
}

fn dir_of(home: &Path, name: &str) -> Result<PathBuf, RunError> {
    let not_found = || RunError::NotFound {
        name: name.to_owned(),
        home: home.to_owned(),
    };
    if name == "last" {
        let runs = list(home)?;
        if runs.is_empty() {
            return Err(RunError::NoRuns {
                home: home.to_owned(),
            });
        }
        let newest = runs.into_iter().rfind(Listing::is_readable);
        return Ok(newest.ok_or_else(not_found)?.dir);
    }
    let path = Path::new(name);
    if path.file_name().is_some_and(|file| file == FILE_NAME) && path.is_file() {
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        return Ok(parent.unwrap_or(Path::new(".")).to_owned());
    }
    let mut parts = path.components();
    let plain = matches!(parts.next(), Some(Component::Normal(part)) if part == name);
    if path.is_dir() && (!plain || path.join(FILE_NAME).exists()) {
        return Ok(path.to_owned());
    }
    if !plain {
        return Err(not_found());
    }
    let runs = directories(home)?;
    if let Some((_, dir)) = runs.iter().find(|(run, _)| run == name) {
        return Ok(dir.clone());
    }
    let mut candidates: Vec<_> = runs
        .into_iter()
        .filter(|(run, _)| run.starts_with(name))
        .collect();
    match candidates.as_slice() {
        [(_, dir)] => Ok(dir.clone()),
        // The user's own directory, which only lacks a run: better said than "not found".
        [] if path.is_dir() => Err(RunError::NotARun {
            path: path.to_owned(),
        }),
        [] => Err(not_found()),
        _ => {
            candidates.sort();
            let candidates = candidates.into_iter().map(|(run, _)| run).collect();
            Err(RunError::Ambiguous {
                name: name.to_owned(),
                home: home.to_owned(),
                candidates,
            })
        }
    }
}

/// Names and paths of the directories in `home`; those that begin with a point stay hidden.
fn directories(home: &Path) -> Result<Vec<(String, PathBuf)>, RunError> {
    let entries = match fs::read_dir(home) {
        Ok(entries) => entries,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(RunError::io("list the runs in", home)(cause)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let dir = entry
            .map_err(RunError::io("list the runs in", home))?
            .path();
        let name = dir
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if !name.starts_with('.') && dir.is_dir() {
            found.push((name, dir));
        }
    }
    Ok(found)
}
