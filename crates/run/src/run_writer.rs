//! A run directory while it is written.

use crate::disk::Disk;
use crate::error::RunError;
use crate::exchange::Exchange;
use crate::kind::RunKind;
use crate::layout::Layout;
use crate::place::{Limits, Place};
use crate::point_progress::PointProgress;
use crate::point_writer::PointWriter;
use crate::run_file::{RunFile, State, StoredPoint, check_storable, system_words};
use crate::segment::{JOURNAL, PARQUET, file_name};
use crate::storage::{Output, Storage, StoredFile};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wiregauge_record::Conditions;

/// The file that is locked while the writer lives. Its bytes are given up on a full disk.
pub(crate) const LOCK_NAME: &str = "run.lock";

/// Writes one run directory. Dropped without [`finish`](RunWriter::finish), the run reads as after a crash: all rows that
/// were pushed are there.
pub struct RunWriter<K: RunKind = Exchange> {
    dir: PathBuf,
    place: Place,
    file: RunFile<K>,
    lock: Option<Arc<dyn StoredFile>>,
    /// The points that were begun and not ended.
    unfinished: Vec<(u32, Arc<PointProgress>)>,
}

impl<K: RunKind> RunWriter<K> {
    pub(crate) fn with_limits(
        dir: &Path,
        plan: &K::Plan,
        conditions: &Conditions,
        limits: Limits,
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
        let disk = Arc::new(Disk::new());
        let samples = dir.join("samples");
        disk.create_dirs(dir)
            .map_err(RunError::io("create the run directory", dir))?;
        // The one step that only one of two writers of the same directory can take.
        fs::create_dir(&samples).map_err(|cause| match cause.kind() {
            io::ErrorKind::AlreadyExists => RunError::NotEmpty {
                path: dir.to_owned(),
            },
            _ => RunError::io("create", &samples)(cause),
        })?;
        let begun = RunWriter::begin(disk, dir, plan, conditions, limits);
        if begun.is_err() {
            // Leave nothing that looks like a run; only empty directories can go this way.
            let _ = fs::remove_dir(&samples);
            if !existed {
                let _ = fs::remove_dir(dir);
            }
        }
        begun
    }

    /// Begins a run in a directory that has nothing but an empty directory for the samples.
    pub(crate) fn begin(
        storage: Arc<dyn Storage>,
        dir: &Path,
        plan: &K::Plan,
        conditions: &Conditions,
        limits: Limits,
    ) -> Result<RunWriter<K>, RunError> {
        // Locked before `run.json` says that it is running.
        let path = dir.join(LOCK_NAME);
        let lock = match storage.create_locked(&path) {
            Ok(lock) => Some(lock),
            // Readers then can't tell a run that is being written from one that was killed.
            Err(cause) if cause.kind() == io::ErrorKind::Unsupported => {
                let _ = storage.remove(&path);
                None
            }
            Err(cause) => return Err(RunError::io("create", &path)(cause)),
        };
        let reserved = lock.iter().try_for_each(|lock| {
            let reserve = vec![0; limits.reserve];
            Output(Arc::clone(lock)).write_all(&reserve)
        });
        let file = RunFile::new(plan, conditions);
        let begun = reserved
            .map_err(RunError::io("write", &path))
            .and_then(|()| file.replace(&*storage, dir));
        if let Err(error) = begun {
            drop(lock);
            let _ = storage.remove(&path);
            return Err(error);
        }
        let place = Place {
            storage,
            samples: dir.join("samples"),
            address: K::address(plan).to_owned(),
            layout: Layout::of_point::<K>(plan),
            limits,
        };
        Ok(RunWriter {
            dir: dir.to_owned(),
            place,
            file,
            lock,
            unfinished: Vec::new(),
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
        self.replace()
    }

    /// Adds a warning; it reaches the disk with the next point or the end of the run.
    pub fn add_warning(&mut self, text: String) {
        self.file.warnings.push(text);
    }

    /// What ended the run, such as `SIGTERM`; it reaches the disk with the end of the run.
    pub fn set_ended_by(&mut self, signal: &str) {
        self.file.ended_by = Some(signal.to_owned());
    }

    /// What `begin_point` does.
    pub(crate) fn open_point(&mut self, point: K::Point) -> Result<PointWriter<K>, RunError> {
        let index = K::index(&point);
        let is_finished = |done| K::index(&K::point(done)) == index;
        if self.file.points.iter().any(is_finished) {
            return Err(RunError::Misuse {
                doing: "begin a point",
                path: self.dir.clone(),
                problem: format!("point {index} is already finished"),
            });
        }
        self.forget_unfinished(index);
        let writer = PointWriter::create(self.place.clone(), point);
        let progress = Arc::clone(writer.progress());
        self.unfinished.push((index, progress));
        Ok(writer)
    }

    /// Removes what an earlier, unfinished try left.
    fn forget_unfinished(&mut self, index: u32) {
        let Some(at) = self.unfinished.iter().position(|(of, _)| *of == index) else {
            return;
        };
        let (_, progress) = self.unfinished.remove(at);
        self.place.storage.settle(&mut |_| ());
        for segment in (0..progress.segments.load(Ordering::Relaxed)).rev() {
            for ending in [PARQUET, JOURNAL] {
                let path = self.place.samples.join(file_name(index, segment, ending));
                let _ = self.place.storage.remove(&path);
            }
        }
    }

    /// What `end_point` does.
    pub(crate) fn close_point(
        &mut self,
        writer: PointWriter<K>,
        summary: K::Summary,
        left: &mut dyn FnMut(usize),
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
        let index = K::index(&begun);
        let progress = Arc::clone(writer.progress());
        let closed = writer.close(left);
        check_storable("summary of a point", &summary, &self.dir)?;
        self.unfinished.retain(|(of, _)| *of != index);
        self.add_stored(index, &progress);
        self.file.points.push(summary);
        closed.and(self.replace())
    }

    /// Notes how many rows of a point were stored, and what kept the others from it.
    fn add_stored(&mut self, point: u32, progress: &PointProgress) {
        self.file.stored.retain(|earlier| earlier.point != point);
        self.file.stored.push(StoredPoint {
            point,
            rows: progress.stored.load(Ordering::Relaxed),
            taken: progress.taken.load(Ordering::Relaxed),
        });
        if let Some(error) = progress.error() {
            let words = system_words(&error.cause);
            self.file.storage_error.get_or_insert(words);
        }
    }

    fn replace(&self) -> Result<(), RunError> {
        self.file.replace(&*self.place.storage, &self.dir)
    }

    /// What `finish` does.
    pub(crate) fn end(&mut self, state: State) -> Result<(), RunError> {
        self.place.storage.settle(&mut |_| ());
        for (index, progress) in self.unfinished.clone() {
            if progress.stored.load(Ordering::Relaxed) == 0 {
                self.forget_unfinished(index);
            } else {
                self.add_stored(index, &progress);
            }
        }
        self.file.state = state;
        let mut finished = self.replace();
        if finished.is_err()
            && let Some(lock) = &self.lock
            && lock.truncate(0).is_ok()
        {
            finished = self.replace();
        }
        // Readers look for the lock first and then at `run.json` again, so the end is seen.
        self.lock = None;
        let _ = self.place.storage.remove(&self.dir.join(LOCK_NAME));
        finished
    }
}
