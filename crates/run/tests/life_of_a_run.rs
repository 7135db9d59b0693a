//! A run from creation to end, and everything that can cut it short.

#![allow(clippy::unwrap_used)]

use crate::common;

use common::{Run, RunWriter};
use common::{conditions, plan, point, sample, summary};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use wiregauge_record::{Conditions, Point, PointSummary, Sample};
use wiregauge_run::{Exchange, PointWriter, RunError, RunKind, SCHEMA, State};

const ROWS: u64 = 100;

fn measure(run: &mut RunWriter, point: Point) -> Result<(), RunError> {
    let mut writer = run.begin_point(point)?;
    fill(&mut writer)?;
    run.end_point(writer, summary(point, ROWS))
}

fn fill(writer: &mut PointWriter) -> Result<(), RunError> {
    (0..ROWS).try_for_each(|i| writer.push(&sample(i), b"answer"))
}

fn new_run(home: &Path) -> RunWriter {
    RunWriter::create(&home.join("a/run"), &plan(false), &conditions()).unwrap()
}

fn files(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[track_caller]
fn assert_rows(run: &Run, at: usize, count: u64) {
    let rows: Vec<_> = run.samples(at).unwrap().map(Result::unwrap).collect();
    let expected: Vec<_> = (0..count).map(|i| (sample(i), None)).collect();
    assert_eq!(rows, expected);
}

#[test]
fn a_run_is_read_as_it_was_written() {
    let home = tempfile::tempdir().unwrap();
    let mut writer = new_run(home.path());
    let dir = writer.dir().to_owned();
    assert_eq!(Run::open(&dir).unwrap().file.state, State::Running);
    assert_eq!(files(&dir), ["run.json", "run.lock", "samples"]);
    for index in 0..3 {
        measure(&mut writer, point(index)).unwrap();
    }
    writer.add_warning("the host was busy".to_owned());
    let later = Conditions {
        version: "later".to_owned(),
        ..conditions()
    };
    writer.set_conditions(&later).unwrap();
    writer.finish(State::Complete).unwrap();

    let run = Run::open(&dir).unwrap();
    assert_eq!(run.file, *writer.file());
    let kind = (run.file.schema, run.file.kind.as_str());
    assert_eq!(kind, (SCHEMA, Exchange::NAME));
    assert_eq!(run.file.state, State::Complete);
    assert_eq!(run.file.plan, plan(false));
    assert_eq!(run.file.conditions, later);
    assert_eq!(run.file.warnings, ["the host was busy"]);
    let expected: Vec<PointSummary> = (0..3).map(|i| summary(point(i), ROWS)).collect();
    assert_eq!(run.file.points, expected, "to the last bit of every figure");
    assert_eq!(run.file.measured(), 3 * ROWS);
    assert_eq!(run.name(), "run");
    // Nothing is to be said of its end.
    assert_eq!((run.state_word(), run.ending_line()), ("complete", None));
    for index in 0..3 {
        assert_rows(&run, index, ROWS);
    }
    assert_eq!(files(&dir), ["run.json", "samples"]);
    let samples = [0, 1, 2].map(|point| format!("point-000{point}.parquet"));
    assert_eq!(files(&dir.join("samples")), samples);
}

#[test]
fn only_the_columns_that_are_asked_for_are_read() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("run");
    let mut writer = RunWriter::create(&dir, &plan(true), &conditions()).unwrap();
    measure(&mut writer, point(0)).unwrap();
    let run = Run::open(&dir).unwrap();

    let asked = ["rtt_ns", "phase"];
    let rows: Vec<Sample> = run
        .samples_of(0, &asked)
        .unwrap()
        .map(|row| {
            let (row, data) = row.unwrap();
            assert_eq!(data, None, "the answers were not asked for");
            row
        })
        .collect();
    let expected = (0..ROWS).map(sample).map(|whole| Sample {
        rtt_ns: whole.rtt_ns,
        phase: whole.phase,
        ..Sample::default()
    });
    assert_eq!(rows, expected.collect::<Vec<_>>());

    let error = run.samples_of(0, &["rtt"]).err().unwrap();
    assert!(matches!(error, RunError::Misuse { .. }), "{error}");
    assert!(error.to_string().contains("`rtt`"), "{error}");
}

