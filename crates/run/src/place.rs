//! Where the points of a run are written, when, and what can go wrong there.

use crate::error::RunError;
use crate::layout::Layout;
use crate::sample_file::ROW_GROUP_ROWS;
use crate::storage::Storage;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// When rows go from one step to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Rows of a row group of Parquet.
    pub(crate) row_group_rows: usize,
    /// A segment is full with so many rows,
    pub(crate) segment_rows: u64,
    /// or so many bytes.
    pub(crate) segment_bytes: u64,
    /// Rows wait in memory so long at most.
    pub(crate) wait: Duration,
    /// Rows are in the hands of the system so long at most before it is asked to put them on the disk.
    pub(crate) sync: Duration,
    /// Bytes that a run holds in reserve, so that its end can be stored on a full disk.
    pub(crate) reserve: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            row_group_rows: ROW_GROUP_ROWS,
            segment_rows: 8 * ROW_GROUP_ROWS as u64,
            segment_bytes: 512 << 20,
            wait: Duration::from_millis(50),
            sync: Duration::from_millis(400),
            reserve: 256 << 10,
        }
    }
}

/// Where the points of a run are written.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) storage: Arc<dyn Storage>,
    /// The directory of the sample files.
    pub(crate) samples: PathBuf,
    pub(crate) address: String,
    pub(crate) layout: Layout,
    pub(crate) limits: Limits,
}

/// A write that failed: to which file, and why.
pub(crate) struct WriteError {
    pub(crate) path: PathBuf,
    pub(crate) cause: io::Error,
}

impl WriteError {
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> WriteError + use<> {
        let path = path.to_owned();
        move |cause| WriteError { path, cause }
    }
}

impl From<WriteError> for RunError {
    fn from(error: WriteError) -> RunError {
        RunError::io("write samples to", &error.path)(error.cause)
    }
}
