//! Points that were begun and have no summary in `run.json`: the one that is being measured, or that was cut short.

use crate::journal_reader::JournalReader;
use crate::kind::RunKind;
use crate::layout::Layout;
use crate::parquet_reader;
use crate::part::{Part, Source};
use crate::run_file::{RunFile, State, StoredPoint};
use crate::sample_reader::{Extent, SampleReader};
use crate::segment::{JOURNAL, PARQUET, file_name, point_of};
use crate::time_check::check_times;
use std::fs::{self, File};
use std::path::Path;

/// Adds a summary for each such point that has rows, computed from them.
pub(crate) fn add<K: RunKind>(dir: &Path, file: &mut RunFile<K>) {
    for source in sources(dir, file) {
        let point = source.point;
        let mut summariser = K::summariser(&file.plan, &file.conditions, point);
        let rows = summarised(source, &mut |row| summariser.push(row));
        if rows == 0 {
            continue;
        }
        file.points.push(summariser.finish());
        note_rows(file, K::index(&point), rows);
    }
}

/// Counts the rows of such points without reading them.
pub(crate) fn count<K: RunKind>(dir: &Path, file: &mut RunFile<K>) {
    for source in sources(dir, file) {
        let rows = end(&source);
        if rows > 0 {
            note_rows(file, K::index(&source.point), rows);
        }
    }
}

/// Hands over the rows as far as they can be read, and gives their number.
fn summarised<K: RunKind>(source: Source<K>, take: &mut dyn FnMut(&K::Row)) -> u64 {
    let mut rows = 0;
    let Ok(mut reader) = SampleReader::open(source, Extent::Open) else {
        return 0;
    };
    while let Some(Ok(some)) = reader.read_rows() {
        for row in some {
            if check_times::<K>(row).is_err() {
                return rows;
            }
            take(row);
            rows += 1;
        }
    }
    rows
}

/// The number of rows as it was when the run was opened, and what the writer knows beside it.
fn note_rows<K: RunKind>(file: &mut RunFile<K>, point: u32, rows: u64) {
    match file.stored.iter_mut().find(|stored| stored.point == point) {
        Some(stored) => stored.rows = rows,
        None => file.stored.push(StoredPoint {
            point,
            rows,
            taken: rows,
        }),
    }
}

/// The points without a summary, ascending.
fn sources<K: RunKind>(dir: &Path, file: &RunFile<K>) -> Vec<Source<K>> {
    if file.state == State::Complete {
        return Vec::new();
    }
    let Ok(entries) = fs::read_dir(dir.join("samples")) else {
        return Vec::new();
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut indices: Vec<u32> = names.filter_map(|name| point_of(&name)).collect();
    indices.sort_unstable();
    indices.dedup();
    let is_finished = |index: &u32| file.points.iter().any(|s| K::index(&K::point(s)) == *index);
    indices.retain(|index| !is_finished(index));
    let layout = Layout::of_point::<K>(&file.plan);
    let source = |index| {
        let point = first_segment_point::<K>(dir, index, layout)?;
        let all = (0..K::COLUMNS.len()).collect();
        (K::index(&point) == index).then(|| Source {
            // The bytes of the answers are no part of a summary.
            with_data: false,
            ..Source::new(dir, layout, point, all)
        })
    };
    indices.into_iter().filter_map(source).collect()
}

/// The point whose rows the files of this number hold.
fn first_segment_point<K: RunKind>(dir: &Path, index: u32, layout: Layout) -> Option<K::Point> {
    let path = |ending| dir.join("samples").join(file_name(index, 0, ending));
    if let Ok(file) = File::open(path(PARQUET)) {
        return parquet_reader::point_of::<K>(file);
    }
    let path = path(JOURNAL);
    let journal = JournalReader::<K>::open(File::open(&path).ok()?, &path, layout);
    Some(journal.ok()??.point())
}

/// How many rows of a point follow each other.
fn end<K: RunKind>(source: &Source<K>) -> u64 {
    let (mut end, mut segment) = (0, 0);
    while let Some((first, behind)) = extent_of(source, segment)
        && first == end
    {
        end = behind;
        segment += 1;
    }
    end
}

/// Number of the first row of a segment and of the one behind its last, if it can be read.
fn extent_of<K: RunKind>(source: &Source<K>, segment: u32) -> Option<(u64, u64)> {
    let parquet = || {
        let parquet = source.parquet(segment).ok()?;
        Some(parquet.map(|parquet| (parquet.first_row(), parquet.end())))
    };
    if let Some(extent) = parquet()? {
        return Some(extent);
    }
    match source.journal(segment).ok()? {
        Some(journal) => Some((journal.first_row(), journal.end().ok()?)),
        // The writer may have completed the segment between the two looks.
        None => parquet()?,
    }
}
