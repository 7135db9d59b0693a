//! Settings are changed and put back, whatever happens in between.

#![allow(clippy::unwrap_used)]

use crate::made_up;

use made_up::Host;
use std::fs;
use std::path::{Path, PathBuf};
use wiregauge_doctor::{Change, Ended, FixError, KernelSettings, Step, Undone, fix, undo};

const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// A host with settings A, B and C, each 1, and the place of its undo file.
struct Desk {
    host: Host,
    file: PathBuf,
}

impl Desk {
    fn new() -> Desk {
        let host = Host::new();
        host.file(BOOT, "first\n");
        for name in ["a", "b", "c"] {
            host.file(&format!("/sys/{name}"), "1\n");
        }
        let file = host.place("/state/wiregauge/undo.json");
        Desk { host, file }
    }

    fn settings(&self) -> KernelSettings {
        KernelSettings::new(self.host.place("/"))
    }

    /// Changes settings: name, the value before, the value behind.
    #[track_caller]
    fn fix(&self, changes: &[(&str, &str, &str)]) -> Vec<Step> {
        let changes = changes
            .iter()
            .map(|(name, from, to)| change(name, from, to));
        let changes: Vec<Change> = changes.collect();
        fix(&self.settings(), &changes, &self.file).unwrap()
    }

    #[track_caller]
    fn undo(&self) -> Vec<Step> {
        match undo(&self.settings(), &self.file).unwrap() {
            Undone::Steps { steps } => steps,
            other => panic!("{other:?}"),
        }
    }

    fn values<const N: usize>(&self, names: [&str; N]) -> [String; N] {
        names.map(|name| fs::read_to_string(self.host.place(&format!("/sys/{name}"))).unwrap())
    }
}

fn change(name: &str, from: &str, to: &str) -> Change {
    Change {
        path: Path::new("/sys").join(name),
        from: from.into(),
        to: to.into(),
    }
}

fn ends(steps: &[Step]) -> Vec<&Ended> {
    steps.iter().map(|step| &step.ended).collect()
}

#[test]
fn what_was_changed_is_put_back_the_last_first() {
    let desk = Desk::new();
    let done = desk.fix(&[("a", "1", "2"), ("b", "1", "3")]);
    assert_eq!(ends(&done), [&Ended::Written, &Ended::Written]);
    assert_eq!(desk.values(["a", "b"]), ["2\n", "3\n"]);
    assert!(desk.file.exists());
    let steps = desk.undo();
    let order = steps.iter().map(|step| step.path.to_str().unwrap());
    assert_eq!(order.collect::<Vec<_>>(), ["/sys/b", "/sys/a"]);
    assert_eq!(ends(&steps), [&Ended::Written, &Ended::Written]);
    assert_eq!(desk.values(["a", "b"]), ["1\n", "1\n"]);
    assert!(!desk.file.exists());
    let again = undo(&desk.settings(), &desk.file).unwrap();
    assert_eq!(again, Undone::Nothing);
}

#[test]
fn a_change_that_fails_leaves_the_others_done_and_undoable() {
    let desk = Desk::new();
    // Nobody, not even root, writes to a directory.
    desk.host.file("/sys/closed/x", "");
    let done = desk.fix(&[("a", "1", "2"), ("closed", "1", "2"), ("b", "1", "2")]);
    let failed: Vec<bool> = done.iter().map(Step::failed).collect();
    assert_eq!(failed, [false, true, false], "{done:#?}");
    assert_eq!(desk.undo().len(), 2);
    assert_eq!(desk.values(["a", "b"]), ["1\n", "1\n"]);
}

#[test]
fn a_crash_in_the_middle_can_be_undone() {
    let desk = Desk::new();
    desk.fix(&[("a", "1", "2"), ("b", "1", "2")]);
    // As if it had come after the first of the two.
    desk.host.file("/sys/b", "1\n");
    assert_eq!(ends(&desk.undo()), [&Ended::WasSo, &Ended::Written]);
    assert_eq!(desk.values(["a", "b"]), ["1\n", "1\n"]);
}

