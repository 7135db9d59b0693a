//! The journal of a complete segment into Parquet, step by step. The journal has the same rows and stays until the other
//! file has its name, and where that fails.

use crate::error::RunError;
use crate::journal_reader::JournalReader;
use crate::journal_writer::JournalWriter;
use crate::kind::RunKind;
use crate::part::{BATCH, Batch, Part};
use crate::place::{Place, WriteError};
use crate::point_progress::PointProgress;
use crate::run_file::SCHEMA;
use crate::sample_file::SampleFile;
use crate::segment::{PARQUET, PART, file_name, point_json};
use crate::storage::{Output, StoredFile};
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

/// A journal that becomes Parquet.
pub(crate) struct Conversion<K: RunKind> {
    place: Place,
    progress: Arc<PointProgress>,
    point: K::Point,
    segment: u32,
    first_row: u64,
    rows: u64,
    file: Arc<dyn StoredFile>,
    journal: PathBuf,
    part: PathBuf,
    path: PathBuf,
    /// From the first step on: many may wait, and these take memory.
    open: Option<Open<K>>,
}

/// What is read, and what is written.
struct Open<K: RunKind> {
    journal: JournalReader<K, Box<dyn Read + Send>>,
    batch: Batch<K>,
    parquet: SampleFile<K, Output>,
}

impl<K: RunKind> Conversion<K> {
    /// Of a journal to which nothing is written any more.
    pub(crate) fn new(
        place: Place,
        progress: Arc<PointProgress>,
        point: K::Point,
        segment: u32,
        journal: &JournalWriter<K>,
    ) -> Conversion<K> {
        let named = |ending| {
            let name = file_name(K::index(&point), segment, ending);
            place.samples.join(name)
        };
        Conversion {
            part: named(PART),
            path: named(PARQUET),
            point,
            segment,
            first_row: journal.first_row(),
            rows: journal.stored() - journal.first_row(),
            file: journal.file(),
            journal: journal.path().to_owned(),
            progress,
            place,
            open: None,
        }
    }

    /// Does a part; false once it is done or given up.
    pub(crate) fn step(&mut self) -> bool {
        // A disk that fails needs its room for the journals.
        if self.progress.error().is_none()
            && let Ok(goes_on) = self.advance()
        {
            return goes_on;
        }
        self.open = None;
        let _ = self.place.storage.remove(&self.part);
        let synced = self.file.sync();
        let named = synced.and_then(|()| self.place.storage.sync_dir(&self.place.samples));
        if let Err(cause) = named {
            self.progress.fail(WriteError::at(&self.journal)(cause));
        }
        false
    }

    fn advance(&mut self) -> Result<bool, RunError> {
        let Some(open) = &mut self.open else {
            self.open = Some(self.begin()?);
            return Ok(true);
        };
        if open.journal.fill(&mut open.batch)? {
            let mut data = open.batch.data.iter();
            for row in &open.batch.rows {
                let data = data.next().map_or(&[][..], |data| data.data());
                let pushed = open.parquet.push(row, data);
                pushed.map_err(WriteError::at(&self.part))?;
            }
            return Ok(true);
        }
        if open.parquet.rows() == self.rows
            && let Some(open) = self.open.take()
        {
            self.finish(open.parquet)?;
            return Ok(false);
        }
        Err(RunError::BadSamples {
            path: self.journal.clone(),
            problem: format!("it does not have its {} rows any more", self.rows),
        })
    }

    fn begin(&self) -> Result<Open<K>, RunError> {
        let (storage, layout) = (&self.place.storage, self.place.layout);
        let opened = storage.open(&self.journal);
        let (file, length) = opened.map_err(WriteError::at(&self.journal))?;
        let journal = JournalReader::read(file, length, &self.journal, layout)?;
        let journal = journal.ok_or_else(|| RunError::BadSamples {
            path: self.journal.clone(),
            problem: "it has no head any more".to_owned(),
        })?;
        let metadata = [
            ("wiregauge.schema", SCHEMA.to_string()),
            ("wiregauge.address", self.place.address.clone()),
            ("wiregauge.point", point_json(&self.point)),
            ("wiregauge.segment", self.segment.to_string()),
            ("wiregauge.first_row", self.first_row.to_string()),
        ];
        let rows = self.place.limits.row_group_rows;
        let parquet = storage
            .create(&self.part)
            .and_then(|out| SampleFile::new(Output(out), layout, &metadata, rows));
        Ok(Open {
            journal,
            batch: Batch {
                rows: Vec::with_capacity(BATCH),
                data: Vec::new(),
            },
            parquet: parquet.map_err(WriteError::at(&self.part))?,
        })
    }

    /// Makes the file last, gives it its name and removes the journal.
    fn finish(&self, parquet: SampleFile<K, Output>) -> Result<(), RunError> {
        let storage = &*self.place.storage;
        parquet
            .close()
            .and_then(|out| out.0.sync())
            .map_err(WriteError::at(&self.part))?;
        storage
            .rename(&self.part, &self.path)
            .map_err(WriteError::at(&self.path))?;
        // Only once the name of the one lasts may the other go.
        storage
            .sync_dir(&self.place.samples)
            .map_err(WriteError::at(&self.path))?;
        let _ = storage.remove(&self.journal);
        Ok(())
    }
}
