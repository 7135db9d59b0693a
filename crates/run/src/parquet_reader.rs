//! Rows out of a Parquet file, a few thousand at a time, so that reading a file needs no more memory
//! for a hundred million rows than for one row group. The file is not trusted.

use crate::columns::Kind;
use crate::error::RunError;
use crate::kind::RunKind;
use crate::part::{BATCH, Batch, Part, Source};
use crate::run_file::SCHEMA;
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fs::File;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// A Parquet file of rows that is being read.
pub(crate) struct ParquetReader<K: RunKind> {
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
    first_row: u64,
    with_data: bool,
    data_column: usize,
    scratch: Scratch,
    kind: PhantomData<fn(K)>,
}

/// Decoded values on their way into samples, kept for their memory.
#[derive(Default)]
struct Scratch {
    wide: Vec<i64>,
    narrow: Vec<i32>,
    real: Vec<f64>,
    names: Vec<ByteArray>,
}

impl<K: RunKind> ParquetReader<K> {
    /// Opens a file and checks that it is one of ours and holds this segment of the point.
    pub(crate) fn open(
        file: File,
        path: &Path,
        source: &Source<K>,
        segment: u32,
    ) -> Result<ParquetReader<K>, RunError> {
        let bad = |problem: String| RunError::BadSamples {
            path: path.to_owned(),
            problem,
        };
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
        if stored != Some(source.point) {
            return Err(bad("its point differs from run.json".to_owned()));
        }
        // Files of format 1 are whole points.
        let number = |key| value(key).map_or(Some(0), |text| text.parse::<u64>().ok());
        let (Some(found), Some(first_row)) =
            (number("wiregauge.segment"), number("wiregauge.first_row"))
        else {
            return Err(bad("it does not say which segment it is".to_owned()));
        };
        if found != u64::from(segment) {
            return Err(bad(format!("it is segment {found}, expected {segment}")));
        }
        let mismatch = source
            .layout
            .mismatch::<K>(metadata.schema_descr())
            .map_err(|e| bad(text(&e)))?;
        if let Some(problem) = mismatch {
            return Err(bad(problem));
        }
        let columns = source.layout.columns::<K>();
        let wanted = source
            .wanted
            .iter()
            .copied()
            .filter(|&at| at < columns.len());
        let rows = u64::try_from(metadata.num_rows())
            .map_err(|_| bad("it declares a negative number of rows".to_owned()))?;
        Ok(ParquetReader {
            path: path.to_owned(),
            wanted: wanted.collect(),
            columns: Vec::new(),
            next_row_group: 0,
            rows_left_in_group: 0,
            rows,
            rows_left: rows,
            first_row,
            with_data: source.with_data,
            data_column: columns.len(),
            scratch: Scratch::default(),
            kind: PhantomData,
            file,
        })
    }

    /// How many rows the file says that it has.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Number of the row behind the last one of the point that it holds.
    pub(crate) fn end(&self) -> u64 {
        self.first_row.saturating_add(self.rows)
    }

    /// Decodes the next batch; false at the end of the file.
    fn decode(&mut self, batch: &mut Batch<K>) -> Result<bool, String> {
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
        batch.rows.resize(rows, K::Row::default());
        let (columns, data) = self.columns.split_at_mut(self.wanted.len());
        for (reader, &at) in columns.iter_mut().zip(&self.wanted) {
            let column = &K::COLUMNS[at];
            self.scratch
                .read(reader, &column.kind, &mut batch.rows)
                .map_err(|problem| {
                    format!(
                        "column `{}`, row group {}: {problem}",
                        column.name,
                        self.next_row_group - 1
                    )
                })?;
        }
        if let Some(reader) = data.first_mut() {
            read_bytes(reader, rows, &mut batch.data).map_err(|e| {
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
        let data = self.with_data.then_some(self.data_column);
        let wanted = self.wanted.iter().copied().chain(data);
        self.columns = wanted
            .map(|column| group.get_column_reader(column))
            .collect::<Result<_, _>>()
            .map_err(|e| text(&e))?;
        self.next_row_group += 1;
        Ok(())
    }
}

impl<K: RunKind> Part<K> for ParquetReader<K> {
    fn first_row(&self) -> u64 {
        self.first_row
    }

    fn fill(&mut self, batch: &mut Batch<K>) -> Result<bool, RunError> {
        let decoded = contained(|| self.decode(batch)).and_then(|decoded| decoded);
        decoded.map_err(|problem| RunError::BadSamples {
            path: self.path.clone(),
            problem,
        })
    }
}

/// The point whose rows a file holds; `None` if it does not say.
pub(crate) fn point_of<K: RunKind>(file: File) -> Option<K::Point> {
    let file = contained(|| SerializedFileReader::new(file)).ok()?.ok()?;
    let pairs = file.metadata().file_metadata().key_value_metadata()?;
    let point = pairs.iter().find(|pair| pair.key == "wiregauge.point")?;
    serde_json::from_str(point.value.as_deref()?).ok()
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
