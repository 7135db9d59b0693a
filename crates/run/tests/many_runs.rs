//! Listing runs and finding the one that the user means.

#![allow(clippy::unwrap_used)]

use crate::common;

use common::RunWriter;
use common::{conditions, plan, point, summary};
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};
use wiregauge_record::Conditions;
use wiregauge_run::{RunError, State, find, list};

/// Stores a run that started in January 2026, at this day and hour.
fn store(home: &Path, name: &str, hour: &str, state: Option<State>) {
    let conditions = Conditions {
        started: format!("2026-01-{hour}:00:00Z"),
        ..conditions()
    };
    let mut run = RunWriter::create(&home.join(name), &plan(false), &conditions).unwrap();
    let writer = run.begin_point(point(0)).unwrap();
    run.end_point(writer, summary(point(0), 50)).unwrap();
    if let Some(state) = state {
        run.finish(state).unwrap();
    }
}

/// Four readable runs of 2026 and three directories that are none.
fn some_runs(home: &Path) {
    let (tcp, udp) = ("2026-01-02T00-00-00Z-tcp", "2026-01-01T00-00-00Z-udp");
    store(home, tcp, "02T00", Some(State::Complete));
    let error = "unplugged".to_owned();
    store(home, udp, "01T00", Some(State::Failed { error }));
    store(home, "my-board", "01T12", Some(State::Interrupted));
    store(home, "my-board-2", "03T00", None);
    fs::create_dir(home.join("empty")).unwrap();
    fs::create_dir(home.join("broken")).unwrap();
    fs::write(home.join("broken/run.json"), "{").unwrap();
    fs::create_dir(home.join(".hidden")).unwrap();
    fs::write(home.join("notes.txt"), "").unwrap();
}

#[test]
fn runs_are_listed_newest_last_and_the_unreadable_with_their_problem() {
    let home = tempfile::tempdir().unwrap();
    some_runs(home.path());
    let runs = list(home.path()).unwrap();
    let seen = runs.iter().map(|run| (&*run.name, &*run.state));
    let seen: Vec<(&str, &str)> = seen.collect();
    let expected = [
        ("2026-01-01T00-00-00Z-udp", "failed"),
        ("my-board", "interrupted"),
        ("2026-01-02T00-00-00Z-tcp", "complete"),
        ("my-board-2", "killed"),
        ("broken", "unreadable"),
        ("empty", "unreadable"),
    ];
    assert_eq!(seen, expected);
    assert_eq!(runs[0].problem.as_deref(), Some("unplugged"));
    assert_eq!(runs[2].problem, None);
    let counts = (runs[2].points, runs[2].measured, runs[2].rows);
    assert_eq!((counts, runs[2].kind), ((1, 50, "exchanges"), "exchange"));
    assert_eq!(runs[2].address, "tcp://127.0.0.1:7700");
    assert_eq!(runs[2].started, "2026-01-02T00:00:00Z");
    for (run, words) in [(&runs[4], "broken/run.json"), (&runs[5], "no run.json")] {
        assert!(run.problem.as_deref().unwrap().contains(words), "{words}");
    }
}

#[test]
fn a_home_that_does_not_exist_has_no_runs() {
    let home = tempfile::tempdir().unwrap();
    let nowhere = home.path().join("nowhere");
    assert_eq!(list(&nowhere).unwrap(), []);
    let error = find(&nowhere, "last").unwrap_err();
    assert!(matches!(error, RunError::NoRuns { .. }), "{error}");
}

#[test]
fn a_run_is_found_by_every_name_it_has() {
    let home = tempfile::tempdir().unwrap();
    some_runs(home.path());
    let found = |name: &str| find(home.path(), name).map(|run| run.stored().name());
    assert_eq!(found("last").unwrap(), "my-board-2");
    assert_eq!(found("2026-01-02").unwrap(), "2026-01-02T00-00-00Z-tcp");
    let path = home.path().join("my-board");
    let path = path.to_str().unwrap();
    let (folder, file) = (format!("{path}/"), format!("{path}/run.json"));
    // A whole name beats a beginning.
    for name in ["my-board", path, &folder, &file] {
        assert_eq!(found(name).unwrap(), "my-board", "{name}");
    }
}

#[test]
fn an_unclear_name_is_answered_with_the_candidates() {
    let home = tempfile::tempdir().unwrap();
    some_runs(home.path());
    let error = find(home.path(), "2026").unwrap_err();
    let RunError::Ambiguous { candidates, .. } = &error else {
        panic!("{error}")
    };
    let expected = ["2026-01-01T00-00-00Z-udp", "2026-01-02T00-00-00Z-tcp"];
    assert_eq!(candidates, &expected);
    let text = error.to_string();
    assert!(text.contains(&expected.join(", ")), "{text}");

    for name in ["nothing", "", "../nothing", "my-board/nothing"] {
        let error = find(home.path(), name).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, RunError::NotFound { .. }), "{name}: {text}");
        assert!(text.contains(home.path().to_str().unwrap()), "{text}");
        assert!(text.contains("`wiregauge runs`"), "{text}");
    }
    let error = find(home.path(), "broken").unwrap_err();
    assert!(matches!(error, RunError::BadRunFile { .. }), "{error}");
    let error = find(home.path(), "empty").unwrap_err();
    assert!(matches!(error, RunError::NotARun { .. }), "{error}");
}

#[test]
fn of_runs_that_started_in_one_second_the_one_written_to_last_is_the_newest() {
    let home = tempfile::tempdir().unwrap();
    for (name, written) in [("a", 3), ("b", 1), ("c", 2)] {
        store(home.path(), name, "02T00", Some(State::Complete));
        let dir = fs::File::open(home.path().join(name)).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(written);
        dir.set_modified(time).unwrap();
    }
    let names = list(home.path()).unwrap().into_iter().map(|run| run.name);
    assert_eq!(names.collect::<Vec<_>>(), ["b", "c", "a"]);
    assert_eq!(find(home.path(), "last").unwrap().stored().name(), "a");
}
