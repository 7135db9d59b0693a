//! Samples out of Parquet, a few thousand at a time, so that reading a file needs no more memory
//! for a hundred million samples than for one row group. The file is not trusted.

use crate::columns::Kind;
use crate::error::RunError;
use crate::exchange::Exchange;
use crate::kind::RunKind;
use crate::layout::Layout;
use crate::run_file::SCHEMA;
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Rows decoded at once.
const BATCH: usize = 2048;

/// The rows of one point, in the order in which they were pushed; with each, the bytes of its
/// answer where the run kept them. After an error it ends.
pub struct SampleReader<K: RunKind = Exchange> {
    path: PathBuf,
    file: SerializedFileReader<File>,
    /// Positions in `K::COLUMNS` of those that are read; the other fields stay at their default.
    wanted: Vec<usize>,
    /// One for each wanted column of the row group being read; empty between row groups.
    columns: Vec<ColumnReader>,
    next_row_group: usize,
    rows_left_in_group: u64,
    rows: u64,
    rows_left: u64,
    samples: Vec<K::Row>,
    data: Option<Vec<ByteArray>>,
    data_column: usize,
    next: usize,
    scratch: Scratch,
}

/// Decoded values on their way into samples, kept for their memory.
#[derive(Default)]
struct Scratch {
    wide: Vec<i64>,
    narrow: Vec<i32>,
    real: Vec<f64>,
    names: Vec<ByteArray>,
}

impl<K: RunKind> SampleReader<K> {
    /// Opens a sample file and checks that it is one of ours and of this point. `wanted` are the
    /// positions of the columns to read; the bytes of the answers are read with all columns only.
    pub(crate) fn open(
        path: &Path,
        layout: Layout,
        point: K::Point,
        wanted: Vec<usize>,
    ) -> Result<SampleReader<K>, RunError> {
        let bad = |problem: String| RunError::BadSamples {
            path: path.to_owned(),
            problem,
        };
        let file = File::open(path).map_err(|cause| bad(cause.to_string()))?;
        if !file.metadata().is_ok_and(|m| m.is_file()) {
            return Err(bad("it is not a file".to_owned()));
        }
        let file = contained(|| SerializedFileReader::new(file))
            .map_err(&bad)?
            .map_err(|error| {
                bad(format!(
                    "it is not a complete Parquet file ({})",
                    text(&error)
                ))
            })?;
        let metadata = file.metadata().file_metadata();
        let value = |key: &str| {
            let pairs = metadata.key_value_metadata()?;
            pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
        };
        let schema = value("wiregauge.schema").and_then(|text| text.parse::<u32>().ok());
        match schema {
            None | Some(0) => {
                return Err(bad("it is Parquet, but not written by wiregauge".to_owned()));
            }
            Some(found) if found > SCHEMA => {
                return Err(RunError::NewerSchema {
                    path: path.to_owned(),
                    found: found.into(),
                    known: SCHEMA,
                });
            }
            Some(_) => {}
        }
        let stored = value("wiregauge.point").and_then(|text| serde_json::from_str(text).ok());
        if stored != Some(point) {
            return Err(bad("its point differs from run.json".to_owned()));
        }
        let mismatch = layout
            .mismatch::<K>(metadata.schema_descr())
            .map_err(|e| bad(text(&e)))?;
        if let Some(problem) = mismatch {
            return Err(bad(problem));
        }
        let data = (layout.data && wanted.len() == K::COLUMNS.len()).then(Vec::new);
        let columns = layout.columns::<K>();
        let wanted = wanted.into_iter().filter(|&at| at < columns.len());
        let rows = u64::try_from(metadata.num_rows())
            .map_err(|_| bad("it declares a negative number of rows".to_owned()))?;
        Ok(SampleReader {
            path: path.to_owned(),
            file,
            data,
            data_column: columns.len(),
            wanted: wanted.collect(),
            columns: Vec::new(),
            next_row_group: 0,
            rows_left_in_group: 0,
            rows,
            rows_left: rows,
            samples: Vec::new(),
            next: 0,
            scratch: Scratch::default(),
        })
    }

