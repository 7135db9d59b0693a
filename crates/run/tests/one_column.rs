//! A column alone, as numbers, is what the rows have.

#![allow(clippy::unwrap_used)]

use crate::common;

use common::{RunWriter, conditions, plan, point, sample, summary};
use wiregauge_record::{Sample, Status};
use wiregauge_run::{AnyRun, RunError, State};

const ROWS: u64 = 5000;

fn row(sequence: u64) -> Sample {
    let mut row = sample(sequence);
    row.status = Status::ALL[sequence as usize % Status::ALL.len()];
    row
}

fn stored() -> (tempfile::TempDir, AnyRun) {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("run");
    let mut writer = RunWriter::create(&dir, &plan(true), &conditions()).unwrap();
    for index in 0..2 {
        let mut rows = writer.begin_point(point(index)).unwrap();
        for sequence in 0..ROWS {
            rows.push(&row(sequence), b"answer").unwrap();
        }
        writer.end_point(rows, summary(point(index), ROWS)).unwrap();
    }
    writer.finish(State::Complete).unwrap();
    let run = AnyRun::open(&dir).unwrap();
    (home, run)
}

fn column(run: &AnyRun, name: &str) -> Result<Vec<u64>, RunError> {
    let mut values = Vec::new();
    let mut take = |some: &[u64]| values.extend_from_slice(some);
    run.stored().column(1, name, &mut take)?;
    Ok(values)
}

#[test]
fn a_column_is_what_the_rows_have() {
    let (_home, run) = stored();
    assert_eq!(run.stored().rows_of(1).unwrap(), ROWS);
    type Get = fn(&Sample) -> u64;
    let fields: [(&str, Get); 5] = [
        ("sequence", |row| row.sequence),
        ("rtt_ns", |row| row.rtt_ns),
        ("bytes_in", |row| row.bytes_in.into()),
        ("status", |row| row.status as u64),
        ("phase", |row| row.phase as u64),
    ];
    for (name, get) in fields {
        let expected: Vec<u64> = (0..ROWS).map(|sequence| get(&row(sequence))).collect();
        assert_eq!(column(&run, name).unwrap(), expected, "{name}");
    }
}

#[test]
fn what_is_no_column_and_no_point_is_said() {
    let (_home, run) = stored();
    let error = column(&run, "colour").unwrap_err().to_string();
    assert!(error.contains("no column `colour`"), "{error}");
    let stored = run.stored();
    for error in [stored.rows_of(2).err(), stored.point_json(2).err()] {
        assert!(matches!(error, Some(RunError::NoSuchPoint { .. })));
    }
    let json = stored.point_json(1).unwrap();
    assert!(json.contains("\"exchanges\":5000"), "{json}");
}