#[test]
fn rows_at_once_are_the_rows_one_by_one() {
    let home = tempfile::tempdir().unwrap();
    let mut writer = new_run(home.path());
    let mut rows = writer.begin_point(point(0)).unwrap();
    (0..5000).for_each(|i| rows.push(&sample(i), &[]).unwrap());
    writer.end_point(rows, summary(point(0), 5000)).unwrap();
    let run = Run::open(writer.dir()).unwrap();

    let mut reader = run.samples(0).unwrap();
    // Some one by one first: the rest of that batch comes next.
    let mut all: Vec<Sample> = reader.by_ref().take(10).map(|row| row.unwrap().0).collect();
    while let Some(some) = reader.next_rows() {
        let some = some.unwrap();
        assert!(!some.is_empty());
        all.extend_from_slice(some);
    }
    assert_eq!(all, (0..5000).map(sample).collect::<Vec<_>>());
    assert!(reader.next().is_none());
}

#[test]
fn the_state_reads_as_plain_words_in_json() {
    let home = tempfile::tempdir().unwrap();
    let mut writer = new_run(home.path());
    let state = |writer: &RunWriter| {
        let text = fs::read(writer.dir().join("run.json")).unwrap();
        serde_json::from_slice::<serde_json::Value>(&text).unwrap()["state"].clone()
    };
    assert_eq!(state(&writer), "running");
    writer.finish(State::Interrupted).unwrap();
    assert_eq!(state(&writer), "interrupted");
    let error = "gone".to_owned();
    writer.finish(State::Failed { error }).unwrap();
    assert_eq!(state(&writer)["failed"]["error"], "gone");
}

#[test]
fn samples_can_be_pushed_from_another_thread() {
    let home = tempfile::tempdir().unwrap();
    let mut run = RunWriter::create(&home.path().join("run"), &plan(true), &conditions()).unwrap();
    let mut writer = run.begin_point(point(0)).unwrap();
    let writer = std::thread::spawn(move || fill(&mut writer).map(|()| writer))
        .join()
        .unwrap();
    let summary = summary(point(0), ROWS);
    run.end_point(writer.unwrap(), summary).unwrap();
    let read = Run::open(run.dir()).unwrap();
    let mut answers = read.samples(0).unwrap().map(|row| row.unwrap().1);
    assert!(answers.all(|answer| answer.as_deref() == Some(b"answer")));
}

#[test]
fn a_run_that_ends_early_leaves_no_unreadable_samples() {
    let home = tempfile::tempdir().unwrap();
    let mut writer = new_run(home.path());
    drop(writer.begin_point(point(0)).unwrap());
    writer.finish(State::Interrupted).unwrap();
    assert!(files(&writer.dir().join("samples")).is_empty());
}

#[test]
fn a_directory_in_use_is_not_touched() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("thesis.tex"), "years of work").unwrap();
    let create = |dir: &Path| RunWriter::create(dir, &plan(false), &conditions());
    let error = create(home.path()).err().unwrap();
    assert!(matches!(error, RunError::NotEmpty { .. }), "{error}");
    assert_eq!(files(home.path()), ["thesis.tex"]);

    let below_a_file = home.path().join("thesis.tex/run");
    let error = create(&below_a_file).err().unwrap();
    assert_eq!(error.io_kind(), Some(ErrorKind::NotADirectory));
    assert!(error.to_string().contains("thesis.tex/run"), "{error}");

    let empty = tempfile::tempdir().unwrap();
    create(empty.path()).unwrap();
    let error = create(empty.path()).err().unwrap();
    assert!(matches!(error, RunError::NotEmpty { .. }), "{error}");
}

#[test]
fn points_are_ended_with_their_own_samples_and_only_once() {
    let home = tempfile::tempdir().unwrap();
    let mut run = new_run(home.path());
    let writer = run.begin_point(point(0)).unwrap();
    let error = run.end_point(writer, summary(point(1), 0)).unwrap_err();
    assert!(matches!(error, RunError::Misuse { .. }), "{error}");
    measure(&mut run, point(0)).unwrap();
    let error = run.begin_point(point(0)).err().unwrap();
    assert!(matches!(error, RunError::Misuse { .. }), "{error}");
}

#[test]
fn a_summary_that_json_cannot_hold_does_not_spoil_the_run() {
    let home = tempfile::tempdir().unwrap();
    let mut run = new_run(home.path());
    measure(&mut run, point(0)).unwrap();
    let mut writer = run.begin_point(point(1)).unwrap();
    fill(&mut writer).unwrap();
    let broken = PointSummary {
        achieved_depth: f64::NAN,
        ..summary(point(1), ROWS)
    };
    let error = run.end_point(writer, broken).unwrap_err();
    assert!(matches!(error, RunError::NotStorable { .. }), "{error}");
    let error = error.to_string();
    run.finish(State::Failed { error }).unwrap();
    let run = Run::open(run.dir()).unwrap();
    assert_eq!(run.samples(0).unwrap().count() as u64, ROWS);
    // The point has a summary of its rows instead.
    assert_eq!(run.file.points[1].counts.exchanges, ROWS - 1);
    assert_eq!(run.samples(1).unwrap().count() as u64, ROWS);
}

