//! What was recorded of a stream, and whether the storage kept pace.

use super::flow_rows::{Row, number};
use super::places::Places;
use super::table::Table;
use wiregauge_quantity::{grouped, time};
use wiregauge_record::Recording;

/// One row for each recording.
pub(super) fn table(rows: &[Row<'_>], places: &Places) -> Option<Table> {
    let recorded = || {
        let rows = rows.iter();
        rows.filter_map(|row| Some((row, row.1.recording.as_ref()?)))
    };
    recorded().next()?;
    let names = [
        "file",
        "files",
        "bytes",
        "missing",
        "buffer B",
        "peak waiting B",
        "receiver waited",
    ];
    let mut table = Table::new("Recording of what was received", &places.heads_and(&names));
    for (row, one) in recorded() {
        let mut cells = places.cells(number(row));
        cells.extend([
            one.file.clone(),
            one.files.to_string(),
            grouped(one.bytes),
            grouped(one.missing_bytes),
            grouped(one.buffer_bytes),
            grouped(one.peak_waiting_bytes),
            waited(one),
        ]);
        table.row(cells);
    }
    Some(table)
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
