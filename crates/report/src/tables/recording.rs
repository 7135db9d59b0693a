//! What was recorded of a stream, and whether the storage kept pace.

use super::columns::Columns;
use super::flow_rows::Row;
use super::places::Places;
use super::table::Table;
use wiregauge_quantity::{grouped, time};
use wiregauge_record::Recording;

/// One row for each recording.
pub(super) fn table(rows: &[Row<'_>], places: &Places) -> Option<Table> {
    let recorded = |row: &Row<'_>| row.1.recording.is_some();
    rows.iter().find(|row| recorded(row))?;
    let mut columns = Columns::<Row<'_>>::new();
    let mut add = |head: &str, of: fn(&Recording) -> String| {
        columns.some(head, move |(_, flow)| flow.recording.as_ref().map(of));
    };
    add("file", |one| one.file.clone());
    add("files", |one| one.files.to_string());
    add("bytes", |one| grouped(one.bytes));
    add("missing", |one| grouped(one.missing_bytes));
    add("buffer B", |one| grouped(one.buffer_bytes));
    add("peak waiting B", |one| grouped(one.peak_waiting_bytes));
    add("receiver waited", waited);
    let rows = rows.iter().copied().filter(recorded);
    Some(columns.table("Recording of what was received", places, rows))
}

fn waited(one: &Recording) -> String {
    match one.waits {
        0 => "0".into(),
        1 => format!("{}, once", time(one.waited_ns as f64)),
        waits => format!("{}, {} times", time(one.waited_ns as f64), grouped(waits)),
    }
}

/// `3,000,000 bytes recorded to data.bin`, and what is missing there.
pub(super) fn sentence(rows: &[Row<'_>]) -> Option<String> {
    let one = rows.iter().find_map(|row| row.1.recording.as_ref())?;
    let place = match (one.file.as_str(), one.files) {
        ("-", _) => "to standard output".into(),
        (file, 1) => format!("to {file}"),
        (file, files) => format!("to {file} ({files} files)"),
    };
    let bytes = grouped(one.bytes);
    Some(match one.missing_bytes {
        0 => format!("{bytes} bytes recorded {place}"),
        missing => format!(
            "{bytes} bytes recorded {place}, {} bytes received but not written",
            grouped(missing)
        ),
    })
}
