//! The caller at a terminal: standard output and error, Ctrl-C, a progress bar.

use crate::caller::{Caller, WIDTH};
use crate::output::progress::{Bar, Meter};
use crate::parent;
use crate::platform;
use anyhow::Context;
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Sentences are not wrapped at less.
const NARROWEST: usize = 40;

/// A terminal, or whatever stands in its place.
pub struct Terminal {
    program: Vec<OsString>,
    stop: OnceLock<Arc<AtomicBool>>,
    /// Standard output is for data.
    yielded: AtomicBool,
}

impl Terminal {
    /// `program` starts wiregauge once more.
    pub fn new(program: Vec<OsString>) -> Terminal {
        Terminal {
            program,
            stop: OnceLock::new(),
            yielded: AtomicBool::new(false),
        }
    }
}

impl Caller for Terminal {
    fn words(&self) -> Box<dyn Write + '_> {
        match self.yielded.load(Ordering::Relaxed) {
            true => self.remarks(),
            false => Box::new(anstream::stdout().lock()),
        }
    }

    /// What COLUMNS says, or the terminal has.
    fn table_width(&self) -> usize {
        let said = std::env::var("COLUMNS").ok();
        let said = said.and_then(|columns| columns.parse().ok());
        let of_terminal = || Some(usize::from(terminal_size::terminal_size()?.0.0));
        said.or_else(of_terminal).unwrap_or(WIDTH).max(NARROWEST)
    }

    fn bytes(&self) -> Box<dyn Write + '_> {
        Box::new(std::io::stdout().lock())
    }

    fn yield_stdout(&self) -> Option<std::io::Result<File>> {
        self.yielded.store(true, Ordering::Relaxed);
        Some(platform::own_stdout())
    }

    fn remarks(&self) -> Box<dyn Write + '_> {
        Box::new(anstream::stderr())
    }

    /// A flag that Ctrl-C raises. The second Ctrl-C ends the program at once, should it hang.
    fn stop(&self) -> anyhow::Result<Arc<AtomicBool>> {
        if let Some(stop) = self.stop.get() {
            return Ok(Arc::clone(stop));
        }
        let stop = Arc::new(AtomicBool::new(false));
        platform::raise_on_ctrl_c(&stop).context("cannot install the handler for Ctrl-C")?;
        parent::ctrl_c_is_handled();
        Ok(Arc::clone(self.stop.get_or_init(|| stop)))
    }

    fn ended_by(&self) -> Option<String> {
        let ended_by = match parent::has_ended() {
            true => Some("the end of its standard input"),
            false => platform::ended_by(),
        };
        ended_by.map(str::to_owned)
    }

    fn meter(&self, hidden: bool) -> Box<dyn Meter> {
        Box::new(Bar::new(hidden))
    }

    fn program(&self) -> Vec<OsString> {
        self.program.clone()
    }
}
