//! The memory of a writer does not grow with the run.

#![allow(clippy::unwrap_used)]

use crate::common;

use common::{RunWriter, conditions, plan, point, sample, summary};
use peak_alloc::PeakAlloc;
use std::fs;
use wiregauge_run::State;

/// What is allocated, not what the allocator keeps: that depends on the order of threads.
#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// Rows after which all buffers have their size.
const FIRST: u64 = 11_000_000;

/// Rows of all segments.
const ROWS: u64 = 22_000_000;

/// Conversions that wait for a processor, where it has none left.
const WAITING: usize = 1_000_000;

#[test]
#[ignore = "long"]
fn twenty_million_rows_take_no_more_memory_than_ten() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("run");
    let mut run = RunWriter::create(&dir, &plan(false), &conditions()).unwrap();
    let mut writer = run.begin_point(point(0)).unwrap();
    let mut push = |rows: std::ops::Range<u64>| {
        HEAP.reset_peak_usage();
        for i in rows {
            writer.push(&sample(i), &[]).unwrap();
        }
        HEAP.peak_usage()
    };
    let before = push(0..FIRST);
    let most = push(FIRST..ROWS);
    run.end_point(writer, summary(point(0), ROWS)).unwrap();
    run.finish(State::Complete).unwrap();
    let bytes = fs::read_dir(dir.join("samples")).unwrap();
    let bytes: u64 = bytes.map(|f| f.unwrap().metadata().unwrap().len()).sum();
    eprintln!(
        "{before} B after {FIRST} rows, {most} B after {ROWS}; {:.1} bytes a row on disk",
        bytes as f64 / ROWS as f64
    );
    // The footers of the ten segments would be more.
    assert!(most < before + WAITING, "{before} B became {most} B");
}
