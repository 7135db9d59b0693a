//! What is to be read of which point, and what every file with rows of it can do.

use crate::error::RunError;
use crate::kind::RunKind;
use crate::layout::Layout;
use crate::segment::file_name;
use parquet::data_type::ByteArray;
use std::path::{Path, PathBuf};

/// Rows decoded at once.
pub(crate) const BATCH: usize = 2048;

/// Rows that were decoded at once; with each, where that was wanted, the bytes of its answer.
pub(crate) struct Batch<K: RunKind> {
    pub(crate) rows: Vec<K::Row>,
    pub(crate) data: Vec<ByteArray>,
}

/// A file with rows of a point.
pub(crate) trait Part<K: RunKind>: Send {
    /// How many rows of the point are in the files before.
    fn first_row(&self) -> u64;
    /// Replaces the batch by the next rows; false at the end.
    fn fill(&mut self, batch: &mut Batch<K>) -> Result<bool, RunError>;
}

/// What is to be read of which point.
pub struct Source<K: RunKind> {
    /// The directory of the sample files.
    pub(crate) samples: PathBuf,
    pub(crate) layout: Layout,
    pub(crate) point: K::Point,
    /// Positions in `K::COLUMNS` of those that are read.
    pub(crate) wanted: Vec<usize>,
    /// Whether the bytes of the answers are read: with all columns only, where the run kept them.
    pub(crate) with_data: bool,
}

impl<K: RunKind> Source<K> {
    pub(crate) fn new(
        dir: &Path,
        layout: Layout,
        point: K::Point,
        wanted: Vec<usize>,
    ) -> Source<K> {
        Source {
            samples: dir.join("samples"),
            layout,
            point,
            with_data: layout.data && wanted.len() == K::COLUMNS.len(),
            wanted,
        }
    }

    /// Where this segment of the point is, as Parquet or as a journal.
    pub(crate) fn path(&self, segment: u32, ending: &str) -> PathBuf {
        let name = file_name(K::index(&self.point), segment, ending);
        self.samples.join(name)
    }
}
