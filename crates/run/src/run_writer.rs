//! A run directory while it is written: after every point, what is on disk is whole.

use crate::error::RunError;
use crate::exchange::Exchange;
use crate::kind::RunKind;
use crate::layout::Layout;
use crate::point_writer::PointWriter;
use crate::run_file::{RunFile, State, check_storable};
use crate::sample_file::ROW_GROUP_ROWS;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use wiregauge_record::Conditions;

/// Writes one run directory. Dropped without [`finish`](RunWriter::finish), the run stays marked as
/// running, as after a crash.
pub struct RunWriter<K: RunKind = Exchange> {
    dir: PathBuf,
    samples: PathBuf,
    file: RunFile<K>,
    /// Sample files that were begun and not yet completed.
    unfinished: Vec<PathBuf>,
    row_group_rows: usize,
}

impl<K: RunKind> RunWriter<K> {
    /// Makes the directory (and those above it) and stores what is to be measured. Fails where
    /// the directory exists and is not empty.
    pub fn create(
        dir: &Path,
        plan: &K::Plan,
        conditions: &Conditions,
    ) -> Result<RunWriter<K>, RunError> {
        RunWriter::with_row_groups(dir, plan, conditions, ROW_GROUP_ROWS)
    }

    pub(crate) fn with_row_groups(
        dir: &Path,
        plan: &K::Plan,
        conditions: &Conditions,
        row_group_rows: usize,
    ) -> Result<RunWriter<K>, RunError> {
        let existed = match fs::read_dir(dir) {
            Ok(mut entries) => match entries.next() {
                None => true,
                Some(_) => {
                    return Err(RunError::NotEmpty {
                        path: dir.to_owned(),
                    });
                }
            },
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => false,
            Err(cause) => return Err(RunError::io("use the run directory", dir)(cause)),
        };
        check_storable("conditions", conditions, dir)?;
        let samples = dir.join("samples");
        fs::create_dir_all(dir).map_err(RunError::io("create the run directory", dir))?;
        // The one step that only one of two writers of the same directory can take.
        fs::create_dir(&samples).map_err(|cause| match cause.kind() {
            io::ErrorKind::AlreadyExists => RunError::NotEmpty {
                path: dir.to_owned(),
            },
            _ => RunError::io("create", &samples)(cause),
        })?;
        let file = RunFile::new(plan, conditions);
        if let Err(error) = file.replace(dir) {
            // Leave nothing that looks like a run; only empty directories can go this way.
            let _ = fs::remove_dir(&samples);
            if !existed {
                let _ = fs::remove_dir(dir);
            }
            return Err(error);
        }
        Ok(RunWriter {
            dir: dir.to_owned(),
            samples,
            file,
            unfinished: Vec::new(),
            row_group_rows,
        })
    }

    /// The run directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What the next replacement of `run.json` will hold.
    pub fn file(&self) -> &RunFile<K> {
        &self.file
    }

    /// Stores conditions that became known after the start. Costs a replacement of `run.json`,
    /// which waits for the disk.
    pub fn set_conditions(&mut self, conditions: &Conditions) -> Result<(), RunError> {
        check_storable("conditions", conditions, &self.dir)?;
        self.file.conditions = conditions.clone();
        self.file.replace(&self.dir)
    }

    /// Adds a warning; it reaches the disk with the next point or the end of the run.
    pub fn add_warning(&mut self, text: String) {
        self.file.warnings.push(text);
    }

    /// Begins the samples of a point. What an earlier, unfinished try left is overwritten.
    pub fn begin_point(&mut self, point: K::Point) -> Result<PointWriter<K>, RunError> {
        if self
            .file
            .points
            .iter()
            .any(|done| K::index(&K::point(done)) == K::index(&point))
        {
            return Err(RunError::Misuse {
                doing: "begin a point",
                path: self.dir.clone(),
                problem: format!("point {} is already finished", K::index(&point)),
            });
        }
        let plan = &self.file.plan;
        let writer = PointWriter::create(
            &self.samples,
            point,
            K::address(plan),
            Layout::of_point::<K>(plan),
            self.row_group_rows,
        )?;
        self.unfinished.push(writer.part().to_owned());
        Ok(writer)
    }

    /// Completes the samples of a point and adds it to `run.json`. It waits until the disk has
    /// both, so call it between points. After an error, `run.json` on disk is the one before; the
    /// run can still be finished.
    pub fn end_point(
        &mut self,
        writer: PointWriter<K>,
        summary: K::Summary,
    ) -> Result<(), RunError> {
        let (ended, begun) = (K::point(&summary), writer.point());
        if ended != begun {
            return Err(RunError::Misuse {
                doing: "end a point",
                path: self.dir.clone(),
                problem: format!(
                    "the samples belong to point {}, but the summary to point {}",
                    K::index(&begun),
                    K::index(&ended)
                ),
            });
        }
        let part = writer.part().to_owned();
        writer.close()?;
        self.unfinished.retain(|path| *path != part);
        check_storable("summary of a point", &summary, &self.dir)?;
        self.file.points.push(summary);
        self.file.replace(&self.dir)
    }

    /// Stores how the run ended. Samples of a point that was begun and never ended are removed:
    /// without its footer a Parquet file cannot be read, and on a full disk its space is what
    /// lets the end be stored. To keep them, end the point first.
    pub fn finish(&mut self, state: State) -> Result<(), RunError> {
        for part in self.unfinished.drain(..) {
            let _ = fs::remove_file(part);
        }
        self.file.state = state;
        self.file.replace(&self.dir)
    }
}
