//! One segment of the samples of a point: up to some millions of rows, as a journal while they come and as Parquet
//! once they are complete. A reader takes the Parquet file where it exists and the journal else, so at every moment
//! each row is in exactly one file that counts.

use crate::journal::Head;
use crate::journal_writer::JournalWriter;
use crate::kind::RunKind;
use crate::place::{Place, WriteError};
use crate::run_file::SCHEMA;
use crate::sample_file::SampleFile;
use crate::storage::Output;
use serde::Serialize;
use std::path::PathBuf;

/// A segment that is being written.
pub(crate) struct Segment<K: RunKind> {
    pub(crate) number: u32,
    pub(crate) journal: JournalWriter<K>,
    parquet: SampleFile<K, Output>,
    part: PathBuf,
    path: PathBuf,
}

impl<K: RunKind> Segment<K> {
    pub(crate) fn begin(
        place: &Place,
        point: K::Point,
        number: u32,
        first_row: u64,
    ) -> Result<Segment<K>, WriteError> {
        let file = |ending| {
            place
                .samples
                .join(file_name(K::index(&point), number, ending))
        };
        let (part, path) = (file(PART), file(PARQUET));
        let head = Head::new(point, place.layout, number, first_row);
        let storage = &*place.storage;
        let journal = JournalWriter::create(storage, file(JOURNAL), &head, place.layout)?;
        let parquet = storage.create(&part).and_then(|out| {
            let metadata = [
                ("wiregauge.schema", SCHEMA.to_string()),
                ("wiregauge.address", place.address.clone()),
                ("wiregauge.point", point_json(&point)),
                ("wiregauge.segment", number.to_string()),
                ("wiregauge.first_row", first_row.to_string()),
            ];
            let rows = place.limits.row_group_rows;
            SampleFile::new(Output(out), place.layout, &metadata, rows)
        });
        match parquet {
            Ok(parquet) => Ok(Segment {
                number,
                journal,
                parquet,
                part,
                path,
            }),
            Err(cause) => {
                let _ = storage.remove(&part);
                let _ = storage.remove(journal.path());
                Err(WriteError::at(&part)(cause))
            }
        }
    }

    /// Takes a row into the Parquet file.
    pub(crate) fn push_to_parquet(&mut self, row: &K::Row, data: &[u8]) -> Result<(), WriteError> {
        let pushed = self.parquet.push(row, data);
        pushed.map_err(WriteError::at(&self.part))
    }

    /// No row follows.
    pub(crate) fn seal(&mut self) -> Result<(), WriteError> {
        self.parquet.seal().map_err(WriteError::at(&self.part))
    }

    pub(crate) fn row_groups(&self) -> usize {
        self.parquet.row_groups()
    }

    /// Completes the Parquet file, makes it last, gives it its name and removes the journal. All rows must be in the
    /// journal, which stays where that fails.
    pub(crate) fn close(self, place: &Place) -> Result<(), WriteError> {
        let storage = &*place.storage;
        let completed = self
            .parquet
            .close()
            .and_then(|out| out.0.sync())
            .map_err(WriteError::at(&self.part))
            .and_then(|()| {
                let renamed = storage.rename(&self.part, &self.path);
                renamed.map_err(WriteError::at(&self.path))
            });
        if let Err(error) = completed {
            let _ = storage.remove(&self.part);
            self.journal.sync(place)?;
            return Err(error);
        }
        // Only once the name of the one lasts may the other go.
        let named = storage.sync_dir(&place.samples);
        named.map_err(WriteError::at(&self.path))?;
        let _ = storage.remove(self.journal.path());
        Ok(())
    }

    /// Gives the Parquet file up and keeps the journal, which has the same rows. On a full disk the space of the one
    /// lets the other take its last rows.
    pub(crate) fn keep_journal(self, place: &Place) -> JournalWriter<K> {
        drop(self.parquet);
        let _ = place.storage.remove(&self.part);
        self.journal
    }
}

/// The end of the name of a complete Parquet file.
pub(crate) const PARQUET: &str = ".parquet";
/// Of one that is being written.
pub(crate) const PART: &str = ".parquet.part";
/// Of a journal.
pub(crate) const JOURNAL: &str = ".rows";

/// The name of a file of a segment of a point.
pub(crate) fn file_name(point: u32, segment: u32, ending: &str) -> String {
    match segment {
        0 => format!("point-{point:04}{ending}"),
        _ => format!("point-{point:04}-{segment:04}{ending}"),
    }
}

/// The point whose first segment has this name, if it has rows to read.
pub(crate) fn point_of(name: &str) -> Option<u32> {
    let stem = name.strip_suffix(PARQUET).or(name.strip_suffix(JOURNAL))?;
    let point = stem.strip_prefix("point-")?.parse().ok()?;
    // Only the name that the writer gives: "point-0" is none.
    (file_name(point, 0, "") == stem).then_some(point)
}

/// A point of integers and names, which cannot fail to be JSON.
pub(crate) fn point_json(point: &impl Serialize) -> String {
    serde_json::to_string(point).expect("integers and names are always JSON")
}
