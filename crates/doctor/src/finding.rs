//! What a check found: evidence, cost, remedy, and what `--fix` would write.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

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
    #[serde(rename = "problem")]
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

/// A setting that `--fix` changes and `--undo` restores. Only what is safe and reversible.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Which setting: a file, as an absolute path of the host; on Windows the path of a registry value, or the name of
    /// another setting (`windows/setting.rs`).
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

impl Change {
    /// The commands that make these changes by hand on Linux, one for each value.
    pub fn commands(changes: &[Change]) -> Vec<String> {
        let mut values: Vec<(&str, Vec<&Path>)> = Vec::new();
        for change in changes {
            match values.iter_mut().find(|(value, _)| *value == change.to) {
                Some((_, paths)) => paths.push(&change.path),
                None => values.push((&change.to, vec![&change.path])),
            }
        }
        let command = |(value, paths): (&str, Vec<&Path>)| {
            let patterns: Vec<String> = alike(paths, |path| path)
                .into_iter()
                .map(|(pattern, _)| pattern)
                .collect();
            format!("echo {value} | sudo tee {}", patterns.join(" "))
        };
        values.into_iter().map(command).collect()
    }
}

/// Puts together what differs in the number of a processor only, so that sixty-four of them are one line: each with
/// a path, or a pattern as shells know it, in the order of the first ones.
pub fn alike<T>(all: Vec<T>, path: impl Fn(&T) -> &Path) -> Vec<(String, Vec<T>)> {
    let mut groups: Vec<(String, Vec<T>)> = Vec::new();
    for one in all {
        let pattern = pattern(path(&one));
        match groups.iter_mut().find(|(known, _)| *known == pattern) {
            Some((_, group)) => group.push(one),
            None => groups.push((pattern, vec![one])),
        }
    }
    for (pattern, group) in &mut groups {
        if let [alone] = group.as_slice() {
            *pattern = path(alone).display().to_string();
        }
    }
    groups
}

/// A path with `*` for the number of a processor.
fn pattern(path: &Path) -> String {
    let parts = path.to_string_lossy();
    let parts = parts.split('/').map(|part| {
        let numbered = ["cpu", "policy"].into_iter().find(|name| {
            part.strip_prefix(name)
                .is_some_and(|n| n.parse::<u32>().is_ok())
        });
        numbered.map_or(part.to_owned(), |name| format!("{name}*"))
    });
    parts.collect::<Vec<_>>().join("/")
}

impl Finding {
    /// Of the check with this name, without evidence yet.
    pub fn new(check: &str, level: Level, title: impl Into<String>) -> Finding {
        Finding {
            check: check.to_owned(),
            level,
            title: title.into(),
            evidence: Vec::new(),
            cost: None,
            remedy: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// With this seen as well.
    pub fn seen(mut self, evidence: impl Into<String>) -> Finding {
        self.evidence.push(evidence.into());
        self
    }

    /// With all of these seen.
    pub fn all_seen(mut self, evidence: impl IntoIterator<Item = String>) -> Finding {
        self.evidence.extend(evidence);
        self
    }

    /// With what it costs, and who says so.
    pub fn costs(mut self, text: impl Into<String>, source: impl Into<String>) -> Finding {
        self.cost = Some(Cost {
            text: text.into(),
            source: source.into(),
        });
        self
    }

    /// With a command that mends it.
    pub fn remedy(mut self, command: impl Into<String>) -> Finding {
        self.remedy.push(command.into());
        self
    }

    /// With changes that mend it, as commands too.
    pub fn changes(mut self, changes: Vec<Change>) -> Finding {
        self.remedy.extend(Change::commands(&changes));
        self.changes.extend(changes);
        self
    }

    /// With this command, which makes these changes.
    pub(crate) fn change_by(mut self, change: Change, command: String) -> Finding {
        self.remedy.push(command);
        self.changes.push(change);
        self
    }
}
