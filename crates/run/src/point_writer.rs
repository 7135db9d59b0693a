//! The rows of the point in progress, on their way to disk.

use crate::error::RunError;
use crate::exchange::Exchange;
use crate::kind::RunKind;
use crate::place::{Place, WriteError};
use crate::segment::Segment;
use crate::watched::Failure;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Takes the rows of one point. It can be sent to the thread that drains the measuring loop;
/// [`RunWriter::end_point`](crate::RunWriter::end_point) takes it back.
///
/// A row costs an encoding in memory. Rows are in a file 50 ms later, where [`tick`](PointWriter::tick) is called at
/// least that often, and on the disk half a second after that; another thread waits for the disk. Each 131,072nd row
/// (or, where the bytes of the answers are kept, the one that fills 64 MiB) also costs encoding and writing a row group
/// of Parquet, tens of milliseconds. The caller's queue must hold what is measured in that time.
pub struct PointWriter<K: RunKind = Exchange> {
    point: K::Point,
    place: Place,
    progress: Arc<PointProgress>,
    /// `None` after an error.
    segment: Option<Segment<K>>,
    /// Since when the oldest row waits for its frame.
    waiting_since: Option<Duration>,
    /// Frames were written since the last request to put them on the disk, which was then.
    unsynced: bool,
    synced_at: Duration,
    syncing: Arc<AtomicBool>,
    closing: Arc<AtomicBool>,
}

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

    fn fail(&self, error: WriteError) {
        self.failed
            .get_or_init(|| (error.path, Failure::of(&error.cause)));
    }
}

/// How many rows go by between two looks at the clock.
const LOOK: u32 = 64;

impl<K: RunKind> PointWriter<K> {
    /// Where no file can be begun, the first call says so.
    pub(crate) fn create(place: Place, point: K::Point) -> PointWriter<K> {
        let progress = PointProgress::default();
        progress.segments.store(1, Ordering::Relaxed);
        let segment = match Segment::begin(&place, point, 0, 0) {
            Ok(segment) => Some(segment),
            Err(error) => {
                progress.fail(error);
                None
            }
        };
        PointWriter {
            point,
            synced_at: place.storage.now(),
            place,
            progress: Arc::new(progress),
            segment,
            waiting_since: None,
            unsynced: false,
            syncing: Arc::default(),
            closing: Arc::default(),
        }
    }

    /// The point that it takes the rows of.
    pub fn point(&self) -> K::Point {
        self.point
    }

    /// Rows taken so far, whether they could be stored or not.
    pub fn rows(&self) -> u64 {
        self.progress.taken.load(Ordering::Relaxed)
    }

    pub(crate) fn progress(&self) -> &Arc<PointProgress> {
        &self.progress
    }

    /// Takes one row and the bytes of its answer. The bytes are stored where the plan says
    /// `keep_data`, and ignored elsewhere. After an error every further call fails alike, and its row is counted only.
    pub fn push(&mut self, row: &K::Row, data: &[u8]) -> Result<(), RunError> {
        self.progress.taken.fetch_add(1, Ordering::Relaxed);
        self.check()?;
        let Some(segment) = &mut self.segment else {
            return Ok(());
        };
        segment.journal.push(row, data);
        let pushed = segment.push_to_parquet(row, data);
        let (waiting, is_full) = (segment.journal.waiting(), segment.journal.is_full());
        let is_complete = segment.row_groups() >= self.place.limits.row_groups;
        let stored = pushed.and_then(|()| match (is_complete, is_full) {
            (true, _) => self.next_segment(),
            (false, true) => self.append(),
            (false, false) => Ok(()),
        });
        self.settle_failure(stored)?;
        if waiting % LOOK == 1 {
            self.tick()?;
        }
        Ok(())
    }

    /// Hands rows on whose time has come. To be called every 50 ms or so, whether rows come or not. Fails as
    /// [`push`](PointWriter::push) does.
    pub fn tick(&mut self) -> Result<(), RunError> {
        self.check()?;
        let now = self.place.storage.now();
        let waiting = self.segment.as_ref().map_or(0, |s| s.journal.waiting());
        if waiting > 0 {
            let since = *self.waiting_since.get_or_insert(now);
            if now.saturating_sub(since) >= self.place.limits.wait {
                let appended = self.append();
                self.settle_failure(appended)?;
            }
        }
        self.sync_if_due(now);
        Ok(())
    }

    /// Hands all rows on to the system, so that they outlive this program.
    pub fn flush(&mut self) -> Result<(), RunError> {
        self.check()?;
        let appended = self.append();
        self.settle_failure(appended)
    }

