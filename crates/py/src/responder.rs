//! A responder beside Python: `serve` in a thread of its own, until it is ended.

use super::call::{self, Failed};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use wiregauge_cli::{Called, Failure, Outcome};

/// How long its address is waited for between two looks at the signals.
const LOOK: Duration = Duration::from_millis(2);

type Ended = Result<Outcome, Failure>;

/// A responder that serves.
#[pyclass(frozen, module = "wiregauge._native")]
pub struct Responder {
    called: Arc<Called>,
    thread: Mutex<Option<JoinHandle<Ended>>>,
    failed: Mutex<Option<Failure>>,
}

#[pymethods]
impl Responder {
    /// Begins to serve; `words` are those of the command. Comes back once it answers or has failed,
    /// see `failure`.
    #[new]
    fn new(py: Python<'_>, words: Vec<OsString>, program: Vec<OsString>) -> PyResult<Responder> {
        let called = Arc::new(Called::new(program));
        let theirs = Arc::clone(&called);
        let thread = std::thread::Builder::new()
            .name("wg-responder".into())
            .spawn(move || wiregauge_cli::call(&words, theirs.as_ref()))?;
        let responder = Responder {
            called,
            thread: Mutex::new(Some(thread)),
            failed: Mutex::new(None),
        };
        while responder.called.left().serving.is_none() && responder.is_serving() {
            py.detach(|| std::thread::sleep(LOOK));
            if let Err(error) = py.check_signals() {
                responder.end(py)?;
                return Err(error);
            }
        }
        if responder.called.left().serving.is_none() {
            responder.end(py)?;
        }
        Ok(responder)
    }

    /// Where it answers; `None` where it never did.
    #[getter]
    fn address(&self) -> Option<String> {
        self.called.left().serving.clone()
    }

    /// Its notes, and who came and left.
    #[getter]
    fn remarks(&self) -> String {
        self.called.remarks()
    }

    /// True until it has ended.
    #[getter]
    fn is_serving(&self) -> bool {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Of one that failed.
    #[getter]
    fn failure(&self) -> Option<Failed> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.as_ref().map(call::failed)
    }

    /// Ends it and waits until it has.
    fn end(&self, py: Python<'_>) -> PyResult<()> {
        let thread = {
            let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
            thread.take()
        };
        let Some(thread) = thread else { return Ok(()) };
        self.called.end();
        let ended = py
            .detach(|| thread.join())
            .map_err(|_| PyRuntimeError::new_err("the responder's thread panicked"))?;
        if let Err(failure) = ended {
            *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
        }
        Ok(())
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        // It ends by itself soon; nobody waits for it.
        self.called.end();
    }
}
