//! `wiregauge doctor` on a Windows host that is made up. Windows' own calls are tested under Wine (windows/).

#![allow(clippy::unwrap_used)]

use crate::common;

use common::{Desk, has_all};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::json;
use std::fs;

const PARAMETERS: &str =
    r"SYSTEM\CurrentControlSet\Enum\FTDIBUS\VID_0403+PID_6001+A50285BIA\0000\Device Parameters";
const BALANCED: &str = "381b4222-f694-41f0-9685-ff5bb260df2e";
const HIGH_PERFORMANCE: &str = "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c";
const PLANS: &str = r"SYSTEM\CurrentControlSet\Control\Power\User\PowerSchemes";

/// A desk with a made-up Windows host: the plan Balanced, and an FTDI adapter at 16 ms.
struct Windows(Desk);

impl Windows {
    fn new() -> Windows {
        let host = Windows(Desk::new());
        fs::create_dir(host.0.path("host")).unwrap();
        let content = json!({
            "name": "BENCH",
            "plan": BALANCED,
            "plans": {BALANCED: {"name": "Balanced"}, HIGH_PERFORMANCE: {"name": "High performance"}},
            "registry": {
                r"HARDWARE\DEVICEMAP\SERIALCOMM": {r"\Device\VCP0": "COM3"},
                PARAMETERS: {"PortName": "COM3", "LatencyTimer": 16},
                format!(r"{PLANS}\{BALANCED}"): {},
                format!(r"{PLANS}\{HIGH_PERFORMANCE}"): {},
            },
        });
        fs::write(host.0.path("host/windows.json"), content.to_string()).unwrap();
        host
    }

    fn doctor(&self, arguments: &str) -> assert_cmd::Command {
        let mut command = self.0.command(&format!("doctor {arguments}"));
        command
            .env("WIREGAUGE_DOCTOR_ROOT", self.0.path("host"))
            .env("XDG_STATE_HOME", self.0.path("state"));
        assert_cmd::Command::from_std(command)
    }

    fn output(&self, arguments: &str) -> String {
        let done = self.doctor(arguments).assert().success();
        String::from_utf8_lossy(&done.get_output().stdout).into_owned()
    }
}

#[test]
fn a_port_of_windows_is_named_as_there_and_its_findings_have_commands_of_windows() {
    let host = Windows::new();
    let text = host.output("serial://COM3");
    assert!(
        text.starts_with("connection: COM3: latency timer 16 ms\n"),
        "{text}"
    );
    has_all(
        &text,
        &[
            "problem ftdi-latency: COM3: the FTDI chip delays short answers by up to 16 ms",
            "note    power-plan: the power plan Balanced lets the CPUs clock down",
            r#"fix    reg add "HKLM\SYSTEM\CurrentControlSet\Enum\FTDIBUS"#,
            "fix    powercfg /setactive 8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c",
            "2 settings can be changed now, and restored with --undo:",
        ],
    );
    host.doctor("serial://COM77")
        .assert()
        .code(3)
        .stderr(contains("COM77 does not exist").and(contains("hint: ")));
}

#[test]
fn a_made_up_host_that_is_garbage_is_refused() {
    let host = Windows::new();
    fs::write(host.0.path("host/windows.json"), "{").unwrap();
    host.doctor("")
        .assert()
        .failure()
        .stderr(contains("WIREGAUGE_DOCTOR_ROOT"));
}