/// Puts a disk without a byte left in the place of a file that is about to be created.
#[cfg(target_os = "linux")]
fn fill_disk_at(path: PathBuf) {
    std::os::unix::fs::symlink("/dev/full", path).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn rows_that_find_no_room_as_parquet_stay_in_their_journal() {
    let home = tempfile::tempdir().unwrap();
    let mut run = new_run(home.path());
    fill_disk_at(run.dir().join("samples/point-0000.parquet.part"));
    measure(&mut run, point(0)).unwrap();
    measure(&mut run, point(1)).unwrap();
    run.finish(State::Complete).unwrap();
    let samples = files(&run.dir().join("samples"));
    assert_eq!(samples, ["point-0000.rows", "point-0001.parquet"]);

    let run = Run::open(run.dir()).unwrap();
    assert_eq!(run.ending_line(), None, "nothing is missing");
    assert_rows(&run, 0, ROWS);
}

#[cfg(target_os = "linux")]
#[test]
fn rows_that_the_disk_does_not_take_are_counted() {
    let home = tempfile::tempdir().unwrap();
    let mut run = new_run(home.path());
    measure(&mut run, point(0)).unwrap();
    let mut writer = run.begin_point(point(1)).unwrap();
    (0..ROWS).for_each(|i| writer.push(&sample(i), &[]).unwrap());
    writer.flush().unwrap();
    let dir = run.dir().to_owned();
    // Full from now on: the next file that is needed can't be written.
    fill_disk_at(dir.join("samples/point-0002.rows"));
    let mut lost = run.begin_point(point(2)).unwrap();
    let error = lost.tick().unwrap_err();
    assert_eq!(error.io_kind(), Some(ErrorKind::StorageFull), "at once");
    let text = error.to_string();
    for said in [
        "point-0002.rows",
        "No space left on device (os error 28)",
        "WIREGAUGE_RUNS",
    ] {
        assert!(text.contains(said), "{text}");
    }
    assert_eq!(std::io::Error::from(error).kind(), ErrorKind::StorageFull);
    for i in 0..ROWS {
        let error = lost.push(&sample(i), &[]).unwrap_err();
        assert_eq!(error.io_kind(), Some(ErrorKind::StorageFull));
    }
    run.end_point(writer, summary(point(1), ROWS)).unwrap();
    let ended = run.end_point(lost, summary(point(2), ROWS));
    assert!(ended.is_err(), "what was lost is reported with the point");
    run.finish(State::Complete).unwrap();
    let run = Run::open(&dir).unwrap();
    assert_eq!(run.samples(1).unwrap().count() as u64, ROWS);
    assert_eq!(run.samples(2).unwrap().count(), 0);
    let ending = run.ending_line().unwrap();
    assert_eq!(
        ending,
        "stored 200 of 300 exchanges: no space left on device"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_too_full_for_the_summary_keeps_the_last_good_one() {
    let home = tempfile::tempdir().unwrap();
    let mut run = new_run(home.path());
    measure(&mut run, point(0)).unwrap();
    let before = fs::read(run.dir().join("run.json")).unwrap();
    fill_disk_at(run.dir().join("run.json.tmp"));
    let error = measure(&mut run, point(1)).unwrap_err();
    assert_eq!(error.io_kind(), Some(ErrorKind::StorageFull));
    assert_eq!(fs::read(run.dir().join("run.json")).unwrap(), before);
    assert_eq!(files(run.dir()), ["run.json", "run.lock", "samples"]);

    // Once there is space again, nothing is lost, not even that point.
    let error = error.to_string();
    run.finish(State::Failed { error }).unwrap();
    let run = Run::open(run.dir()).unwrap();
    assert_eq!(run.file.points.len(), 2);
    assert_eq!(run.samples(1).unwrap().count() as u64, ROWS);
}

/// The directory was written before a run could have several links or be of
/// another kind.
#[test]
fn a_run_from_before_there_were_several_links_is_read_unchanged() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/old/exchange-of-one-link");
    let run = Run::open(&dir).unwrap();
    assert_eq!(run.file.plan, plan(false));
    assert_eq!(run.file.conditions, conditions());
    let expected: Vec<PointSummary> = (0..2).map(|i| summary(point(i), 19)).collect();
    assert_eq!(run.file.points, expected);
    for index in 0..2 {
        assert_rows(&run, index, 20);
    }
}
