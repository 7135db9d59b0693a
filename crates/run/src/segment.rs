//! Names of the files of the segments of a point: up to a million rows, as a journal while they come, as Parquet soon after
//! they are complete. A reader takes the Parquet file where it exists and the journal else, so at every moment each
//! row is in exactly one file that counts.

use serde::Serialize;

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
