//! A Windows host that is made up: a `windows.json` in a temporary directory.

#![allow(dead_code, clippy::unwrap_used)]

use super::{hold, one};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;
use wiregauge_doctor::{Finding, HostContext, Level, Target, WINDOWS_CHECKS};
use wiregauge_run::AnyRun;

pub const BALANCED: &str = "381b4222-f694-41f0-9685-ff5bb260df2e";
pub const HIGH_PERFORMANCE: &str = "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c";
pub const POWER_SAVER: &str = "a1841308-3541-4fab-bc81-f71556f20b4a";
pub const CORE_PARKING: &str = "0cc5b647-c1df-4637-891a-dec35c318583";
pub const PROCESSOR_MINIMUM: &str = "893dee8e-2bef-41e0-89c6-b55d0929964c";
pub const USB_SUSPEND: &str = "48e6b7a6-50f5-4782-a5d4-53bb8f07e226";

/// The key of an FTDI adapter's port, which is COM3 and attached.
pub const FTDI: &str = r"SYSTEM\CurrentControlSet\Enum\FTDIBUS\VID_0403+PID_6001+A50285BIA\0000";
/// Its USB device.
pub const FTDI_USB: &str = r"USB\VID_0403&PID_6001\A50285BI";
pub const RUNS: &str = r"D:\lab\runs";

/// The host.
pub struct Windows {
    directory: TempDir,
}

impl Windows {
    /// One without anything but a name.
    pub fn new() -> Windows {
        let host = Windows {
            directory: tempfile::tempdir().unwrap(),
        };
        host.write(&json!({"name": "BENCH", "runs": RUNS}));
        host
    }

    /// One as it is delivered: Balanced, with an FTDI adapter that is COM3.
    pub fn usual() -> Windows {
        let host = Windows::new();
        let of_plan = |name: &str, least: u32| {
            let values = json!({CORE_PARKING: least, PROCESSOR_MINIMUM: least, USB_SUSPEND: 1});
            json!({"name": name, "plugged_in": values, "on_battery": values})
        };
        host.set("/plan", json!(BALANCED));
        host.set(
            "/plans",
            json!({
                BALANCED: of_plan("Balanced", 5),
                HIGH_PERFORMANCE: of_plan("High performance", 100),
                POWER_SAVER: of_plan("Power saver", 5),
            }),
        );
        for plan in [BALANCED, HIGH_PERFORMANCE, POWER_SAVER] {
            let key = r"SYSTEM\CurrentControlSet\Control\Power\User\PowerSchemes";
            host.key(&format!(r"{key}\{plan}"), json!({}));
        }
        host.set("/timer", json!([156_250, 5_000, 156_250]));
        host.build("19045");
        host.key(
            r"HARDWARE\DEVICEMAP\SERIALCOMM",
            json!({r"\Device\VCP0": "COM3"}),
        );
        host.key(
            FTDI,
            json!({"FriendlyName": "USB Serial Port (COM3)", "Service": "FTSER2K"}),
        );
        host.parameters(FTDI, json!({"PortName": "COM3", "LatencyTimer": 16}));
        let usb = format!(r"SYSTEM\CurrentControlSet\Enum\{FTDI_USB}");
        host.key(&usb, json!({"Service": "FTDIBUS"}));
        host.parameters(&usb, json!({"EnhancedPowerManagementEnabled": 1}));
        host.set("/attached", json!([FTDI_USB]));
        host
    }

    /// Its directory.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub fn json(&self) -> Value {
        let text = fs::read_to_string(self.directory().join("windows.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    fn write(&self, value: &Value) {
        fs::write(self.directory().join("windows.json"), value.to_string()).unwrap();
    }

    /// Something of it, by its JSON pointer (RFC 6901) with one or more parts.
    pub fn set(&self, pointer: &str, value: Value) -> &Windows {
        let mut all = self.json();
        let mut at = &mut all;
        for part in pointer.split('/').skip(1) {
            at = &mut at[part];
        }
        *at = value;
        self.write(&all);
        self
    }

    /// A key of the registry with these values.
    pub fn key(&self, path: &str, values: Value) -> &Windows {
        self.set(&format!("/registry/{path}"), values)
    }

    /// The parameters of a device.
    pub fn parameters(&self, device: &str, values: Value) -> &Windows {
        self.key(&format!(r"{device}\Device Parameters"), values)
    }

    /// The number of its Windows build.
    pub fn build(&self, number: &str) -> &Windows {
        let key = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion";
        self.key(key, json!({"CurrentBuildNumber": number}))
    }

    pub fn context(&self, target: Target, run: Option<AnyRun>) -> HostContext {
        let mut context = HostContext::made_up(self.directory()).unwrap();
        (context.target, context.run) = (target, run);
        context
    }

    /// What one check finds.
    #[track_caller]
    pub fn look_with(&self, check: &str, target: Target, run: Option<AnyRun>) -> Vec<Finding> {
        let found = WINDOWS_CHECKS.iter().find(|one| one.name == check);
        let context = self.context(target, run);
        let findings = (found.expect("a check of this name").look)(&context);
        for finding in &findings {
            assert_eq!(finding.check, check);
            hold(finding);
            assert!(
                finding.remedy.len() >= finding.changes.len(),
                "a command for each"
            );
        }
        findings
    }

    /// The same without a run.
    #[track_caller]
    pub fn look(&self, check: &str, target: Target) -> Vec<Finding> {
        self.look_with(check, target, None)
    }

    /// The only thing that it finds, without a device.
    #[track_caller]
    pub fn only(&self, check: &str) -> Finding {
        one(self.look(check, Target::None))
    }

    #[track_caller]
    pub fn level(&self, check: &str) -> Level {
        self.only(check).level
    }
}