    fn check(&mut self) -> Result<(), RunError> {
        match self.progress.error() {
            None => Ok(()),
            Some(error) => {
                self.give_up();
                Err(error.into())
            }
        }
    }

    /// After the first error nothing more is stored.
    fn settle_failure(&mut self, stored: Result<(), WriteError>) -> Result<(), RunError> {
        match stored {
            Ok(()) => Ok(()),
            Err(error) => {
                self.progress.fail(error);
                self.check()
            }
        }
    }

    /// Keeps what the journal holds, and what else it can take.
    fn give_up(&mut self) {
        let Some(segment) = self.segment.take() else {
            return;
        };
        let mut journal = segment.keep_journal(&self.place);
        let _ = journal.append();
        self.progress
            .stored
            .store(journal.stored(), Ordering::Relaxed);
        let place = self.place.clone();
        let progress = Arc::clone(&self.progress);
        let job = move || {
            if let Err(error) = journal.sync(&place) {
                progress.fail(error);
            }
        };
        self.place.storage.background(Box::new(job));
    }

    fn append(&mut self) -> Result<(), WriteError> {
        let Some(segment) = &mut self.segment else {
            return Ok(());
        };
        if segment.journal.waiting() > 0 {
            segment.journal.append()?;
            self.unsynced = true;
            self.progress
                .stored
                .store(segment.journal.stored(), Ordering::Relaxed);
        }
        self.waiting_since = None;
        Ok(())
    }

    /// Asks for the disk if that is due and was not asked for already, in another thread: a slow disk must not stop the
    /// caller.
    fn sync_if_due(&mut self, now: Duration) {
        let Some(segment) = &self.segment else {
            return;
        };
        let is_due = now.saturating_sub(self.synced_at) >= self.place.limits.sync;
        if !self.unsynced || !is_due || self.syncing.swap(true, Ordering::Acquire) {
            return;
        }
        self.unsynced = false;
        self.synced_at = now;
        let (file, path) = (segment.journal.file(), segment.journal.path().to_owned());
        let (place, progress) = (self.place.clone(), Arc::clone(&self.progress));
        let syncing = Arc::clone(&self.syncing);
        self.place.storage.background(Box::new(move || {
            let synced = file.sync();
            let named = synced.and_then(|()| place.storage.sync_dir(&place.samples));
            if let Err(cause) = named {
                progress.fail(WriteError::at(&path)(cause));
            }
            syncing.store(false, Ordering::Release);
        }));
    }

    /// Begins the next segment, and has the full one completed by the thread that waits for the disk.
    fn next_segment(&mut self) -> Result<(), WriteError> {
        self.append()?;
        let Some(segment) = &mut self.segment else {
            return Ok(());
        };
        segment.seal()?;
        let (number, rows) = (segment.number + 1, segment.journal.stored());
        // Two at once at most, however slow the disk is: memory stays bounded.
        if self.closing.swap(true, Ordering::Acquire) {
            self.place.storage.settle();
            self.closing.store(true, Ordering::Relaxed);
        }
        let next = Segment::begin(&self.place, self.point, number, rows)?;
        self.progress.segments.store(number + 1, Ordering::Relaxed);
        let Some(full) = self.segment.replace(next) else {
            return Ok(());
        };
        let (place, progress) = (self.place.clone(), Arc::clone(&self.progress));
        let closing = Arc::clone(&self.closing);
        self.place.storage.background(Box::new(move || {
            // Its rows must not wait for the disk longer because they fill a segment.
            let closed = match full.journal.sync(&place) {
                Ok(()) => full.close(&place),
                Err(error) => {
                    full.keep_journal(&place);
                    Err(error)
                }
            };
            if let Err(error) = closed {
                progress.fail(error);
            }
            closing.store(false, Ordering::Release);
        }));
        self.unsynced = false;
        Ok(())
    }

    /// Completes the files and waits for the disk. All rows that were stored can be read, whatever it returns.
    pub(crate) fn close(mut self) -> Result<(), RunError> {
        let flushed = self.flush();
        self.place.storage.settle();
        flushed.and_then(|()| self.check())?;
        if let Some(segment) = self.segment.take()
            && let Err(error) = segment.close(&self.place)
        {
            self.progress.fail(error);
        }
        self.check()
    }
}

/// A point that is given up keeps its rows.
impl<K: RunKind> Drop for PointWriter<K> {
    fn drop(&mut self) {
        self.give_up();
    }
}
