//! The caller that is a program: everything that a command says and makes is kept for it, nothing is
//! printed, and no signal is touched.

use crate::caller::{Caller, absolute};
use crate::output::progress::Meter;
use anstream::StripStream;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tempfile::TempDir;
use wiregauge_measure::slices::Slice;
use wiregauge_program::console::Console;

/// How far a command is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Share {
    /// What is done of the whole, 0 to 1.
    pub part: f64,
    /// What is being done.
    pub what: String,
    /// Figures of running points, each with the index of its point: those since the last report.
    pub slices: Vec<(u32, Slice)>,
}

/// What a command has left behind so far; all paths are absolute.
#[derive(Debug, Default)]
pub struct Left {
    /// What it wrote to its output.
    pub said: Vec<u8>,
    /// Its notes and warnings.
    pub remarks: Vec<u8>,
    /// The directory of the run that it measures.
    pub begun: Option<PathBuf>,
    /// The runs that it measured.
    pub runs: Vec<PathBuf>,
    /// True of runs that are not to be stored: who called removes them when they are not needed any more.
    pub passing: bool,
    /// The limits that it missed.
    pub missed: Vec<String>,
    /// The files that it wrote.
    pub files: Vec<PathBuf>,
    /// The address of the responder, once it answers.
    pub serving: Option<String>,
}

/// One call of a command by a program. May be looked at from other threads while it runs.
#[derive(Debug, Default)]
pub struct Called {
    program: Vec<OsString>,
    stop: Arc<AtomicBool>,
    share: Arc<Mutex<Option<Share>>>,
    slice_time: Option<Duration>,
    left: Arc<Mutex<Left>>,
}

impl Called {
    /// A call that has not begun. `program` starts wiregauge once more, for what has to be a process
    /// of its own.
    pub fn new(program: Vec<OsString>) -> Called {
        Called {
            program,
            ..Called::default()
        }
    }

    /// The same call, which reports figures of running points so often.
    pub fn with_slices(self, every: Option<Duration>) -> Called {
        Called {
            slice_time: every,
            ..self
        }
    }

    /// Ends the command soon; what was measured is kept.
    pub fn end(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// How far it is, if it has reported since this was asked.
    pub fn share(&self) -> Option<Share> {
        locked(&self.share).take()
    }

    /// Its notes and warnings so far.
    pub fn remarks(&self) -> String {
        String::from_utf8_lossy(&self.left().remarks).into_owned()
    }

    /// What it has left behind so far; while this is held, the command cannot leave more.
    pub fn left(&self) -> MutexGuard<'_, Left> {
        locked(&self.left)
    }

    fn tail(&self, which: Which) -> Tail {
        Tail(Arc::clone(&self.left), which)
    }

    /// Without colours.
    fn plain(&self, which: Which) -> StripStream<Box<dyn Write + Send>> {
        StripStream::new(Box::new(self.tail(which)))
    }
}

/// A thread that panicked leaves text that is shorter, not one that is wrong.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Console for Called {
    fn bytes(&self) -> Box<dyn Write + '_> {
        Box::new(self.tail(|left| &mut left.said))
    }

    fn remarks(&self) -> Box<dyn Write + '_> {
        Box::new(self.plain(|left| &mut left.remarks))
    }

    fn stop(&self) -> anyhow::Result<Arc<AtomicBool>> {
        Ok(Arc::clone(&self.stop))
    }

    fn serving(&self, address: &str) {
        self.left().serving = Some(address.to_owned());
    }
}

impl Caller for Called {
    fn words(&self) -> Box<dyn Write + '_> {
        Box::new(self.plain(|left| &mut left.said))
    }

    fn meter(&self, _hidden: bool) -> Box<dyn Meter> {
        Box::new(SharedMeter {
            share: Arc::clone(&self.share),
            remarks: Box::new(self.plain(|left| &mut left.remarks)),
            slice_time: self.slice_time,
            now: Share::default(),
        })
    }

    fn program(&self) -> Vec<OsString> {
        self.program.clone()
    }

    fn begun(&self, dir: &Path) {
        self.left().begun = Some(absolute(dir));
    }

    fn measured(&self, dir: &Path, passing: &mut Option<TempDir>) {
        let mut left = self.left();
        left.runs.push(absolute(dir));
        if let Some(passing) = passing.take() {
            let _ = passing.keep();
            left.passing = true;
        }
    }

    fn missed(&self, text: &str) {
        self.left().missed.push(text.to_owned());
    }

    fn wrote(&self, path: &Path) {
        self.left().files.push(absolute(path));
    }
}

/// One of the texts that are left.
type Which = fn(&mut Left) -> &mut Vec<u8>;

/// The end of it, to be written to.
struct Tail(Arc<Mutex<Left>>, Which);

impl Write for Tail {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.1)(&mut locked(&self.0)).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A meter whose reading lies where the program finds it.
struct SharedMeter {
    share: Arc<Mutex<Option<Share>>>,
    remarks: Box<dyn Write + Send>,
    slice_time: Option<Duration>,
    now: Share,
}

impl SharedMeter {
    /// Replaces what the program has not taken, except slices.
    fn report(&self, slice: Option<(u32, Slice)>) {
        let mut share = locked(&self.share);
        let mut slices = share.take().map(|share| share.slices).unwrap_or_default();
        slices.extend(slice);
        let now = self.now.clone();
        *share = Some(Share { slices, ..now });
    }
}

impl Meter for SharedMeter {
    fn says(&mut self, what: String) {
        self.now.what = what;
        self.report(None);
    }

    fn update(&mut self, part: f64) {
        self.now.part = part;
        self.report(None);
    }

    fn slice_time(&self) -> Option<Duration> {
        self.slice_time
    }

    fn slice(&mut self, point: u32, slice: Slice) {
        self.report(Some((point, slice)));
    }

    fn warn(&mut self, text: &str) {
        let _ = writeln!(self.remarks, "warning: {text}");
    }

    fn clear(&mut self) {}
}
