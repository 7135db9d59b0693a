//! Directories and files that are not what they should be: each has its own clear error, and none
//! brings the program down.

#![allow(clippy::unwrap_used)]

use crate::common;

use common::{Run, plan, point, samples, summary};
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
use wiregauge_record::Sample;
use wiregauge_run::{Exchange, RunError};

/// A finished run of two points in `home`/run.
fn finished_run(home: &Path) -> PathBuf {
    let points = [0, 1].map(|index| (point(index), summary(point(index), 50)));
    common::finished::<Exchange>(home.join("run"), &plan(false), points, &samples(50))
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

fn read_all(dir: &Path) -> Result<Vec<Sample>, RunError> {
    common::read_all::<Exchange>(dir)
}

fn assert_says(error: RunError, words: &str) {
    let says = error.to_string().contains(words);
    assert!(says, "`{error}` does not say `{words}`");
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
    let RunError::NewerSchema { found, known, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!((*found, *known), (7, 2));
    let error = open_changed(|t| t.replacen("\"schema\": 2", "\"schema\": 0", 1));
    assert_says(error, "format 0");
    let huge = |t: &str| t.replacen("\"schema\": 2", "\"schema\": 99999999999", 1);
    assert!(matches!(open_changed(huge), RunError::NewerSchema { .. }));
}

#[test]
fn an_unknown_kind_of_run_is_named() {
    let error = open_changed(|text| text.replacen("\"exchange\"", "\"seance\"", 1));
    let is_named = matches!(&error, RunError::UnknownKind { kind, .. } if kind == "seance");
    assert!(is_named, "{error}");
}

#[test]
fn a_missing_sample_file_is_named() {
    let error = read_changed(|path| fs::remove_file(path).unwrap());
    assert_says(error, "No such file");
    let directory = |path: &Path| {
        fs::remove_file(path).unwrap();
        fs::create_dir(path).unwrap();
    };
    assert_says(read_changed(directory), "it is not a file");
}

#[test]
fn a_sample_file_that_is_cut_changed_or_of_another_point_is_named_and_brings_nothing_down() {
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
    let refused = (0..whole.len()).filter(|&at| {
        let mut flipped = whole.clone();
        flipped[at] ^= [0xFF, 0x80, 0x01, 0x10][at % 4];
        fs::write(&path, &flipped).unwrap();
        read_all(&dir).is_err()
    });
    let refused = refused.count();
    assert!(refused > whole.len() / 4, "{refused} of {}", whole.len());
    fs::copy(dir.join("samples/point-0001.parquet"), &path).unwrap();
    assert_says(read_all(&dir).unwrap_err(), "its point differs");
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
        let fields = model.metadata().file_metadata().schema().get_fields();
        let fields = fields[..self.columns].to_vec();
        let required = |f: &Arc<Type>| f.get_basic_info().repetition() == Repetition::REQUIRED;
        assert!(fields.iter().all(required));
        let schema = Type::group_type_builder("sample").with_fields(fields);
        let schema = schema.build().unwrap();
        let point = serde_json::to_string(&point(0)).unwrap();
        let pairs = [("schema", self.schema.to_owned()), ("point", point)];
        let pairs = pairs.map(|(key, text)| KeyValue::new(format!("wiregauge.{key}"), text));
        let properties = WriterProperties::builder().set_key_value_metadata(Some(pairs.into()));
        let properties = Arc::new(properties.build());
        let out = File::create(path).unwrap();
        let mut writer = SerializedFileWriter::new(out, Arc::new(schema), properties).unwrap();
        let mut group = writer.next_row_group().unwrap();
        for column in 0..self.columns {
            let mut writer = group.next_column().unwrap().unwrap();
            match column {
                1 | 2 => {
                    let name = if column == 1 { "measured" } else { self.status };
                    let names = vec![name.into(); 3];
                    let typed = writer.typed::<ByteArrayType>();
                    typed.write_batch(&names, None, None).unwrap();
                }
                0 | 3..10 => {
                    let typed = writer.typed::<Int64Type>();
                    typed.write_batch(&[1, 2, 3], None, None).unwrap();
                }
                _ => {
                    let typed = writer.typed::<Int32Type>();
                    typed.write_batch(&[1, 2, 3], None, None).unwrap();
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

    let forged = |change: fn(&mut Forged)| {
        let mut file = HONEST;
        change(&mut file);
        read_changed(|path| file.write(path))
    };
    let error = forged(|file| file.status = "fine");
    assert_says(
        error,
        "column `status`, row group 0: `fine` is not a valid value",
    );
    let error = forged(|file| file.schema = "3");
    let is_newer = matches!(error, RunError::NewerSchema { found: 3, .. });
    assert!(is_newer, "{error}");
    let error = forged(|file| file.schema = "one");
    assert_says(error, "not written by wiregauge");
    let error = forged(|file| file.columns = 12);
    assert_says(error, "it has 12 columns, expected 13");
}

#[test]
fn a_plan_that_claims_data_that_was_not_kept_is_caught() {
    let home = tempfile::tempdir().unwrap();
    let dir = finished_run(home.path());
    let path = dir.join("run.json");
    let text = fs::read_to_string(&path).unwrap();
    let claims = text.replace("\"keep_data\": false", "\"keep_data\": true");
    fs::write(&path, claims).unwrap();
    assert_says(read_all(&dir).unwrap_err(), "13 columns, expected 14");
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
