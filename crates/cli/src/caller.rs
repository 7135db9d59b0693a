//! Who calls a command. A terminal prints what is said and stops at Ctrl-C; a program takes the same
//! words and decides by itself.

use crate::output::progress::Meter;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use wiregauge_program::console::Console;

/// Columns where there is no terminal, and at most for sentences.
pub(crate) const WIDTH: usize = 100;

/// Takes what a command says and makes, and ends it.
pub trait Caller: Console {
    /// Where words go that may be set off with colours; without, if nobody would see them.
    fn words(&self) -> Box<dyn Write + '_>;

    /// Columns that sentences have.
    fn width(&self) -> usize {
        self.table_width().min(WIDTH)
    }

    /// Columns that tables have.
    fn table_width(&self) -> usize {
        WIDTH
    }

    /// Standard output, for data alone: words go to where remarks go from now on. `None` where there is none.
    fn yield_stdout(&self) -> Option<std::io::Result<std::fs::File>> {
        None
    }

    /// What ended the command before its time, such as SIGTERM.
    fn ended_by(&self) -> Option<String> {
        None
    }

    /// What receives the progress of the command.
    fn meter(&self, hidden: bool) -> Box<dyn Meter>;

    /// The words that start this program once more.
    fn program(&self) -> Vec<OsString>;

    /// A run is being stored in this directory, point by point.
    fn begun(&self, _dir: &Path) {}

    /// A run lies in this directory; one that is not to be stored goes with the other at the end of
    /// the command, unless that is taken.
    fn measured(&self, _dir: &Path, _passing: &mut Option<TempDir>) {}

    /// A limit was missed, or a condition met that should not be.
    fn missed(&self, _text: &str) {}

    /// A file was written.
    fn wrote(&self, _path: &Path) {}
}

/// A command that runs: who called it, and with which words.
pub struct Session<'a> {
    /// Who called it.
    pub caller: &'a dyn Caller,
    words: Vec<String>,
}

impl<'a> Session<'a> {
    /// Of these words, the program's name first.
    pub fn new(caller: &'a dyn Caller, words: &[OsString]) -> Session<'a> {
        let words = words.iter().map(|word| word.to_string_lossy().into());
        Session {
            caller,
            words: words.collect(),
        }
    }

    /// The same caller, as if it had typed these words behind the program's name.
    pub(crate) fn typing(&self, words: &[&OsStr]) -> Session<'a> {
        let name = self.words.iter().take(1).cloned();
        let words = words.iter().map(|word| word.to_string_lossy().into());
        Session {
            caller: self.caller,
            words: name.chain(words).collect(),
        }
    }

    /// What was typed, to be kept with a run.
    pub(crate) fn command(&self) -> Vec<String> {
        self.words.clone()
    }
}

/// Says a remark, a line of it.
macro_rules! remark {
    ($session:expr, $($what:tt)*) => {{
        use std::io::Write as _;
        // There is nobody left to tell that a remark could not be made.
        let _ = writeln!($session.caller.remarks(), $($what)*);
    }};
}

pub(crate) use remark;

/// A path that a file was written to, as a caller wants it.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
