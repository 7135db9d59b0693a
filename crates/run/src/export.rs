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

/// The heads of the columns.
pub(crate) fn csv_heads<K: RunKind>(run: &Run<K>, with_data: bool) -> Result<Vec<u8>, RunError> {
    if with_data && !K::keeps_data(&run.file.plan) {
        return Err(RunError::NoData {
            path: run.dir.clone(),
        });
    }
    let mut text = Vec::with_capacity(2 * BUFFER);
    text.extend_from_slice(K::CSV.as_bytes());
    text.extend_from_slice(if with_data { b",data_hex\n" } else { b"\n" });
    Ok(text)
}

/// Sees to it that all text has left this program.
pub(crate) fn flush_csv(text: &mut Vec<u8>, out: &mut dyn Write) -> Result<(), RunError> {
    out.write_all(text).map_err(failed)?;
    text.clear();
    out.flush().map_err(failed)
}

/// The rows of a point; what is left in `text` is still to be written.
pub(crate) fn write_csv_rows<K: RunKind>(
    run: &Run<K>,
    at: usize,
    with_data: bool,
    text: &mut Vec<u8>,
    out: &mut dyn Write,
) -> Result<u64, RunError> {
    let point = K::point(run.summary(at)?);
    let mut rows = 0;
    let mut samples = run.all_samples(at)?;
    while let Some(sample) = samples.read_row() {
        let (sample, data) = sample?;
        K::csv_row(text, &point, &sample).map_err(failed)?;
        if with_data {
            text.push(b',');
            hexadecimal(text, data.as_deref().unwrap_or_default());
        }
        text.push(b'\n');
        rows += 1;
        if text.len() >= BUFFER {
            out.write_all(text).map_err(failed)?;
            text.clear();
        }
    }
    Ok(rows)
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

/// What `write_parquet` of `calls.rs` does.
pub(crate) fn write_parquet<K: RunKind>(run: &Run<K>, path: &Path) -> Result<u64, RunError> {
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
        let mut samples = run.all_samples(at)?;
        while let Some(sample) = samples.read_row() {
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
