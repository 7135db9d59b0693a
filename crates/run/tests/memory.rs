//! The memory of a writer does not grow with the run.

#![allow(clippy::unwrap_used)]

use crate::common;

use common::{RunWriter, conditions, plan, point, sample, summary};
use std::fs;
use wiregauge_run::State;

/// Rows after which all buffers have their size, and the allocator what it keeps.
const FIRST: u64 = 11_000_000;

/// Rows of all segments.
const ROWS: u64 = 22_000_000;

/// Kilobytes that the process has in memory.
fn resident_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let number = line.unwrap().split_whitespace().nth(1);
    number.unwrap().parse().unwrap()
}

#[test]
#[ignore = "long"]
fn twenty_million_rows_take_no_more_memory_than_ten() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("run");
    let mut run = RunWriter::create(&dir, &plan(false), &conditions()).unwrap();
    let mut writer = run.begin_point(point(0)).unwrap();
    let (mut before, mut most) = (0, 0);
    for i in 0..ROWS {
        writer.push(&sample(i), &[]).unwrap();
        if i % 50_000 == 0 {
            let resident = resident_kb();
            match i < FIRST {
                true => before = before.max(resident),
                false => most = most.max(resident),
            }
        }
    }
    run.end_point(writer, summary(point(0), ROWS)).unwrap();
    run.finish(State::Complete).unwrap();
    let bytes = fs::read_dir(dir.join("samples")).unwrap();
    let bytes: u64 = bytes.map(|f| f.unwrap().metadata().unwrap().len()).sum();
    eprintln!(
        "{before} kB after {FIRST} rows, {most} kB after {ROWS}; {:.1} bytes a row on disk",
        bytes as f64 / ROWS as f64
    );
    // The footers of five segments would be more.
    assert!(most < before + 4_000, "{before} kB became {most} kB");
}
