//! `run.json`: what a run is, and how it is replaced on disk so that there is always a whole one.

use crate::error::RunError;
use crate::exchange::Exchange;
use crate::kind::RunKind;
use crate::kinds::KINDS;
use crate::storage::{self, Storage};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use wiregauge_record::Conditions;

/// Version of the run format that this crate writes; it reads this one and all before it. A reader of version 1 would
/// show only the first segment of a point.
pub const SCHEMA: u32 = 2;

pub(crate) const FILE_NAME: &str = "run.json";

/// No run comes near this; a larger file is not ours and is not loaded.
const MAX_BYTES: u64 = 256 << 20;

/// How far a run has come.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It is being written, or its writer was killed.
    Running,
    /// All of it was measured.
    Complete,
    /// The user stopped it; what was measured is there.
    Interrupted,
    /// It could not go on; what was measured before is there.
    Failed {
        /// Why.
        error: String,
    },
}

impl State {
    /// The state in a word for a table. `run.json` alone can't tell whether the writer lives; see
    /// [`Run::state_word`](crate::Run::state_word).
    pub fn describe(&self) -> &'static str {
        match self {
            State::Running => "running or killed",
            State::Complete => "complete",
            State::Interrupted => "interrupted",
            State::Failed { .. } => "failed",
        }
    }
}

/// How many rows of a point are in its files.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredPoint {
    /// Which point.
    pub point: u32,
    /// Rows that were stored.
    pub rows: u64,
    /// Rows that were measured.
    pub taken: u64,
}

/// The contents of `run.json`.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(bound = "")]
pub struct RunFile<K: RunKind = Exchange> {
    /// Version of the format; see [`SCHEMA`].
    pub schema: u32,
    /// What was measured; see [`RunKind::NAME`].
    pub kind: String,
    /// How far it has come.
    pub state: State,
    /// What was to be measured.
    pub plan: K::Plan,
    /// What it ran on.
    pub conditions: Conditions,
    /// The points that were finished, in the order in which they ran.
    pub points: Vec<K::Summary>,
    /// What the user should know about the run as a whole.
    pub warnings: Vec<String>,
    /// How many rows of each point were stored. Runs of format 1 lack it: all rows are in one file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stored: Vec<StoredPoint>,
    /// What the system said when rows could not be stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_error: Option<String>,
    /// The signal that ended the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<String>,
}

/// What must be known before the rest can be understood.
#[derive(Deserialize)]
struct Header {
    schema: u64,
    #[serde(default)]
    kind: String,
}

/// A `run.json` of a version that can be read, of a kind that may be anything.
pub struct Text {
    path: PathBuf,
    text: Vec<u8>,
    header: Header,
}

impl Text {
    /// Reads the `run.json` of a run directory.
    pub(crate) fn read(dir: &Path) -> Result<Text, RunError> {
        let path = dir.join(FILE_NAME);
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                fs::metadata(dir).map_err(RunError::io("open run", dir))?;
                return Err(RunError::NotARun {
                    path: dir.to_owned(),
                });
            }
            Err(cause) if cause.kind() == io::ErrorKind::NotADirectory => {
                return Err(RunError::NotARun {
                    path: dir.to_owned(),
                });
            }
            Err(cause) => return Err(RunError::io("read", &path)(cause)),
        };
        let bad = |problem: String| RunError::BadRunFile {
            path: path.clone(),
            problem,
        };
        let metadata = file.metadata().map_err(RunError::io("read", &path))?;
        if !metadata.is_file() {
            return Err(bad("it is not a file".to_owned()));
        }
        let mut text = Vec::new();
        Read::by_ref(&mut file)
            .take(MAX_BYTES + 1)
            .read_to_end(&mut text)
            .map_err(RunError::io("read", &path))?;
        if text.len() as u64 > MAX_BYTES {
            return Err(bad(format!(
                "it is larger than {} MB",
                MAX_BYTES / 1_000_000
            )));
        }
        let header: Header = serde_json::from_slice(&text).map_err(|e| bad(e.to_string()))?;
        if header.schema > u64::from(SCHEMA) {
            return Err(RunError::NewerSchema {
                path,
                found: header.schema,
                known: SCHEMA,
            });
        }
        if header.schema == 0 {
            return Err(bad("run format 0 does not exist".to_owned()));
        }
        Ok(Text { path, text, header })
    }

    /// What it says was measured.
    pub(crate) fn kind(&self) -> &str {
        &self.header.kind
    }

    /// The error for a kind that is not the one `wanted`, or none that is known.
    pub(crate) fn other_kind(self, wanted: Option<&'static str>) -> RunError {
        let Text { path, header, .. } = self;
        match wanted.filter(|_| KINDS.contains(&header.kind.as_str())) {
            Some(wanted) => RunError::OtherKind {
                path,
                kind: header.kind,
                wanted,
            },
            None => RunError::UnknownKind {
                path,
                kind: header.kind,
                known: KINDS,
            },
        }
    }
}

