//! Points that were begun and have no summary in `run.json`: the one that is being measured, or that was cut short.

use crate::error::RunError;
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
pub(crate) fn count<K: RunKind>(dir: &Path, file: &RunFile<K>) -> u64 {
    let points = sources(dir, file).into_iter();
    points.map(|source| end(&source).unwrap_or(0)).sum()
}

/// Hands over the rows as far as they can be read, and gives their number.
fn summarised<K: RunKind>(source: Source<K>, take: &mut dyn FnMut(&K::Row)) -> u64 {
    let mut rows = 0;
    let Ok(mut reader) = SampleReader::open(source, Extent::Open) else {
        return 0;
    };
    while let Some(Ok(some)) = reader.next_rows() {
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

/// How many rows a point has: where its last segment ends. All before it are whole.
fn end<K: RunKind>(source: &Source<K>) -> Result<u64, RunError> {
    let mut end = 0;
    let mut segment = 0;
    while source.path(segment + 1, PARQUET).exists() {
        segment += 1;
    }
    if let Some(parquet) = source.parquet(segment)? {
        end = parquet.end();
        segment += 1;
    }
    while let Some(journal) = source.journal(segment)?
        && journal.first_row() == end
    {
        end = journal.end()?;
        segment += 1;
    }
    Ok(end)
}
