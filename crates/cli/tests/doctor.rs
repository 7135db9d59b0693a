//! `wiregauge doctor` as a user runs it: on this host as it is, and on hosts that are made up.

#![allow(clippy::unwrap_used)]

use crate::common;

use common::{Background, Desk, Ended, has_all};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

const GOVERNOR: &str = "sys/devices/system/cpu/cpufreq/policy0/scaling_governor";
const CONTROL: &str = "sys/bus/usb/devices/1-1/power/control";

/// A desk with a made-up host on it: one processor that clocks down, one that sleeps deeply.
struct Host(Desk);

impl Host {
    fn new() -> Host {
        let host = Host(Desk::new());
        host.file(GOVERNOR, "schedutil\n");
        host.file(
            "sys/devices/system/cpu/cpufreq/policy1/scaling_governor",
            "schedutil\n",
        );
        host.file(
            "sys/devices/system/cpu/cpu0/cpuidle/state2/latency",
            "133\n",
        );
        host.file("sys/devices/system/cpu/cpu0/cpuidle/state2/disable", "0\n");
        host.file("proc/sys/kernel/random/boot_id", "this start\n");
        host
    }

    fn place(&self, path: &str) -> PathBuf {
        self.0.path("host").join(path)
    }

    fn file(&self, path: &str, text: &str) {
        let place = self.place(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.place(path)).unwrap()
    }

    fn undo_file(&self) -> PathBuf {
        self.0.path("state/wiregauge/undo.json")
    }

    fn surround(&self, command: &mut Command) {
        command
            .env("WIREGAUGE_DOCTOR_ROOT", self.0.path("host"))
            .env("XDG_STATE_HOME", self.0.path("state"));
    }

    fn doctor(&self, arguments: &str) -> assert_cmd::Command {
        let mut command = self.0.command(&format!("doctor {arguments}"));
        self.surround(&mut command);
        assert_cmd::Command::from_std(command)
    }

    fn output(&self, arguments: &str) -> String {
        let done = self.doctor(arguments).assert().success();
        String::from_utf8_lossy(&done.get_output().stdout).into_owned()
    }

    fn json(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.output(&format!("{arguments} --json"))).unwrap()
    }

    /// As a user who may read everything and write nothing but an undo file.
    fn as_nobody(&self, arguments: &str) -> Ended {
        let state = self.0.path("state");
        fs::create_dir_all(&state).unwrap();
        for (path, mode) in [(state, 0o777), (self.place(GOVERNOR), 0o444)] {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        let mut command = self.0.command_as_nobody(&format!("doctor {arguments}"));
        self.surround(&mut command);
        Background::start(&mut command).ended()
    }
}

#[test]
fn this_host_is_looked_at_and_every_objection_has_evidence_a_cost_and_a_remedy() {
    let desk = Desk::new();
    let found = desk.json("doctor --json");
    let findings = found["findings"].as_array().unwrap();
    assert!(!findings.is_empty());
    for one in findings {
        if ["note", "problem"].contains(&one["level"].as_str().unwrap()) {
            assert!(!one["evidence"].as_array().unwrap().is_empty(), "{one}");
            assert!(!one["remedy"].as_array().unwrap().is_empty(), "{one}");
            for part in ["text", "source"] {
                assert!(!one["cost"][part].as_str().unwrap().is_empty(), "{one}");
            }
        }
    }
    assert!(found.get("changes").is_none(), "nothing is changed unasked");
}

#[test]
fn the_worst_comes_first_with_evidence_cost_source_and_a_command() {
    let host = Host::new();
    let text = host.output("--only real-time,governor");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "problem governor: the frequency governor is schedutil, not performance"
    );
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let seen = "found /sys/devices/system/cpu/cpufreq/policy*/scaling_governor = schedutil effect ";
    assert!(words.contains(seen), "{text}");
    has_all(
        &text,
        &[
            "effect ",
            "(source: faschingbauer.me",
            "fix    echo performance | sudo tee /sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
            "unknown real-time: ",
            "2 settings can be changed now, and restored with --undo:",
            "  sudo wiregauge doctor --only real-time,governor --fix\n",
        ],
    );
    let command = |line: &&&str| line.trim_start().starts_with("fix") || line.contains("sudo");
    for line in lines.iter().filter(|line| !command(line)) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn the_connection_to_a_device_is_described_before_the_findings() {
    let host = Host::new();
    host.file("dev/pts/3", "");
    let text = host.output("serial:///dev/pts/3");
    assert!(
        text.starts_with("connection: /dev/pts/3 is a pseudo-terminal:"),
        "{text}"
    );
    let connection = host.json("serial:///dev/pts/3")["connection"].clone();
    assert!(
        connection
            .as_str()
            .is_some_and(|text| text.contains("open in no program")),
        "{connection}"
    );
    // Without a device there is no connection, and single checks are about themselves.
    for arguments in ["", "serial:///dev/pts/3 --only governor"] {
        assert!(
            !host.output(arguments).contains("connection: "),
            "{arguments}"
        );
    }
}

#[test]
fn what_is_good_is_named_in_one_line() {
    let host = Host::new();
    let text = host.output("--only ftdi-latency");
    assert!(text.contains("nothing to check"), "{text}");
    host.file(GOVERNOR, "performance\n");
    host.file(
        "sys/devices/system/cpu/cpufreq/policy1/scaling_governor",
        "performance\n",
    );
    assert_eq!(host.output("--only governor"), "1 good: governor\n");
}