impl<K: RunKind> RunFile<K> {
    /// A run that has just begun.
    pub fn new(plan: &K::Plan, conditions: &Conditions) -> RunFile<K> {
        RunFile {
            schema: SCHEMA,
            kind: K::NAME.to_owned(),
            state: State::Running,
            plan: plan.clone(),
            conditions: conditions.clone(),
            points: Vec::new(),
            warnings: Vec::new(),
            stored: Vec::new(),
            storage_error: None,
            ended_by: None,
        }
    }

    /// Measured rows of all finished points.
    pub fn measured(&self) -> u64 {
        self.points
            .iter()
            .fold(0, |sum, point| sum.saturating_add(K::measured(point)))
    }

    /// Stored rows of all points. Runs of format 1 count the measured ones only.
    pub(crate) fn rows(&self) -> u64 {
        match self.stored.is_empty() {
            true => self.measured(),
            false => self
                .stored
                .iter()
                .fold(0, |sum, point| sum.saturating_add(point.rows)),
        }
    }

    /// Understands a `run.json` that must be of this kind.
    pub(crate) fn parse(text: Text) -> Result<RunFile<K>, RunError> {
        if text.kind() != K::NAME {
            return Err(text.other_kind(Some(K::NAME)));
        }
        serde_json::from_slice(&text.text).map_err(|error| RunError::BadRunFile {
            path: text.path,
            problem: error.to_string(),
        })
    }

    /// Replaces the `run.json` of a run directory in one step: whatever happens, the old or the
    /// new one is there, whole.
    pub(crate) fn replace(&self, storage: &dyn Storage, dir: &Path) -> Result<(), RunError> {
        let path = dir.join(FILE_NAME);
        let mut text = serde_json::to_vec_pretty(self)
            .map_err(io::Error::from)
            .map_err(RunError::io("write", &path))?;
        text.push(b'\n');
        let temporary = dir.join("run.json.tmp");
        storage::replace(storage, &path, &temporary, &text).map_err(RunError::io("write", &path))
    }
}

/// Fails where `value` would not come back from JSON: a number that is not finite becomes `null`
/// there, and then nothing of the file could be read again.
pub(crate) fn check_storable<T>(what: &'static str, value: &T, dir: &Path) -> Result<(), RunError>
where
    T: Serialize + DeserializeOwned,
{
    let back = serde_json::to_vec(value).and_then(|text| serde_json::from_slice::<T>(&text));
    match back {
        Ok(_) => Ok(()),
        Err(error) => Err(RunError::NotStorable {
            what,
            path: dir.join(FILE_NAME),
            problem: error.to_string(),
        }),
    }
}

/// What the system says, without its number: `no space left on device`.
pub(crate) fn system_words(error: &io::Error) -> String {
    let text = error.to_string();
    let words = text.split(" (os error").next().unwrap_or(&text);
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(letters).collect()
    })
}
