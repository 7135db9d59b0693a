//! A run for other programs: CSV (one row a sample), one Parquet file of all points, or JSON.
//! CSV is formatted here and not by a crate, because no field can ever need quoting.

use crate::disk::Disk;
use crate::error::RunError;
use crate::kind::RunKind;
use crate::layout::Layout;
use crate::run::Run;
use crate::run_file::SCHEMA;
use crate::sample_file::{ROW_GROUP_ROWS, SampleFile};
use crate::segment::point_json;
use crate::storage;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Text loaded before it is handed to the output.
const BUFFER: usize = 64 << 10;

/// Writes one CSV row for each sample of all finished points, and gives their number. Times are
/// microseconds with three decimals; `with_data` adds the bytes of each answer in hexadecimal and
/// fails where the run did not keep them.
pub fn write_csv<K: RunKind>(
    run: &Run<K>,
    out: &mut dyn Write,
    with_data: bool,
) -> Result<u64, RunError> {
    let mut csv = CsvWriter::new(run, out, with_data)?;
    let mut rows = 0;
    for at in 0..run.file.points.len() {
        rows += csv.point(run, at)?;
    }
    Ok(rows)
}

/// The same point by point, so that what is finished is there while the run goes on, and after a
/// crash.
pub struct CsvWriter<W: Write> {
    out: W,
    with_data: bool,
    text: Vec<u8>,
}

impl<W: Write> CsvWriter<W> {
    /// Writes the heads of the columns.
    pub fn new<K: RunKind>(
        run: &Run<K>,
        out: W,
        with_data: bool,
    ) -> Result<CsvWriter<W>, RunError> {
        if with_data && !K::keeps_data(&run.file.plan) {
            return Err(RunError::NoData {
                path: run.dir.clone(),
            });
        }
        let mut text = Vec::with_capacity(2 * BUFFER);
        text.extend_from_slice(K::CSV.as_bytes());
        text.extend_from_slice(if with_data { b",data_hex\n" } else { b"\n" });
        let mut csv = CsvWriter {
            out,
            with_data,
            text,
        };
        csv.flush()?;
        Ok(csv)
    }

    /// Writes the rows of a finished point, by its position in `run.file.points`, and gives their
    /// number. All of them have left this program when it returns.
    pub fn point<K: RunKind>(&mut self, run: &Run<K>, at: usize) -> Result<u64, RunError> {
        let point = K::point(run.summary(at)?);
        let mut rows = 0;
        for sample in run.samples(at)? {
            let (sample, data) = sample?;
            K::csv_row(&mut self.text, &point, &sample).map_err(failed)?;
            if self.with_data {
                self.text.push(b',');
                hexadecimal(&mut self.text, data.as_deref().unwrap_or_default());
            }
            self.text.push(b'\n');
            rows += 1;
            if self.text.len() >= BUFFER {
                self.write()?;
            }
        }
        self.flush()?;
        Ok(rows)
    }

    fn write(&mut self) -> Result<(), RunError> {
        self.out.write_all(&self.text).map_err(failed)?;
        self.text.clear();
        Ok(())
    }

    fn flush(&mut self) -> Result<(), RunError> {
        self.write()?;
        self.out.flush().map_err(failed)
    }
}

fn failed(cause: io::Error) -> RunError {
    RunError::Output {
        format: "CSV",
        cause,
    }
}

fn hexadecimal(text: &mut Vec<u8>, data: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in data {
        text.push(DIGITS[usize::from(byte >> 4)]);
        text.push(DIGITS[usize::from(byte & 15)]);
    }
}

/// Writes the samples of all finished points to one Parquet file, with columns in front that tell
/// the points apart, and gives the number of rows. The file appears under its name only when it is
/// whole.
pub fn write_parquet<K: RunKind>(run: &Run<K>, path: &Path) -> Result<u64, RunError> {
    let mut part = OsString::from(path);
    part.push(".part");
    let part = PathBuf::from(part);
    let rows = write_parquet_part(run, &part);
    let result = rows.and_then(|rows| {
        fs::rename(&part, path).map_err(RunError::io("rename to", path))?;
        storage::sync_dir_of(&Disk::new(), path)
            .map_err(RunError::io("save the directory entry of", path))?;
        Ok(rows)
    });
    if result.is_err() {
        let _ = fs::remove_file(&part);
    }
    result
}

fn write_parquet_part<K: RunKind>(run: &Run<K>, path: &Path) -> Result<u64, RunError> {
    let out = File::create(path).map_err(RunError::io("create", path))?;
    let layout = Layout {
        point: true,
        ..Layout::of_point::<K>(&run.file.plan)
    };
    let points: Vec<K::Point> = run.file.points.iter().map(K::point).collect();
    let json: Vec<String> = points.iter().map(point_json).collect();
    let metadata = [
        ("wiregauge.schema", SCHEMA.to_string()),
        ("wiregauge.address", K::address(&run.file.plan).to_owned()),
        ("wiregauge.points", format!("[{}]", json.join(","))),
    ];
    let failed = || RunError::io("write samples to", path);
    let mut file = SampleFile::<K, _>::new(out, layout, &metadata, ROW_GROUP_ROWS)
        .map_err(|cause| failed()(cause))?;
    for (at, point) in points.into_iter().enumerate() {
        file.set_point(point).map_err(|cause| failed()(cause))?;
        for sample in run.samples(at)? {
            let (sample, data) = sample?;
            file.push(&sample, data.as_deref().unwrap_or_default())
                .map_err(|cause| failed()(cause))?;
        }
    }
    let rows = file.rows();
    file.close()
        .and_then(|out| out.sync_all())
        .map_err(failed())?;
    Ok(rows)
}

/// Writes `run.json` as it was read: plan, conditions, summaries. The samples stay in Parquet.
pub fn write_json<K: RunKind>(run: &Run<K>, out: &mut dyn Write) -> Result<(), RunError> {
    let failed = |cause| RunError::Output {
        format: "JSON",
        cause,
    };
    serde_json::to_writer_pretty(&mut *out, &run.file).map_err(|error| failed(error.into()))?;
    out.write_all(b"\n")
        .and_then(|()| out.flush())
        .map_err(failed)
}