#[test]
fn fix_changes_tells_and_undo_puts_back() {
    let host = Host::new();
    let text = host.output("--fix --only governor,idle-states");
    has_all(
        &text,
        &["policy*/scaling_governor: schedutil -> performance  (2 times)"],
    );
    assert!(text.contains("state2/disable: 0 -> 1"), "{text}");
    assert!(text.contains("3 settings changed"), "{text}");
    assert_eq!(host.text(GOVERNOR), "performance\n");
    let again = host.json("--fix --only governor,idle-states");
    assert_eq!(again["changes"], serde_json::json!([]), "{again}");
    let undone = host.json("--undo");
    let steps = undone["undone"]["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 3);
    assert!(
        steps.iter().all(|step| step["how"] == "written"),
        "{undone}"
    );
    assert_eq!(host.text(GOVERNOR), "schedutil\n");
    let text = host.output("--undo");
    assert!(text.contains("nothing to undo"), "{text}");
}

#[test]
fn undo_leaves_what_somebody_else_changed() {
    let host = Host::new();
    host.output("--fix --only governor");
    host.file(GOVERNOR, "ondemand\n");
    let text = host.output("--undo");
    has_all(
        &text,
        &["ondemand, changed by another program in the meantime; kept"],
    );
    assert_eq!(host.text(GOVERNOR), "ondemand\n");
}

#[test]
fn what_cannot_be_written_is_reported_with_the_command_for_root_and_the_exit_code() {
    let host = Host::new();
    let ended = host.as_nobody("--fix --only governor");
    assert_eq!(ended.code, Some(1), "{ended}");
    let said = &ended.stdout;
    assert!(
        said.contains("schedutil, not performance: Permission denied"),
        "{ended}"
    );
    assert!(
        said.contains("sudo wiregauge doctor --fix --only governor"),
        "{ended}"
    );
    assert_eq!(host.text(GOVERNOR), "schedutil\n");
}

#[test]
fn an_undo_file_of_another_user_is_not_obeyed() {
    if !rustix::process::getuid().is_root() {
        return;
    }
    let host = Host::new();
    host.output("--fix --only governor");
    std::os::unix::fs::chown(host.undo_file(), Some(65534), None).unwrap();
    host.doctor("--undo")
        .assert()
        .code(2)
        .stderr(contains("belongs to another user"));
    assert_eq!(host.text(GOVERNOR), "performance\n");
}

#[test]
fn an_undo_file_that_is_damaged_is_named_and_nothing_is_changed() {
    let host = Host::new();
    fs::create_dir_all(host.undo_file().parent().unwrap()).unwrap();
    fs::write(host.undo_file(), "{").unwrap();
    for flags in ["--fix --only governor", "--undo"] {
        let failed = host.doctor(flags).assert().code(3);
        failed.stderr(contains("undo.json").and(contains("nothing was changed")));
    }
    assert_eq!(host.text(GOVERNOR), "schedutil\n");
}

#[test]
fn a_usb_device_is_named_by_its_port_and_a_tty_by_its_path() {
    let host = Host::new();
    host.file(CONTROL, "on\n");
    host.file("dev/ttyACM0", "");
    for address in [
        "usb://1-1",
        "serial:///dev/ttyACM0",
        "/dev/ttyACM0",
        "tcp://127.0.0.1:7",
        "null://",
    ] {
        host.doctor(&format!("{address} --only governor"))
            .assert()
            .success();
    }
    for (address, said) in [
        ("usb://1-2", "no device is attached to port 1-2"),
        ("serial:///dev/ttyACM1", "/dev/ttyACM1 does not exist"),
        ("tcp://no.such.host.invalid:7", "no.such.host.invalid"),
    ] {
        host.doctor(address)
            .assert()
            .code(3)
            .stderr(contains(said).and(contains("hint: ")));
    }
    host.doctor("/tmp/ttyACM0")
        .assert()
        .code(2)
        .stderr(contains("serial:///tmp/ttyACM0"));
}

#[test]
fn bad_input_is_answered_with_what_there_is() {
    let host = Host::new();
    host.doctor("--only gouvernor")
        .assert()
        .code(2)
        .stderr(contains("idle-states"));
    host.doctor("--run never-measured")
        .assert()
        .code(2)
        .stderr(contains("never-measured"));
    host.doctor("--undo --fix")
        .assert()
        .code(2)
        .stderr(contains("cannot be used with"));
}

#[test]
fn a_stored_run_is_judged_by_what_it_kept() {
    let desk = Desk::new();
    desk.output("exchange null:// --count 40 --no-calibration");
    let found = desk.json("doctor --run last --json --only real-time,steal,neighbours");
    let findings = found["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 3, "{found}");
    let of = |check: &str| findings.iter().find(|one| one["check"] == check).unwrap();
    let policy = of("real-time")["evidence"][0].as_str().unwrap();
    assert!(policy.contains("policy = SCHED_OTHER"), "{policy}");
    // The device shares the CPUs, so no priority is proposed.
    let remedy = of("real-time")["remedy"].to_string();
    assert!(!remedy.contains("--priority"), "{remedy}");
    let load = of("neighbours")["evidence"][0].as_str().unwrap();
    assert!(load.contains("load "), "{load}");
}
