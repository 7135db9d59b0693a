//! The rows of a point, out of the files that hold its segments.

use crate::error::RunError;
use crate::exchange::Exchange;
use crate::journal_reader::JournalReader;
use crate::kind::RunKind;
use crate::parquet_reader::ParquetReader;
use crate::part::{Batch, Part, Source};
use crate::segment::{JOURNAL, PARQUET};
use std::fs::File;
use std::io;
use std::path::Path;

impl<K: RunKind> Source<K> {
    /// The Parquet file of a segment; `None` if there is none.
    pub(crate) fn parquet(&self, segment: u32) -> Result<Option<ParquetReader<K>>, RunError> {
        let path = self.path(segment, PARQUET);
        let file = open_file(&path)?;
        file.map(|file| ParquetReader::open(file, &path, self, segment))
            .transpose()
    }

    /// The journal of a segment; `None` if there is none, or one without rows.
    pub(crate) fn journal(&self, segment: u32) -> Result<Option<JournalReader<K>>, RunError> {
        let path = self.path(segment, JOURNAL);
        let Some(file) = open_file(&path)? else {
            return Ok(None);
        };
        let journal = JournalReader::open(file, &path, self.layout)?;
        journal
            .map(|journal| journal.of_segment(self, segment))
            .transpose()
    }

    fn part(&self, segment: u32) -> Result<Option<Box<dyn Part<K>>>, RunError> {
        if let Some(parquet) = self.parquet(segment)? {
            return Ok(Some(Box::new(parquet)));
        }
        if let Some(journal) = self.journal(segment)? {
            return Ok(Some(Box::new(journal)));
        }
        // The writer may have completed the segment between the two looks.
        let parquet = self.parquet(segment)?;
        Ok(parquet.map(|parquet| Box::new(parquet) as Box<dyn Part<K>>))
    }
}

fn open_file(path: &Path) -> Result<Option<File>, RunError> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(RunError::BadSamples {
            path: path.to_owned(),
            problem: cause.to_string(),
        }),
    }
}

/// How much of a point there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// One Parquet file: a run of format 1.
    OneFile,
    /// So many rows.
    Rows(u64),
    /// Not known: as far as rows follow each other.
    Open,
}

/// A row and, where the run kept them, the bytes of its answer.
pub(crate) type RowRead<K> = Result<(<K as RunKind>::Row, Option<Vec<u8>>), RunError>;

/// The rows of one point, in the order in which they were pushed; with each, the bytes of its
/// answer where the run kept them. After an error it ends.
pub struct SampleReader<K: RunKind = Exchange> {
    source: Source<K>,
    extent: Extent,
    part: Option<Box<dyn Part<K>>>,
    next_segment: u32,
    rows: u64,
    /// Rows of the parts before, and of this one.
    read: u64,
    batch: Batch<K>,
    next: usize,
    has_ended: bool,
}

impl<K: RunKind> SampleReader<K> {
    pub(crate) fn open(source: Source<K>, extent: Extent) -> Result<SampleReader<K>, RunError> {
        let mut reader = SampleReader {
            source,
            extent,
            part: None,
            next_segment: 0,
            rows: 0,
            read: 0,
            batch: Batch {
                rows: Vec::new(),
                data: Vec::new(),
            },
            next: 0,
            has_ended: false,
        };
        match extent {
            Extent::OneFile => {
                let Some(parquet) = reader.source.parquet(0)? else {
                    return Err(reader.missing());
                };
                reader.rows = parquet.rows();
                reader.part = Some(Box::new(parquet));
                reader.next_segment = 1;
            }
            Extent::Rows(rows) => {
                reader.rows = rows;
                // What is wrong with the first file is reported at once.
                reader.next_part()?;
            }
            Extent::Open => {}
        }
        Ok(reader)
    }

    /// How many rows there are.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// What `next_rows` gives, for this crate.
    pub(crate) fn read_rows(&mut self) -> Option<Result<&[K::Row], RunError>> {
        if self.is_taken()
            && let Err(error) = self.make_ready()?
        {
            return Some(Err(error));
        }
        Some(Ok(self.take_rows()))
    }

    /// What [`Iterator::next`] gives, for this crate.
    pub(crate) fn read_row(&mut self) -> Option<RowRead<K>> {
        if self.is_taken()
            && let Err(error) = self.make_ready()?
        {
            return Some(Err(error));
        }
        Some(Ok(self.take_row()))
    }

    /// True if all rows of the batch were taken.
    pub(crate) fn is_taken(&self) -> bool {
        self.next >= self.batch.rows.len()
    }

    pub(crate) fn take_rows(&mut self) -> &[K::Row] {
        let from = std::mem::replace(&mut self.next, self.batch.rows.len());
        &self.batch.rows[from..]
    }

    pub(crate) fn take_row(&mut self) -> (K::Row, Option<Vec<u8>>) {
        let at = self.next;
        self.next += 1;
        let data = self.source.with_data.then(|| {
            let data = self.batch.data.get(at);
            data.map(|data| data.data().to_vec()).unwrap_or_default()
        });
        (self.batch.rows[at], data)
    }

    /// Reads the next batch, once this one was taken; `None` at the end.
    pub(crate) fn make_ready(&mut self) -> Option<Result<(), RunError>> {
        if self.has_ended {
            return None;
        }
        match self.fill() {
            Ok(true) => Some(Ok(())),
            Ok(false) => {
                self.end();
                None
            }
            Err(error) => {
                self.end();
                Some(Err(error))
            }
        }
    }

    fn end(&mut self) {
        self.batch.rows.clear();
        self.next = 0;
        self.part = None;
        self.has_ended = true;
    }

    /// Reads the next batch; false at the end.
    fn fill(&mut self) -> Result<bool, RunError> {
        loop {
            let left = match self.extent {
                Extent::Rows(rows) => rows.saturating_sub(self.read),
                Extent::OneFile | Extent::Open => u64::MAX,
            };
            if left == 0 {
                return Ok(false);
            }
            if let Some(part) = &mut self.part
                && part.fill(&mut self.batch)?
            {
                // A run that is still being written has more rows by now than when it was opened.
                let left = usize::try_from(left).unwrap_or(usize::MAX);
                self.batch.rows.truncate(left);
                self.next = 0;
                self.read += self.batch.rows.len() as u64;
                return Ok(true);
            }
            if self.extent == Extent::OneFile || !self.next_part()? {
                return Ok(false);
            }
        }
    }

    /// Goes on to the next segment; false if there is none where none needs to be.
    fn next_part(&mut self) -> Result<bool, RunError> {
        self.part = self.source.part(self.next_segment)?;
        let first_row = self.part.as_ref().map(|part| part.first_row());
        if first_row == Some(self.read) {
            self.next_segment += 1;
            return Ok(true);
        }
        self.part = None;
        match self.extent {
            Extent::Rows(rows) if rows > self.read => Err(self.missing()),
            _ => Ok(false),
        }
    }

    /// The error for rows that should be there.
    fn missing(&self) -> RunError {
        let path = self.source.path(self.next_segment, PARQUET);
        let problem = match (self.extent, File::open(&path)) {
            (Extent::Rows(rows), _) if self.next_segment > 0 => {
                format!("{} rows are missing", rows.saturating_sub(self.read))
            }
            (_, Err(cause)) => cause.to_string(),
            (_, Ok(_)) => "its rows do not begin with the first".to_owned(),
        };
        RunError::BadSamples { path, problem }
    }
}