    /// How many rows the file says that it has.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The next rows, some thousands at once and without the bytes of the answers; `None` at the
    /// end. What [`Iterator::next`] gives one by one, at a fraction of the cost.
    pub fn next_rows(&mut self) -> Option<Result<&[K::Row], RunError>> {
        match self.make_ready()? {
            Ok(()) => {
                let from = std::mem::replace(&mut self.next, self.samples.len());
                Some(Ok(&self.samples[from..]))
            }
            Err(error) => Some(Err(error)),
        }
    }

    /// Sees to it that there is a row at `next`; `None` at the end of the file.
    fn make_ready(&mut self) -> Option<Result<(), RunError>> {
        if self.next < self.samples.len() {
            return Some(Ok(()));
        }
        match contained(|| self.fill()).and_then(|filled| filled) {
            Ok(true) => Some(Ok(())),
            Ok(false) => None,
            Err(problem) => {
                self.columns.clear();
                self.samples.clear();
                self.next = 0;
                self.next_row_group = self.file.num_row_groups();
                self.rows_left_in_group = 0;
                self.rows_left = 0;
                Some(Err(RunError::BadSamples {
                    path: self.path.clone(),
                    problem,
                }))
            }
        }
    }

    /// Decodes the next batch; false at the end of the file.
    fn fill(&mut self) -> Result<bool, String> {
        while self.rows_left_in_group == 0 {
            if self.next_row_group == self.file.num_row_groups() {
                if self.rows_left != 0 {
                    return Err(format!("{} rows are missing", self.rows_left));
                }
                return Ok(false);
            }
            self.open_row_group()?;
        }
        let rows = usize::try_from(self.rows_left_in_group).map_or(BATCH, |rows| rows.min(BATCH));
        // What is wanted is overwritten in every row, and the rest was never set.
        self.samples.resize(rows, K::Row::default());
        self.next = 0;
        let (columns, data) = self.columns.split_at_mut(self.wanted.len());
        for (reader, &at) in columns.iter_mut().zip(&self.wanted) {
            let column = &K::COLUMNS[at];
            self.scratch
                .read(reader, &column.kind, &mut self.samples)
                .map_err(|problem| {
                    format!(
                        "column `{}`, row group {}: {problem}",
                        column.name,
                        self.next_row_group - 1
                    )
                })?;
        }
        if let (Some(values), Some(reader)) = (&mut self.data, data.first_mut()) {
            read_bytes(reader, rows, values).map_err(|e| {
                format!("column `data`, row group {}: {e}", self.next_row_group - 1)
            })?;
        }
        self.rows_left_in_group -= rows as u64;
        self.rows_left = self
            .rows_left
            .checked_sub(rows as u64)
            .ok_or_else(|| "it has more rows than declared".to_owned())?;
        Ok(true)
    }

    fn open_row_group(&mut self) -> Result<(), String> {
        let group = self
            .file
            .get_row_group(self.next_row_group)
            .map_err(|e| text(&e))?;
        let rows = group.metadata().num_rows();
        self.rows_left_in_group = u64::try_from(rows)
            .map_err(|_| format!("row group {} declares {rows} rows", self.next_row_group))?;
        // The Parquet crate takes these three for granted and panics.
        let sound = group.metadata().columns().iter().all(|column| {
            column.data_page_offset() >= 0
                && column
                    .dictionary_page_offset()
                    .is_none_or(|offset| offset >= 0)
                && column.compressed_size() >= 0
        });
        if !sound {
            return Err(format!(
                "row group {} has an invalid offset",
                self.next_row_group
            ));
        }
        let data = self.data.is_some().then_some(self.data_column);
        let wanted = self.wanted.iter().copied().chain(data);
        self.columns = wanted
            .map(|column| group.get_column_reader(column))
            .collect::<Result<_, _>>()
            .map_err(|e| text(&e))?;
        self.next_row_group += 1;
        Ok(())
    }
}

