//! A run directory that is read: finished, still being written, or left by a crash.

use crate::columns::Layout;
use crate::error::RunError;
use crate::point_writer::file_name;
use crate::run_file::RunFile;
use crate::sample_reader::SampleReader;
use std::path::{Path, PathBuf};

/// A run on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Its directory.
    pub dir: PathBuf,
    /// Its `run.json`, as it was when the run was opened.
    pub file: RunFile,
}

impl Run {
    /// Opens a run. One that is still being written, or whose writer was killed, gives the points
    /// that are finished.
    pub fn open(dir: &Path) -> Result<Run, RunError> {
        Ok(Run {
            dir: dir.to_owned(),
            file: RunFile::read(dir)?,
        })
    }

    /// The samples of a point, by its position in `file.points`.
    pub fn samples(&self, point: usize) -> Result<SampleReader, RunError> {
        let summary = self
            .file
            .points
            .get(point)
            .ok_or_else(|| RunError::NoSuchPoint {
                path: self.dir.clone(),
                point,
                points: self.file.points.len(),
            })?;
        let path = self
            .dir
            .join("samples")
            .join(file_name(summary.point.index));
        let layout = Layout {
            point: false,
            data: self.file.plan.keep_data,
        };
        SampleReader::open(&path, layout, summary.point)
    }

    /// The last part of the directory's path.
    pub fn name(&self) -> String {
        let full = self.dir.canonicalize();
        let dir = full.as_deref().unwrap_or(&self.dir);
        dir.file_name()
            .unwrap_or(dir.as_os_str())
            .to_string_lossy()
            .into_owned()
    }
}
