//! Settings are changed and put back, whatever happens in between.

#![allow(clippy::unwrap_used)]

use crate::made_up;

use made_up::Host;
use std::fs;
use std::path::{Path, PathBuf};
use wiregauge_doctor::{Change, Ended, FixError, KernelSettings, Step, Undone, fix, undo};

const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// A host with settings A, B and C, each 1, and the place of its undo file.
fn desk() -> (Host, PathBuf) {
    let host = Host::new();
    host.file(BOOT, "first\n");
    for name in ["a", "b", "c"] {
        host.file(&format!("/sys/{name}"), "1\n");
    }
    let file = host.place("/state/wiregauge/undo.json");
    (host, file)
}

fn settings(host: &Host) -> KernelSettings {
    KernelSettings::new(host.place("/"))
}

fn change(name: &str, from: &str, to: &str) -> Change {
    Change {
        path: format!("/sys/{name}").into(),
        from: from.into(),
        to: to.into(),
    }
}

fn text(host: &Host, name: &str) -> String {
    fs::read_to_string(host.place(&format!("/sys/{name}"))).unwrap()
}

fn ends(steps: &[Step]) -> Vec<&Ended> {
    steps.iter().map(|step| &step.ended).collect()
}

#[track_caller]
fn undone(host: &Host, file: &Path) -> Vec<Step> {
    match undo(&settings(host), file).unwrap() {
        Undone::Steps { steps } => steps,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_was_changed_is_put_back_the_last_first() {
    let (host, file) = desk();
    let root = settings(&host);
    let done = fix(
        &root,
        &[change("a", "1", "2"), change("b", "1", "3")],
        &file,
    )
    .unwrap();
    assert_eq!(ends(&done), [&Ended::Written, &Ended::Written]);
    assert_eq!(
        (text(&host, "a"), text(&host, "b")),
        ("2\n".into(), "3\n".into())
    );
    assert!(file.exists());
    let steps = undone(&host, &file);
    let order: Vec<_> = steps
        .iter()
        .map(|step| step.path.to_str().unwrap())
        .collect();
    assert_eq!(order, ["/sys/b", "/sys/a"]);
    assert_eq!(ends(&steps), [&Ended::Written, &Ended::Written]);
    assert_eq!(
        (text(&host, "a"), text(&host, "b")),
        ("1\n".into(), "1\n".into())
    );
    assert!(!file.exists());
    assert_eq!(undo(&root, &file).unwrap(), Undone::Nothing);
}

#[test]
fn a_change_that_fails_leaves_the_others_done_and_undoable() {
    let (host, file) = desk();
    // Nobody, not even root, writes to a directory.
    host.file("/sys/closed/x", "");
    let changes = [
        change("a", "1", "2"),
        change("closed", "1", "2"),
        change("b", "1", "2"),
    ];
    let done = fix(&settings(&host), &changes, &file).unwrap();
    assert!(
        !done[0].failed() && done[1].failed() && !done[2].failed(),
        "{done:#?}"
    );
    assert_eq!(undone(&host, &file).len(), 2);
    assert_eq!(
        (text(&host, "a"), text(&host, "b")),
        ("1\n".into(), "1\n".into())
    );
}

#[test]
fn a_crash_in_the_middle_can_be_undone() {
    let (host, file) = desk();
    fix(
        &settings(&host),
        &[change("a", "1", "2"), change("b", "1", "2")],
        &file,
    )
    .unwrap();
    // As if it had come after the first of the two.
    host.file("/sys/b", "1\n");
    let steps = undone(&host, &file);
    assert_eq!(ends(&steps), [&Ended::WasSo, &Ended::Written]);
    assert_eq!(
        (text(&host, "a"), text(&host, "b")),
        ("1\n".into(), "1\n".into())
    );
}

#[test]
fn what_others_changed_meanwhile_is_left_to_them() {
    let (host, file) = desk();
    fix(
        &settings(&host),
        &[change("a", "1", "2"), change("b", "1", "2")],
        &file,
    )
    .unwrap();
    host.file("/sys/a", "7\n");
    fs::remove_file(host.place("/sys/b")).unwrap();
    let steps = undone(&host, &file);
    assert_eq!(ends(&steps), [&Ended::Gone, &Ended::LeftAlone]);
    assert_eq!(steps[1].before.as_deref(), Some("7"));
    assert_eq!(text(&host, "a"), "7\n");
    assert!(!host.place("/sys/b").exists(), "a setting is never made");
    assert!(!file.exists());
}

#[test]
fn a_value_that_is_not_what_was_seen_is_not_overwritten() {
    let (host, file) = desk();
    let done = fix(
        &settings(&host),
        &[change("a", "5", "2"), change("b", "0", "1")],
        &file,
    )
    .unwrap();
    assert_eq!(ends(&done), [&Ended::LeftAlone, &Ended::WasSo]);
    assert_eq!(text(&host, "a"), "1\n");
    assert!(!file.exists(), "nothing is to be undone");
}

#[test]
fn fixed_twice_what_stood_there_at_first_comes_back() {
    let (host, file) = desk();
    let root = settings(&host);
    fix(&root, &[change("a", "1", "2")], &file).unwrap();
    fix(
        &root,
        &[change("a", "2", "3"), change("c", "1", "4")],
        &file,
    )
    .unwrap();
    assert_eq!(fix(&root, &[], &file).unwrap(), []);
    assert_eq!(undone(&host, &file).len(), 2);
    assert_eq!(
        (text(&host, "a"), text(&host, "c")),
        ("1\n".into(), "1\n".into())
    );
}

#[test]
fn what_cannot_be_put_back_stays_in_the_undo_file() {
    let (host, file) = desk();
    fix(
        &settings(&host),
        &[change("a", "1", "2"), change("b", "1", "2")],
        &file,
    )
    .unwrap();
    fs::remove_file(host.place("/sys/a")).unwrap();
    host.file("/sys/a/x", "");
    let steps = undone(&host, &file);
    assert!(steps[1].failed(), "{steps:#?}");
    assert!(file.exists());
    fs::remove_dir_all(host.place("/sys/a")).unwrap();
    host.file("/sys/a", "2\n");
    assert_eq!(ends(&undone(&host, &file)), [&Ended::Written]);
    assert_eq!(text(&host, "a"), "1\n");
}

#[test]
fn a_restart_has_undone_it_already() {
    let (host, file) = desk();
    let root = settings(&host);
    fix(&root, &[change("a", "1", "2")], &file).unwrap();
    host.file(BOOT, "second\n");
    assert_eq!(undo(&root, &file).unwrap(), Undone::ByRestart);
    assert_eq!(text(&host, "a"), "2\n");
    assert!(!file.exists());
    // What is changed after a restart does not mix with what was before.
    host.file(BOOT, "first\n");
    fix(&root, &[change("b", "1", "2")], &file).unwrap();
    host.file(BOOT, "second\n");
    fix(&root, &[change("c", "1", "2")], &file).unwrap();
    assert_eq!(undone(&host, &file).len(), 1);
}

#[test]
fn only_settings_of_the_kernel_are_ever_written_to() {
    let (host, file) = desk();
    host.file("/etc/passwd", "1\n");
    host.link("/sys/link", "/etc/passwd");
    let mut changes = vec![change("link", "1", "2"), change("../etc/passwd", "1", "2")];
    changes.push(Change {
        path: "/etc/passwd".into(),
        from: "1".into(),
        to: "2".into(),
    });
    let done = fix(&settings(&host), &changes, &file).unwrap();
    assert!(done.iter().all(Step::failed), "{done:#?}");
    assert_eq!(
        fs::read_to_string(host.place("/etc/passwd")).unwrap(),
        "1\n"
    );
}

#[test]
fn an_undo_file_that_is_garbage_stops_before_anything_is_changed() {
    let (host, file) = desk();
    for garbage in [
        "",
        "{}",
        "[1, 2",
        r#"{"schema": 9, "boot": "first", "changes": []}"#,
        "\u{0}",
    ] {
        host.file("/state/wiregauge/undo.json", garbage);
        let error = fix(&settings(&host), &[change("a", "1", "2")], &file).unwrap_err();
        assert!(matches!(error, FixError::Read { .. }), "{error}");
        assert!(undo(&settings(&host), &file).is_err(), "{garbage}");
    }
    assert_eq!(text(&host, "a"), "1\n");
}
