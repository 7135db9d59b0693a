//! Settings of Windows are changed and restored, and nothing else is written.

#![allow(clippy::unwrap_used)]

use crate::made_up;

use made_up::windows::{
    BALANCED, CORE_PARKING, FTDI, HIGH_PERFORMANCE, RUNS, USB_SUSPEND, Windows,
};
use serde_json::{Value, json};
use std::path::PathBuf;
use wiregauge_doctor::{Change, Ended, Step, Target, Undone, examine, fix, undo};

fn undo_file(host: &Windows) -> PathBuf {
    host.directory().join("undo.json")
}

/// All changes of all checks.
fn fixed(host: &Windows) -> Vec<Step> {
    let context = host.context(Target::None, None);
    let found = examine(&context, &[]);
    let changes: Vec<Change> = found.into_iter().flat_map(|one| one.changes).collect();
    fix(&*context.settings(), &changes, &undo_file(host)).unwrap()
}

/// As another start of the program does it.
#[track_caller]
fn undone(host: &Windows) -> Vec<Step> {
    let context = host.context(Target::None, None);
    match undo(&*context.settings(), &undo_file(host)).unwrap() {
        Undone::Steps { steps } => steps,
        other => panic!("{other:?}"),
    }
}

/// With everything that can be changed.
fn host() -> Windows {
    let host = Windows::usual();
    let service = r"SYSTEM\CurrentControlSet\Services\WSearch";
    host.key(service, json!({"Start": 2}));
    host.set(&format!("/attributes/{RUNS}"), json!(0x10));
    host
}

fn latency_timer(host: &Windows) -> Value {
    let parameters = format!(r"{FTDI}\Device Parameters");
    host.json()["registry"][parameters]["LatencyTimer"].clone()
}

#[test]
fn all_that_can_be_changed_is_changed_and_restored() {
    let host = host();
    let before = host.json();
    let steps = fixed(&host);
    assert_eq!(steps.len(), 6);
    for step in &steps {
        assert_eq!(step.ended, Ended::Written, "{step:?}");
    }
    let after = host.json();
    assert_eq!(after["plan"], HIGH_PERFORMANCE);
    assert_eq!(latency_timer(&host), 1);
    assert_eq!(after["attributes"][RUNS], 0x2010);
    assert_eq!(after["plans"][BALANCED]["plugged_in"][CORE_PARKING], 100);
    for plan in [BALANCED, HIGH_PERFORMANCE] {
        assert_eq!(after["plans"][plan]["plugged_in"][USB_SUSPEND], 0);
    }
    assert_eq!(fixed(&host), [], "a second time nothing is left");
    for step in undone(&host) {
        assert_eq!(step.ended, Ended::Written, "{step:?}");
    }
    let restored = host.json();
    for part in ["plan", "plans", "attributes", "registry"] {
        assert_eq!(restored[part], before[part], "{part}");
    }
    assert!(!undo_file(&host).exists());
}

#[test]
fn what_others_changed_or_unplugged_meanwhile_is_left() {
    let host = host();
    fixed(&host);
    host.set("/plan", json!(BALANCED));
    host.parameters(FTDI, json!({"PortName": "COM3"}));
    let steps = undone(&host);
    let of = |name: &str| {
        let mut steps = steps.iter();
        let found = steps.find(|step| step.path.to_string_lossy().contains(name));
        found.unwrap().ended.clone()
    };
    assert_eq!(of("active power plan"), Ended::WasSo);
    assert_eq!(of("LatencyTimer"), Ended::Gone);
    assert_eq!(of("content indexing"), Ended::Written);
    let host = self::host();
    fixed(&host);
    host.parameters(FTDI, json!({"PortName": "COM3", "LatencyTimer": 4}));
    undone(&host);
    assert_eq!(latency_timer(&host), 4);
}

#[test]
fn who_is_no_administrator_changes_nothing_and_is_refused() {
    let host = host();
    host.set("/read_only", json!(true));
    let before = host.json();
    let steps = fixed(&host);
    let failed = !steps.is_empty() && steps.iter().all(Step::failed);
    assert!(failed, "{steps:#?}");
    assert_eq!(host.json(), before);
    assert!(!undo_file(&host).exists(), "nothing is to be undone");
}

#[test]
fn an_undo_file_can_write_nothing_that_no_check_changes() {
    let host = host();
    host.set(r"/attributes/C:\Windows", json!(0x10));
    let before = host.json();
    let service = r"HKLM\SYSTEM\CurrentControlSet\Services\WSearch\Start";
    let timer = format!(r"HKLM\{FTDI}\Device Parameters\LatencyTimer");
    let port = format!(r"HKLM\{FTDI}\Device Parameters\PortName");
    let changes = [
        (service, "2", "4"),
        (&timer, "16", "1000"),
        (&port, "COM3", "COM4"),
        (r"content indexing\C:\Windows", "on", "off"),
        ("active power plan", BALANCED, "everything off"),
        ("/sys/a", "1", "2"),
    ];
    let changes = changes.map(|(path, from, to)| Change {
        path: path.into(),
        from: from.into(),
        to: to.into(),
    });
    let context = host.context(Target::None, None);
    let steps = fix(&*context.settings(), &changes, &undo_file(&host)).unwrap();
    assert!(steps.iter().all(Step::failed), "{steps:#?}");
    assert_eq!(host.json(), before);
}

#[test]
fn a_restart_restores_nothing_on_windows_so_undo_still_does() {
    let host = host();
    fixed(&host);
    let noted: Value =
        serde_json::from_str(&std::fs::read_to_string(undo_file(&host)).unwrap()).unwrap();
    assert_eq!(noted["boot"], "");
    assert_eq!(undone(&host).len(), 6);
}