impl<K: RunKind> Iterator for SampleReader<K> {
    type Item = Result<(K::Row, Option<Vec<u8>>), RunError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Err(error) = self.make_ready()? {
            return Some(Err(error));
        }
        let at = self.next;
        self.next += 1;
        let data = self.data.as_ref().map(|values| values[at].data().to_vec());
        Some(Ok((self.samples[at], data)))
    }
}

impl Scratch {
    /// Fills one field of all `samples` from its column.
    fn read<R>(
        &mut self,
        reader: &mut ColumnReader,
        kind: &Kind<R>,
        samples: &mut [R],
    ) -> Result<(), String> {
        let rows = samples.len();
        match (kind, reader) {
            (Kind::Wide { set, .. }, ColumnReader::Int64ColumnReader(reader)) => {
                self.wide.clear();
                let read = reader.read_records(rows, None, None, &mut self.wide);
                complete(read, rows)?;
                samples
                    .iter_mut()
                    .zip(&self.wide)
                    .for_each(|(s, v)| set(s, v.cast_unsigned()));
            }
            (Kind::Narrow { set, .. }, ColumnReader::Int32ColumnReader(reader)) => {
                self.narrow.clear();
                let read = reader.read_records(rows, None, None, &mut self.narrow);
                complete(read, rows)?;
                samples
                    .iter_mut()
                    .zip(&self.narrow)
                    .for_each(|(s, v)| set(s, v.cast_unsigned()));
            }
            (Kind::Real { set, .. }, ColumnReader::DoubleColumnReader(reader)) => {
                self.real.clear();
                let read = reader.read_records(rows, None, None, &mut self.real);
                complete(read, rows)?;
                samples
                    .iter_mut()
                    .zip(&self.real)
                    .for_each(|(s, v)| set(s, *v));
            }
            (Kind::Name { names, set, .. }, reader) => {
                read_bytes(reader, rows, &mut self.names)?;
                // Values of one dictionary share their bytes, and all of a batch are held until here:
                // the same place is the same name. Nearly every name is the one before it.
                let mut before: Option<(&[u8], u8)> = None;
                for (sample, name) in samples.iter_mut().zip(&self.names) {
                    if let Some((data, number)) = before
                        && std::ptr::eq(data, name.data())
                    {
                        set(sample, number);
                        continue;
                    }
                    match names.iter().position(|n| n.as_bytes() == name.data()) {
                        // No list is longer than a byte can count.
                        Some(number) => {
                            set(sample, number as u8);
                            before = Some((name.data(), number as u8));
                        }
                        None => {
                            let name = String::from_utf8_lossy(&name.data()[..name.len().min(40)]);
                            return Err(format!("`{}` is not a valid value", name.escape_debug()));
                        }
                    }
                }
            }
            _ => return Err("its type differs from the schema".to_owned()),
        }
        Ok(())
    }
}

fn read_bytes(
    reader: &mut ColumnReader,
    rows: usize,
    values: &mut Vec<ByteArray>,
) -> Result<(), String> {
    let ColumnReader::ByteArrayColumnReader(reader) = reader else {
        return Err("its type differs from the schema".to_owned());
    };
    values.clear();
    complete(reader.read_records(rows, None, None, values), rows)
}

/// Turns a panic into an error. The Parquet crate checks most of what a file claims, but has
/// assertions that a damaged file can reach (found by the tests of damage); one bad file must not
/// end a program that lists or exports many. What it left half done is not used again.
fn contained<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        format!(
            "it is damaged ({})",
            text.unwrap_or("the Parquet reader failed")
        )
    })
}

/// Holds the reader to the number of rows that the row group has.
fn complete(read: Result<(usize, usize, usize), ParquetError>, rows: usize) -> Result<(), String> {
    match read {
        Ok((_, values, _)) if values == rows => Ok(()),
        Ok((_, values, _)) => Err(format!(
            "{} rows are missing at the end",
            rows.saturating_sub(values)
        )),
        Err(error) => Err(text(&error)),
    }
}

/// The Parquet crate's message without its own prefix.
fn text(error: &ParquetError) -> String {
    let text = error.to_string();
    text.strip_prefix("Parquet error: ")
        .map(str::to_owned)
        .unwrap_or(text)
}
