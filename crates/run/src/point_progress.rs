//! How far the storage of a point is: what its writer, the conversions of its segments and its run share.

use crate::place::WriteError;
use crate::watched::Failure;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// How far the storage of a point is, for the run that it belongs to.
#[derive(Default)]
pub(crate) struct PointProgress {
    /// Rows that were pushed.
    pub(crate) taken: AtomicU64,
    /// Rows in files.
    pub(crate) stored: AtomicU64,
    /// Segments begun.
    pub(crate) segments: AtomicU32,
    /// The first error.
    failed: OnceLock<(PathBuf, Failure)>,
}

impl PointProgress {
    /// The first error, each time anew.
    pub(crate) fn error(&self) -> Option<WriteError> {
        let (path, failure) = self.failed.get()?;
        Some(WriteError::at(path)(failure.error()))
    }

    pub(crate) fn fail(&self, error: WriteError) {
        self.failed
            .get_or_init(|| (error.path, Failure::of(&error.cause)));
    }
}
