//! What a check found: evidence, cost, remedy, and what `--fix` would write.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Looked at, and nothing to object to.
    Good,
    /// Could not be looked at; the evidence says why.
    Unknown,
    /// Costs something in some uses.
    Note,
    /// Costs much.
    Hurts,
}

/// What it costs, and how that is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// In figures with units.
    pub text: String,
    /// Who measured or published it: a run of this project (`bench/runs/...`), a paper, a standard, a
    /// kernel's document.
    pub source: String,
}

/// A file whose content `--fix` replaces and `--undo` restores. Only what is safe and reversible.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The file, as an absolute path of the host.
    pub path: PathBuf,
    /// What stands there.
    pub from: String,
    /// What is to stand there.
    pub to: String,
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Name of the check.
    pub check: String,
    /// How much it matters.
    pub level: Level,
    /// In one line, what is the case.
    pub title: String,
    /// What was seen: `path = value`, figures of a run.
    pub evidence: Vec<String>,
    /// What it costs; nothing where it is good.
    pub cost: Option<Cost>,
    /// Commands that mend it, ready for a shell, or settings of the device.
    pub remedy: Vec<String>,
    /// What `--fix` would write; empty where it must be left to the user.
    pub changes: Vec<Change>,
}
