//! Directories and files that are not what they should be: each has its own clear error, and none
//! brings the program down.

#![allow(clippy::unwrap_used)]

use crate::common;

use common::{Run, RunWriter};
use common::{conditions, plan, point, sample, summary};
use parquet::basic::Repetition;
use parquet::data_type::{ByteArrayType, Int32Type, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use proptest::prelude::*;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use tempfile::TempDir;
use wiregauge_run::{RunError, State};

/// A finished run of two points in `home`/run.
fn finished_run(home: &Path) -> PathBuf {
    let dir = home.join("run");
    let mut run = RunWriter::create(&dir, &plan(false), &conditions()).unwrap();
    for index in 0..2 {
        let mut writer = run.begin_point(point(index)).unwrap();
        (0..50).for_each(|i| writer.push(&sample(i), &[]).unwrap());
        run.end_point(writer, summary(point(index), 50)).unwrap();
    }
    run.finish(State::Complete).unwrap();
    dir
}

/// Opens the run after `change` of the text of its `run.json`.
fn open_changed(change: impl Fn(&str) -> String) -> RunError {
    let home = tempfile::tempdir().unwrap();
    let dir = finished_run(home.path());
    let path = dir.join("run.json");
    let before = fs::read_to_string(&path).unwrap();
    let after = change(&before);
    assert_ne!(before, after, "the test changed nothing");
    fs::write(&path, after).unwrap();
    let error = Run::open(&dir).unwrap_err();
    assert!(error.to_string().contains("run.json"), "{error}");
    error
}

/// Reads all of the first point's samples after `change` of its file.
fn read_changed(change: impl Fn(&Path)) -> RunError {
    let home = tempfile::tempdir().unwrap();
    let dir = finished_run(home.path());
    change(&dir.join("samples/point-0000.parquet"));
    let error = read_all(&dir).unwrap_err();
    assert!(error.to_string().contains("point-0000.parquet"), "{error}");
    error
}

fn read_all(dir: &Path) -> Result<usize, RunError> {
    let run = Run::open(dir)?;
    let mut reader = run.samples(0)?;
    let count = reader.try_fold(0, |count, row| row.map(|_| count + 1));
    assert!(reader.next().is_none(), "a reader ends after an error");
    count
}

fn assert_says(error: RunError, words: &str) {
    assert!(
        error.to_string().contains(words),
        "`{error}` does not say `{words}`"
    );
}

#[test]
fn a_directory_without_run_json_is_no_run() {
    let home = tempfile::tempdir().unwrap();
    let error = Run::open(home.path()).unwrap_err();
    assert!(matches!(error, RunError::NotARun { .. }), "{error}");
    let error = Run::open(&home.path().join("nowhere")).unwrap_err();
    assert_eq!(error.io_kind(), Some(std::io::ErrorKind::NotFound));
    fs::write(home.path().join("file"), "").unwrap();
    let error = Run::open(&home.path().join("file")).unwrap_err();
    assert!(matches!(error, RunError::NotARun { .. }), "{error}");
    fs::create_dir(home.path().join("run.json")).unwrap();
    let error = Run::open(home.path()).unwrap_err();
    assert_says(error, "it is not a file");
}

#[test]
fn broken_json_is_shown_with_its_place() {
    let error = open_changed(|text| text[..text.len() / 2].to_owned());
    assert!(matches!(error, RunError::BadRunFile { .. }), "{error}");
    assert_says(error, "line");
    assert_says(open_changed(|_| "{}".to_owned()), "missing field `schema`");
    assert_says(open_changed(|_| "\0\0\0".to_owned()), "column 1");
    assert_says(open_changed(|_| "[".repeat(100_000)), "run.json");
    let text_for_number =
        |text: &str| text.replacen("\"exchanges\": 50", "\"exchanges\": \"x\"", 1);
    assert_says(open_changed(text_for_number), "expected u64");
}

#[test]
fn a_later_format_names_both_versions() {
    // What else a later format holds, this version must not even look at.
    let error = open_changed(|_| r#"{"schema": 7, "kind": "stream", "new": []}"#.to_owned());
    assert!(
        matches!(
            error,
            RunError::NewerSchema {
                found: 7,
                known: 2,
                ..
            }
        ),
        "{error}"
    );
    assert_says(
        open_changed(|t| t.replacen("\"schema\": 2", "\"schema\": 0", 1)),
        "format 0",
    );
    let huge = |t: &str| t.replacen("\"schema\": 2", "\"schema\": 99999999999", 1);
    assert!(matches!(open_changed(huge), RunError::NewerSchema { .. }));
}

#[test]
fn an_unknown_kind_of_run_is_named() {
    let error = open_changed(|text| text.replacen("\"exchange\"", "\"seance\"", 1));
    assert!(
        matches!(&error, RunError::UnknownKind { kind, .. } if kind == "seance"),
        "{error}"
    );
}

#[test]
fn a_missing_sample_file_is_named() {
    assert_says(
        read_changed(|path| fs::remove_file(path).unwrap()),
        "No such file",
    );
    let directory = |path: &Path| {
        fs::remove_file(path).unwrap();
        fs::create_dir(path).unwrap();
    };
    assert_says(read_changed(directory), "it is not a file");
}

#[test]
fn a_truncated_sample_file_is_named_wherever_it_is_cut() {
    let home = tempfile::tempdir().unwrap();
    let dir = finished_run(home.path());
    let path = dir.join("samples/point-0000.parquet");
    let whole = fs::read(&path).unwrap();
    for length in (0..whole.len()).step_by(17) {
        fs::write(&path, &whole[..length]).unwrap();
        let error = read_all(&dir).unwrap_err();
        assert!(matches!(error, RunError::BadSamples { .. }), "{error}");
        assert_says(error, "not a complete Parquet file");
    }
}

#[test]
fn samples_of_another_point_are_refused() {
    let other = |path: &Path| {
        fs::copy(path.with_file_name("point-0001.parquet"), path).unwrap();
    };
    assert_says(read_changed(other), "its point differs");
}

/// A file like ours, but with these values in the status column, these rows in a column, or
/// without one of the columns.
struct Forged {
    schema: &'static str,
    status: &'static str,
    rows_of_last: usize,
    columns: usize,
}

const HONEST: Forged = Forged {
    schema: "1",
    status: "ok",
    rows_of_last: 3,
    columns: 13,
};

impl Forged {
    fn write(&self, path: &Path) {
        let model = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
        let fields =
            model.metadata().file_metadata().schema().get_fields()[..self.columns].to_vec();
        assert!(
            fields
                .iter()
                .all(|f| f.get_basic_info().repetition() == Repetition::REQUIRED)
        );
        let schema = Type::group_type_builder("sample")
            .with_fields(fields)
            .build()
            .unwrap();
        let pairs = vec![
            KeyValue::new("wiregauge.schema".to_owned(), self.schema.to_owned()),
            KeyValue::new(
                "wiregauge.point".to_owned(),
                serde_json::to_string(&point(0)).unwrap(),
            ),
        ];
        let properties = Arc::new(
            WriterProperties::builder()
                .set_key_value_metadata(Some(pairs))
                .build(),
        );
        let out = File::create(path).unwrap();
        let mut writer = SerializedFileWriter::new(out, Arc::new(schema), properties).unwrap();
        let mut group = writer.next_row_group().unwrap();
        for column in 0..self.columns {
            let mut writer = group.next_column().unwrap().unwrap();
            match column {
                1 | 2 => {
                    let name = if column == 1 { "measured" } else { self.status };
                    let names = vec![name.into(); 3];
                    writer
                        .typed::<ByteArrayType>()
                        .write_batch(&names, None, None)
                        .unwrap();
                }
                0 | 3..10 => {
                    writer
                        .typed::<Int64Type>()
                        .write_batch(&[1, 2, 3], None, None)
                        .unwrap();
                }
                _ => {
                    writer
                        .typed::<Int32Type>()
                        .write_batch(&[1, 2, 3], None, None)
                        .unwrap();
                }
            }
            writer.close().unwrap();
        }
        group.close().unwrap();
        writer.close().unwrap();
    }
}

#[test]
fn a_forged_file_is_read_as_far_as_it_makes_sense() {
    let home = tempfile::tempdir().unwrap();
    let dir = finished_run(home.path());
    HONEST.write(&dir.join("samples/point-0000.parquet"));
    // Its rows are read; that they are fewer than were stored is noticed behind them.
    let run = Run::open(&dir).unwrap();
    let read = run.samples(0).unwrap().take_while(Result::is_ok).count();
    assert_eq!(read, HONEST.rows_of_last);
    assert_says(read_all(&dir).unwrap_err(), "47 rows are missing");

    let error = read_changed(|path| {
        Forged {
            status: "fine",
            ..HONEST
        }
        .write(path)
    });
    assert_says(
        error,
        "column `status`, row group 0: `fine` is not a valid value",
    );
    let error = read_changed(|path| {
        Forged {
            schema: "3",
            ..HONEST
        }
        .write(path)
    });
    assert!(
        matches!(error, RunError::NewerSchema { found: 3, .. }),
        "{error}"
    );
    let error = read_changed(|path| {
        Forged {
            schema: "one",
            ..HONEST
        }
        .write(path)
    });
    assert_says(error, "not written by wiregauge");
    let error = read_changed(|path| {
        Forged {
            columns: 12,
            ..HONEST
        }
        .write(path)
    });
    assert_says(error, "it has 12 columns, expected 13");
}

#[test]
fn a_plan_that_claims_data_that_was_not_kept_is_caught() {
    let home = tempfile::tempdir().unwrap();
    let dir = finished_run(home.path());
    let path = dir.join("run.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text.replace("\"keep_data\": false", "\"keep_data\": true"),
    )
    .unwrap();
    assert_says(read_all(&dir).unwrap_err(), "13 columns, expected 14");
}

#[test]
fn no_flipped_byte_brings_the_reader_down() {
    let home = tempfile::tempdir().unwrap();
    let dir = finished_run(home.path());
    let path = dir.join("samples/point-0000.parquet");
    let whole = fs::read(&path).unwrap();
    let mut refused = 0;
    for at in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[at] ^= [0xFF, 0x80, 0x01, 0x10][at % 4];
        fs::write(&path, &flipped).unwrap();
        refused += usize::from(read_all(&dir).is_err());
    }
    assert!(
        refused > whole.len() / 4,
        "only {refused} of {} were noticed",
        whole.len()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_damage_brings_the_reader_down(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        static RUN: LazyLock<(TempDir, Vec<u8>)> = LazyLock::new(|| {
            let home = tempfile::tempdir().unwrap();
            let dir = finished_run(home.path());
            (home, fs::read(dir.join("samples/point-0000.parquet")).unwrap())
        });
        let (home, whole) = &*RUN;
        let mut damaged = whole.clone();
        for (at, byte) in changes {
            damaged[at.index(whole.len())] = byte;
        }
        let dir = home.path().join("run");
        fs::write(dir.join("samples/point-0000.parquet"), damaged).unwrap();
        // Damage within a page may pass unnoticed; it must only not panic, hang or use up memory.
        let _ = read_all(&dir);
    }
}
