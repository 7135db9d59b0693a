//! What was recorded of a stream.

use super::flow_rows::Row;
use wiregauge_quantity::grouped;

/// `3,000,000 bytes recorded to data.bin`, and what is missing there.
pub(super) fn sentence(rows: &[Row<'_>]) -> Option<String> {
    let one = rows.iter().find_map(|row| row.1.recording.as_ref())?;
    let place = match one.file.as_str() {
        "-" => "to standard output".into(),
        file => format!("to {file}"),
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
