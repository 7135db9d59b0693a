//! A frame of a journal of which the disk took a part only: it is cut off and written once more, so that all rows that
//! were pushed are readable; where it cannot be cut off, the rows before it are.

use crate::place::Limits;
use crate::simulated_disk::{Faults, SimulatedDisk};
use crate::storage::Storage;
use crate::testing::{conditions, plan, point, sample, summary};
use crate::{Exchange, Run, RunWriter, State};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use wiregauge_record::Sample;

/// Rows of a whole frame, and of the one that is torn.
const WHOLE: u64 = 10;
const TORN: u64 = 5;

/// The run on the disk as a reader finds it.
fn found(disk: &SimulatedDisk) -> (Run, Vec<Sample>) {
    let place = tempfile::tempdir().unwrap();
    for (path, bytes) in disk.files() {
        let path = place.path().join(path.strip_prefix("/").unwrap());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let run = Run::<Exchange>::open(&place.path().join("run")).unwrap();
    let rows = run.samples(0).unwrap().map(|row| row.unwrap().0).collect();
    (run, rows)
}

/// Tears the second frame after this many bytes; the rows must be these, at once and after the end of the run.
fn assert_kept(bytes: usize, faults: Faults, kept: u64) {
    let disk = SimulatedDisk::new(1, faults);
    let storage: Arc<dyn Storage> = Arc::new(disk.clone());
    let begun = RunWriter::<Exchange>::begin(
        storage,
        Path::new("/run"),
        &plan(false),
        &conditions(),
        Limits::default(),
    );
    let mut run = begun.unwrap();
    let mut writer = run.begin_point(point(0)).unwrap();
    (0..WHOLE).for_each(|i| writer.push(&sample(i), &[]).unwrap());
    writer.flush().unwrap();
    let pushed = WHOLE + TORN;
    (WHOLE..pushed).for_each(|i| writer.push(&sample(i), &[]).unwrap());
    disk.tear_next_write(bytes);
    writer.flush().unwrap_err();
    let expected: Vec<Sample> = (0..kept).map(sample).collect();
    let (_, rows) = found(&disk);
    assert!(rows == expected, "after {bytes} bytes: {} rows", rows.len());

    // Nothing follows the first error.
    writer.push(&sample(pushed), &[]).unwrap_err();
    writer.flush().unwrap_err();
    run.end_point(writer, summary(point(0), pushed))
        .unwrap_err();
    let error = "input/output error".to_owned();
    run.finish(State::Failed { error }).unwrap();
    let (run, rows) = found(&disk);
    assert!(rows == expected, "at the end: {} rows", rows.len());
    let stored = run.file.stored[0];
    assert_eq!((stored.rows, stored.taken), (kept, pushed + 1));
}

#[test]
fn a_frame_that_was_torn_and_cut_off_is_written_once_more() {
    for bytes in [0, 1, 20, 60] {
        assert_kept(bytes, Faults::default(), WHOLE + TORN);
    }
}

#[test]
fn nothing_follows_a_torn_frame_that_could_not_be_cut_off() {
    let faults = Faults {
        truncate_fails: 1_000_000,
        ..Faults::default()
    };
    for bytes in [0, 1, 20, 60] {
        assert_kept(bytes, faults, WHOLE);
    }
}
