//! An output that remembers its first error. Not every path through the Parquet crate keeps what the
//! operating system said, and a full disk must be reported as a full disk, however often it is asked.

use std::io::{self, Write};
use std::sync::{Arc, OnceLock};

/// The first error, once there is one.
pub(crate) type Failed = Arc<OnceLock<Failure>>;

/// An error that can be reported again: after the first one every call fails alike.
pub(crate) struct Failure {
    code: Option<i32>,
    kind: io::ErrorKind,
    text: String,
}

impl Failure {
    /// What the error says.
    pub(crate) fn of(error: &io::Error) -> Failure {
        Failure {
            code: error.raw_os_error(),
            kind: error.kind(),
            text: error.to_string(),
        }
    }

    /// The error again.
    pub(crate) fn error(&self) -> io::Error {
        match self.code {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::new(self.kind, self.text.clone()),
        }
    }
}

/// The first error that there was; `latest`, if it is the first.
pub(crate) fn first(failed: &Failed, latest: io::Error) -> io::Error {
    failed.get_or_init(|| Failure::of(&latest)).error()
}

/// The output that is watched.
pub(crate) struct Watched<W> {
    out: W,
    failed: Failed,
}

impl<W: Write> Watched<W> {
    /// Watches `out`; its first error goes to `failed`.
    pub(crate) fn new(out: W, failed: &Failed) -> Watched<W> {
        Watched {
            out,
            failed: failed.clone(),
        }
    }

    /// The output itself.
    pub(crate) fn into_inner(self) -> W {
        self.out
    }

    fn watch<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        match &result {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                self.failed.get_or_init(|| Failure::of(error));
            }
            _ => {}
        }
        result
    }
}

impl<W: Write> Write for Watched<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.out.write(bytes);
        self.watch(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.out.flush();
        self.watch(result)
    }
}
