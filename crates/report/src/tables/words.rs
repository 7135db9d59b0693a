//! What there is to say about a run.

use super::warnings::Code;
use super::{Brief, Table, Warning};

/// What there is to say about a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tables {
    /// How the run ended, if it was not measured and stored to its end.
    pub ending: Option<String>,
    /// What was measured, on what: one or two lines.
    pub heading: Vec<String>,
    /// What the user wrote about the run, line by line; no output rewrites it.
    pub note: Vec<String>,
    /// Parts of the first line of the heading to be set off, in the order in which they stand there.
    pub set_off: Vec<String>,
    /// What became of the limits that were stated with the command, in a sentence.
    pub verdict: Option<String>,
    /// One table and one sentence, where the kind of run has them.
    pub brief: Option<Brief>,
    /// Every table that has something to say.
    pub tables: Vec<Table>,
    /// What the host does without the device, line by line; empty if that was not measured.
    pub floors: Vec<String>,
    /// What else the figures amount to, in sentences.
    pub notes: Vec<String>,
    /// Why some figures deserve a second look, with the remedy.
    pub warnings: Vec<Warning>,
    /// The error, if the run failed.
    pub failed: Option<String>,
    /// What it ran on: names and values, in groups that have a title. Many are words of a user, a host or a device, so
    /// no output rewrites them: those of this program have their proper signs.
    pub conditions: Vec<(String, Vec<(String, String)>)>,
    /// The command that repeats it, ready for a shell.
    pub command: String,
}

impl Tables {
    /// Without tables, finding and the warnings about losses: of a run in which nothing was answered, the
    /// error has all that they would repeat.
    #[must_use]
    pub fn without_figures(self) -> Tables {
        let repeated = [Code::Lost, Code::Cut].map(|code| code.explained().code);
        let warnings = self.warnings.into_iter();
        Tables {
            brief: None,
            tables: Vec::new(),
            floors: Vec::new(),
            warnings: warnings
                .filter(|one| !repeated.contains(&one.code))
                .collect(),
            ..self
        }
    }
}

/// The title of [`Tables::floors`].
pub const FLOORS: &str = "Floor: this host without the device";

/// What the figures in [`Tables::floors`] are.
pub const FLOORS_ARE: &str = "before / after the run";