#[test]
fn what_others_changed_meanwhile_is_left_to_them() {
    let desk = Desk::new();
    desk.fix(&[("a", "1", "2"), ("b", "1", "2")]);
    desk.host.file("/sys/a", "7\n");
    fs::remove_file(desk.host.place("/sys/b")).unwrap();
    let steps = desk.undo();
    assert_eq!(ends(&steps), [&Ended::Gone, &Ended::LeftAlone]);
    assert_eq!(steps[1].before.as_deref(), Some("7"));
    assert_eq!(desk.values(["a"]), ["7\n"]);
    let holds = !desk.host.place("/sys/b").exists();
    assert!(holds, "a setting is never made");
    assert!(!desk.file.exists());
}

#[test]
fn a_value_that_is_not_what_was_seen_is_not_overwritten() {
    let desk = Desk::new();
    let done = desk.fix(&[("a", "5", "2"), ("b", "0", "1")]);
    assert_eq!(ends(&done), [&Ended::LeftAlone, &Ended::WasSo]);
    assert_eq!(desk.values(["a"]), ["1\n"]);
    assert!(!desk.file.exists(), "nothing is to be undone");
}

#[test]
fn fixed_twice_what_stood_there_at_first_comes_back() {
    let desk = Desk::new();
    desk.fix(&[("a", "1", "2")]);
    desk.fix(&[("a", "2", "3"), ("c", "1", "4")]);
    assert_eq!(desk.fix(&[]), []);
    assert_eq!(desk.undo().len(), 2);
    assert_eq!(desk.values(["a", "c"]), ["1\n", "1\n"]);
}

#[test]
fn what_cannot_be_put_back_stays_in_the_undo_file() {
    let desk = Desk::new();
    desk.fix(&[("a", "1", "2"), ("b", "1", "2")]);
    fs::remove_file(desk.host.place("/sys/a")).unwrap();
    desk.host.file("/sys/a/x", "");
    let steps = desk.undo();
    assert!(steps[1].failed(), "{steps:#?}");
    assert!(desk.file.exists());
    fs::remove_dir_all(desk.host.place("/sys/a")).unwrap();
    desk.host.file("/sys/a", "2\n");
    assert_eq!(ends(&desk.undo()), [&Ended::Written]);
    assert_eq!(desk.values(["a"]), ["1\n"]);
}

#[test]
fn a_restart_has_undone_it_already() {
    let desk = Desk::new();
    desk.fix(&[("a", "1", "2")]);
    desk.host.file(BOOT, "second\n");
    let undone = undo(&desk.settings(), &desk.file).unwrap();
    assert_eq!(undone, Undone::ByRestart);
    assert_eq!(desk.values(["a"]), ["2\n"]);
    assert!(!desk.file.exists());
    // What is changed after a restart does not mix with what was before.
    desk.host.file(BOOT, "first\n");
    desk.fix(&[("b", "1", "2")]);
    desk.host.file(BOOT, "second\n");
    desk.fix(&[("c", "1", "2")]);
    assert_eq!(desk.undo().len(), 1);
}

#[test]
fn only_settings_of_the_kernel_are_ever_written_to() {
    let desk = Desk::new();
    desk.host.file("/etc/passwd", "1\n");
    desk.host.link("/sys/link", "/etc/passwd");
    let done = desk.fix(&["link", "../etc/passwd", "/etc/passwd"].map(|path| (path, "1", "2")));
    assert!(done.iter().all(Step::failed), "{done:#?}");
    assert_eq!(desk.values(["../etc/passwd"]), ["1\n"]);
}

#[test]
fn an_undo_file_that_is_garbage_stops_before_anything_is_changed() {
    let desk = Desk::new();
    for garbage in [
        "",
        "{}",
        "[1, 2",
        r#"{"schema": 9, "boot": "first", "changes": []}"#,
        "\u{0}",
    ] {
        desk.host.file("/state/wiregauge/undo.json", garbage);
        let root = desk.settings();
        let error = fix(&root, &[change("a", "1", "2")], &desk.file).unwrap_err();
        assert!(matches!(error, FixError::Read { .. }), "{error}");
        assert!(undo(&root, &desk.file).is_err(), "{garbage}");
    }
    assert_eq!(desk.values(["a"]), ["1\n"]);
}
