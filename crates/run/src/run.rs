//! A run directory that is read: finished, still being written, or left by a crash.

use crate::ending::{self, Depth, Progress};
use crate::error::RunError;
use crate::exchange::Exchange;
use crate::kind::RunKind;
use crate::layout::Layout;
use crate::part::Source;
use crate::run_file::{RunFile, Text};
use crate::sample_reader::{Extent, SampleReader};
use std::path::{Path, PathBuf};

/// A run on disk, of one kind. [`AnyRun`](crate::AnyRun) opens what may be of any.
#[derive(Clone, Debug, PartialEq)]
pub struct Run<K: RunKind = Exchange> {
    /// Its directory.
    pub dir: PathBuf,
    /// Its `run.json`, as it was when the run was opened, with a summary of each point that was begun and not ended.
    pub file: RunFile<K>,
    /// What else is known of it.
    pub progress: Progress,
}

impl<K: RunKind> Run<K> {
    /// A run with this `run.json`.
    pub fn new(dir: PathBuf, file: RunFile<K>) -> Run<K> {
        Run {
            dir,
            progress: Progress::of_file(&file),
            file,
        }
    }

    pub(crate) fn load(dir: &Path, text: Text, depth: Depth) -> Result<Run<K>, RunError> {
        let (file, progress) = ending::load(dir, text, depth)?;
        Ok(Run {
            dir: dir.to_owned(),
            file,
            progress,
        })
    }

    /// How the run ended, in a sentence; `None` if it was measured and stored to its end.
    pub fn ending_line(&self) -> Option<String> {
        ending::line(&self.file, &self.progress)
    }

    /// The state in a word for a table.
    pub fn state_word(&self) -> &'static str {
        ending::state_word(&self.file.state, self.progress.life)
    }

    /// What `samples` gives, for this crate.
    pub(crate) fn all_samples(&self, point: usize) -> Result<SampleReader<K>, RunError> {
        self.open_samples(point, (0..K::COLUMNS.len()).collect())
    }

    /// Positions of columns by their names.
    pub(crate) fn places(&self, columns: &[&str]) -> Result<Vec<usize>, RunError> {
        let places = columns.iter().map(|name| {
            let place = K::COLUMNS.iter().position(|column| column.name == *name);
            place.ok_or_else(|| RunError::Misuse {
                doing: "read samples",
                path: self.dir.clone(),
                problem: format!("no column `{name}`"),
            })
        });
        places.collect()
    }

    /// What the rows of a point amount to.
    pub(crate) fn summary(&self, point: usize) -> Result<&K::Summary, RunError> {
        let points = &self.file.points;
        points.get(point).ok_or_else(|| RunError::NoSuchPoint {
            path: self.dir.clone(),
            point,
            points: points.len(),
        })
    }

    pub(crate) fn open_samples(
        &self,
        point: usize,
        wanted: Vec<usize>,
    ) -> Result<SampleReader<K>, RunError> {
        let point = K::point(self.summary(point)?);
        let layout = Layout::of_point::<K>(&self.file.plan);
        let index = K::index(&point);
        let mut stored = self.file.stored.iter();
        let extent = match stored.find(|stored| stored.point == index) {
            Some(stored) => Extent::Rows(stored.rows),
            None => Extent::OneFile,
        };
        SampleReader::open(Source::new(&self.dir, layout, point, wanted), extent)
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
