//! A command as a function: a thread of its own runs it, and the thread of Python that called waits
//! without the interpreter's lock, hears of Ctrl-C, and reports how far it is.

use crate::errors;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use wiregauge_cli::{Failure, FailureKind, Outcome};

/// How often Python is asked whether Ctrl-C was pressed, and how often it gets the progress.
const LOOK: Duration = Duration::from_millis(50);

/// What became of a command.
#[pyclass(frozen, get_all, module = "wiregauge._native")]
pub struct Called {
    /// `done`, `missed`, `interrupted` or `failed`.
    outcome: &'static str,
    /// What it wrote to its output.
    said: Py<PyBytes>,
    /// Its notes and warnings.
    remarks: String,
    /// The runs that it measured.
    runs: Vec<PathBuf>,
    /// True of runs that who called removes.
    passing: bool,
    /// The limits that it missed.
    missed: Vec<String>,
    /// The files that it wrote.
    files: Vec<PathBuf>,
    /// Of one that failed.
    failure: Option<Failed>,
    /// What was raised in the meantime, such as KeyboardInterrupt; it ended the command.
    raised: Option<Py<PyAny>>,
}

/// A failure as Python has it: its kind, its words, the system's number, the flag that is wrong.
pub(crate) type Failed = (&'static str, String, Option<i32>, Option<String>);

/// What a failure is, as Python has it.
pub(crate) fn failed(failure: &Failure) -> Failed {
    let kind = match failure.kind {
        FailureKind::Usage => "usage",
        FailureKind::Storage => "storage",
        FailureKind::Link(kind) => errors::kind(kind),
        _ => "io",
    };
    let Failure { text, flag, .. } = failure;
    (kind, text.clone(), failure.os_code, flag.clone())
}

/// Runs a command. `report` is called with the part that is done (0 to 1), what is being done, and the directory
/// of the run that is being measured, if any, and, every `slice_time` seconds, the figures of the running point: its
/// index, the time since it began (s), its figures by name. What it raises ends the command, and so does a signal whose
/// handler raises.
#[pyfunction]
#[pyo3(signature = (words, program, report, slice_time=None))]
pub fn call(
    py: Python<'_>,
    words: Vec<OsString>,
    program: Vec<OsString>,
    report: Option<Py<PyAny>>,
    slice_time: Option<f64>,
) -> PyResult<Called> {
    let slice_time = slice_time.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let called = Arc::new(wiregauge_cli::Called::new(program).with_slices(slice_time));
    let (send, ended) = channel();
    let theirs = Arc::clone(&called);
    std::thread::Builder::new()
        .name("wiregauge".into())
        .spawn(move || {
            // Nobody takes it if Python has given up waiting.
            let _ = send.send(wiregauge_cli::call(&words, theirs.as_ref()));
        })?;
    let mut raised: Option<PyErr> = None;
    // What lets go of the lock must be shared; a receiver is not.
    let ended = std::sync::Mutex::new(ended);
    let result = loop {
        let word = py.detach(|| match ended.lock() {
            Ok(ended) => ended.recv_timeout(LOOK),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        });
        match word {
            Ok(result) => break result,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err(
                    "the thread that ran the command panicked; see standard error",
                ));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let share = called.share();
        let checked = py.check_signals().and_then(|()| match (&report, share) {
            (Some(report), Some(share)) if raised.is_none() => {
                let slices = share.slices.into_iter().map(|(point, slice)| {
                    let figures: HashMap<_, _> = slice.figures.into_iter().collect();
                    (point, slice.end.as_secs_f64(), figures)
                });
                let slices: Vec<_> = slices.collect();
                let begun = called.left().begun.clone();
                let words = (share.part, share.what, begun, slices);
                report.call1(py, words).map(drop)
            }
            _ => Ok(()),
        });
        if let Err(error) = checked {
            if raised.is_some() {
                // Asked twice: whatever hangs is left to itself.
                return Err(error);
            }
            raised = Some(error);
            called.end();
        }
    };
    let outcome = match &result {
        Ok(Outcome::Done) => "done",
        Ok(Outcome::Missed) => "missed",
        Ok(Outcome::Interrupted) => "interrupted",
        Err(_) => "failed",
    };
    let remarks = called.remarks();
    let left = std::mem::take(&mut *called.left());
    Ok(Called {
        outcome,
        said: PyBytes::new(py, &left.said).unbind(),
        remarks,
        runs: left.runs,
        passing: left.passing,
        missed: left.missed,
        files: left.files,
        failure: result.err().as_ref().map(failed),
        raised: raised.map(|error| error.into_value(py).into_any()),
    })
}

/// The program `wiregauge`, on this terminal. `words` begin with its name.
#[pyfunction]
pub fn main(py: Python<'_>, words: Vec<OsString>, program: Vec<OsString>) -> u8 {
    py.detach(|| wiregauge_cli::main(words, program))
}

/// Every command with its flags, as JSON.
#[pyfunction]
pub fn declared() -> String {
    wiregauge_cli::declared()
}

/// The directory of the run that a name means; a failure like that of a command if there is none.
#[pyfunction]
pub fn find(py: Python<'_>, name: &str) -> Result<PathBuf, PyErr> {
    py.detach(|| {
        let run = wiregauge_run::find(&wiregauge_run::runs_home(), name);
        run.map(|run| run.stored().dir().to_owned())
    })
    .map_err(|error| pyo3::exceptions::PyFileNotFoundError::new_err(error.to_string()))
}

/// The directory of the stored runs; it need not exist.
#[pyfunction]
pub fn runs_home() -> PathBuf {
    wiregauge_run::runs_home()
}
