//! A run on a real file system that fills up.

#![allow(clippy::unwrap_used)]

use crate::common;

use common::{Run, RunWriter, conditions, plan, point, sample, samples, summary};
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;
use wiregauge_run::State;

/// Set in the process that has a small file system of its own; names its directory.
const PLACE: &str = "WIREGAUGE_TEST_TMPFS";

/// Exchanges that are measured: far more than fit.
const TAKEN: u64 = 200_000;

#[test]
fn a_full_file_system_keeps_all_that_it_took_and_the_end_of_the_run() {
    if let Some(place) = std::env::var_os(PLACE) {
        return fill(Path::new(&place));
    }
    let place = tempfile::tempdir().unwrap();
    let test = "full_disk::a_full_file_system_keeps_all_that_it_took_and_the_end_of_the_run";
    let script = "mount -t tmpfs -o size=2m tmpfs \"$1\" && exec \"$2\" --exact --nocapture \"$3\"";
    let ran = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", script, "sh"])
        .arg(place.path())
        .arg(std::env::current_exe().unwrap())
        .arg(test)
        .env(PLACE, place.path())
        .output();
    let Ok(output) = ran else {
        eprintln!("skipped: no `unshare` here");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    if !text.contains("running 1 test") {
        let why = String::from_utf8_lossy(&output.stderr);
        eprintln!("skipped: a file system can't be mounted here: {why}");
        return;
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
}

fn fill(place: &Path) {
    let dir = place.join("run");
    let mut run = RunWriter::create(&dir, &plan(false), &conditions()).unwrap();
    let first = (point(0), summary(point(0), 999));
    common::store(&mut run, first, &samples(1000));

    let mut writer = run.begin_point(point(1)).unwrap();
    let mut refused = None;
    for i in 0..TAKEN {
        if let Err(error) = writer.push(&sample(i), &[]) {
            assert_eq!(error.io_kind(), Some(ErrorKind::StorageFull), "{error}");
            refused.get_or_insert(i);
        }
    }
    let refused = refused.expect("the file system fills up");
    let error = run.end_point(writer, summary(point(1), TAKEN)).unwrap_err();
    assert_eq!(error.io_kind(), Some(ErrorKind::StorageFull), "{error}");
    let error = error.to_string();
    run.finish(State::Failed { error }).unwrap();

    let run = Run::open(&dir).unwrap();
    assert_eq!(run.samples(0).unwrap().count(), 1000);
    let rows = run.samples(1).unwrap().map(|row| row.unwrap().0);
    let count = rows
        .enumerate()
        .map(|(i, row)| assert_eq!(row, sample(i as u64)))
        .count() as u64;
    // Those before the first that was refused, but for those of a frame.
    assert!(count >= refused - 4096, "{count} rows of {refused}");
    assert_eq!(run.file.stored[1].rows, count);
    let stored = wiregauge_record::grouped(count + 1000);
    let ending = format!("stored {stored} of 201,000 exchanges: no space left on device");
    assert_eq!(run.ending_line(), Some(ending));
}
