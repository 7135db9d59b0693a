//! The rows of the point in progress, on their way to disk.

use crate::conversion::Conversion;
use crate::error::RunError;
use crate::exchange::Exchange;
use crate::journal::Head;
use crate::journal_writer::JournalWriter;
use crate::kind::RunKind;
use crate::place::{Place, WriteError};
use crate::point_progress::PointProgress;
use crate::segment::{JOURNAL, file_name};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Takes the rows of one point. It can be sent to the thread that drains the measuring loop;
/// [`RunWriter::end_point`](crate::RunWriter::end_point) takes it back.
///
/// A row costs an encoding in memory. Rows are in a file 50 ms later, where [`tick`](PointWriter::tick) is called at
/// least that often, and on the disk half a second after that; another thread waits for the disk. Each million rows become
/// Parquet where nothing else wants the processor, else at the end of the point.
pub struct PointWriter<K: RunKind = Exchange> {
    point: K::Point,
    place: Place,
    progress: Arc<PointProgress>,
    /// `None` after an error.
    journal: Option<JournalWriter<K>>,
    /// Since when the oldest row waits for its frame.
    waiting_since: Option<Duration>,
    /// Frames were written since the last request to put them on the disk, which was then.
    unsynced: bool,
    synced_at: Duration,
    syncing: Arc<AtomicBool>,
}

/// How many rows go by between two looks at the clock.
const LOOK: u32 = 64;

impl<K: RunKind> PointWriter<K> {
    /// Where no file can be begun, the first call says so.
    pub(crate) fn create(place: Place, point: K::Point) -> PointWriter<K> {
        let mut writer = PointWriter {
            point,
            synced_at: place.storage.now(),
            place,
            progress: Arc::default(),
            journal: None,
            waiting_since: None,
            unsynced: false,
            syncing: Arc::default(),
        };
        match writer.begin_segment(0, 0) {
            Ok(journal) => writer.journal = Some(journal),
            Err(error) => writer.progress.fail(error),
        }
        writer
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

    /// What `push` does.
    pub(crate) fn take(&mut self, row: &K::Row, data: &[u8]) -> Result<(), RunError> {
        self.progress.taken.fetch_add(1, Ordering::Relaxed);
        self.check()?;
        let Some(journal) = &mut self.journal else {
            return Ok(());
        };
        journal.push(row, data);
        let waiting = journal.waiting();
        if journal.is_full() {
            let appended = self.append().and_then(|()| self.end_full_segment());
            self.settle_failure(appended)?;
        }
        if waiting % LOOK == 1 {
            self.hand_on()?;
        }
        Ok(())
    }

    /// What `tick` does.
    pub(crate) fn hand_on(&mut self) -> Result<(), RunError> {
        self.check()?;
        let now = self.place.storage.now();
        let waiting = self.journal.as_ref().map_or(0, JournalWriter::waiting);
        if waiting > 0 {
            let since = *self.waiting_since.get_or_insert(now);
            if now.saturating_sub(since) >= self.place.limits.wait {
                let appended = self.append().and_then(|()| self.end_full_segment());
                self.settle_failure(appended)?;
            }
        }
        self.sync_if_due(now);
        Ok(())
    }

    /// What `flush` does.
    pub(crate) fn append_now(&mut self) -> Result<(), RunError> {
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
        let Some(mut journal) = self.journal.take() else {
            return;
        };
        let _ = journal.append();
        let stored = &self.progress.stored;
        stored.store(journal.stored(), Ordering::Relaxed);
        self.sync(&journal);
    }

    fn append(&mut self) -> Result<(), WriteError> {
        let Some(journal) = &mut self.journal else {
            return Ok(());
        };
        if journal.waiting() > 0 {
            journal.append()?;
            self.unsynced = true;
            let stored = &self.progress.stored;
            stored.store(journal.stored(), Ordering::Relaxed);
        }
        self.waiting_since = None;
        Ok(())
    }

    /// Asks for the disk if that is due and was not asked for already.
    fn sync_if_due(&mut self, now: Duration) {
        let Some(journal) = &self.journal else {
            return;
        };
        let is_due = now.saturating_sub(self.synced_at) >= self.place.limits.sync;
        if self.unsynced && is_due && !self.syncing.load(Ordering::Acquire) {
            self.sync(journal);
            self.unsynced = false;
            self.synced_at = now;
        }
    }

    /// Makes a journal and its name last, in another thread: a slow disk must not stop the caller.
    fn sync(&self, journal: &JournalWriter<K>) {
        self.syncing.store(true, Ordering::Release);
        let (file, path) = (journal.file(), journal.path().to_owned());
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

    fn begin_segment(&self, number: u32, first_row: u64) -> Result<JournalWriter<K>, WriteError> {
        let name = file_name(K::index(&self.point), number, JOURNAL);
        let path = self.place.samples.join(name);
        let head = Head::new(self.point, self.place.layout, number, first_row);
        let journal = JournalWriter::create(&*self.place.storage, path, &head, self.place.layout)?;
        let segments = &self.progress.segments;
        segments.store(number + 1, Ordering::Relaxed);
        Ok(journal)
    }

    /// Begins the next segment if this one is full. All its rows must be in the file.
    fn end_full_segment(&mut self) -> Result<(), WriteError> {
        let Some(journal) = &self.journal else {
            return Ok(());
        };
        let limits = &self.place.limits;
        let rows = journal.stored() - journal.first_row();
        if rows < limits.segment_rows && journal.length() < limits.segment_bytes {
            return Ok(());
        }
        let number = self.progress.segments.load(Ordering::Relaxed);
        let next = self.begin_segment(number, journal.stored())?;
        if let Some(full) = self.journal.replace(next) {
            // Its rows must not wait for the disk longer because they fill a segment.
            self.sync(&full);
            self.unsynced = false;
            self.convert(number - 1, &full);
        }
        Ok(())
    }

    fn convert(&self, segment: u32, journal: &JournalWriter<K>) {
        let (place, progress) = (self.place.clone(), Arc::clone(&self.progress));
        let mut conversion = Conversion::new(place, progress, self.point, segment, journal);
        let storage = &self.place.storage;
        storage.at_leisure(Box::new(move || conversion.step()));
    }

    /// Completes the files and waits for the disk. All rows that were stored can be read, whatever it returns.
    pub(crate) fn close(mut self, left: &mut dyn FnMut(usize)) -> Result<(), RunError> {
        let flushed = self.append_now();
        if let Some(journal) = self.journal.take() {
            // Its rows must not wait for the disk until they are Parquet.
            self.sync(&journal);
            let segments = self.progress.segments.load(Ordering::Relaxed);
            self.convert(segments - 1, &journal);
        }
        self.place.storage.settle(left);
        flushed.and_then(|()| self.check())
    }
}

/// A point that is given up keeps its rows.
impl<K: RunKind> Drop for PointWriter<K> {
    fn drop(&mut self) {
        self.give_up();
    }
}
