//! The caller at a terminal: standard output and error, Ctrl-C, a progress bar.

use crate::caller::{Caller, WIDTH};
use crate::output::progress::{Bar, Meter};
use crate::parent;
use crate::platform;
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wiregauge_program::console::{Console, Streams};

/// Sentences are not wrapped at less.
const NARROWEST: usize = 40;

/// A terminal, or whatever stands in its place.
pub struct Terminal {
    program: Vec<OsString>,
    streams: Streams,
    /// Standard output is for data.
    yielded: AtomicBool,
}

impl Terminal {
    /// `program` starts wiregauge once more.
    pub fn new(program: Vec<OsString>) -> Terminal {
        Terminal {
            program,
            streams: Streams::default(),
            yielded: AtomicBool::new(false),
        }
    }
}

impl Console for Terminal {
    fn bytes(&self) -> Box<dyn Write + '_> {
        self.streams.bytes()
    }

    fn remarks(&self) -> Box<dyn Write + '_> {
        self.streams.remarks()
    }

    fn stop(&self) -> anyhow::Result<Arc<AtomicBool>> {
        let stop = self.streams.stop()?;
        parent::ctrl_c_is_handled();
        Ok(stop)
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

    fn yield_stdout(&self) -> Option<std::io::Result<File>> {
        self.yielded.store(true, Ordering::Relaxed);
        Some(platform::own_stdout())
    }

    fn ended_by(&self) -> Option<String> {
        let ended_by = match parent::has_ended() {
            true => Some("the end of its standard input"),
            false => wiregauge_program::ended_by(),
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
