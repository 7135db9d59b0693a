//! The checks of Windows, on hosts that are made up: bad, good, absent, unreadable.

#![allow(clippy::unwrap_used)]

use crate::made_up;

use made_up::windows::{
    BALANCED, CORE_PARKING, FTDI, FTDI_USB, HIGH_PERFORMANCE, POWER_SAVER, PROCESSOR_MINIMUM, RUNS,
    USB_SUSPEND, Windows,
};
use made_up::{first_change, hold_evidence, hold_title};
use serde_json::json;
use wiregauge_doctor::{LINUX_CHECKS, Level, Target, WINDOWS_CHECKS, connection, examine};

const DEFENDER: &str = r"SOFTWARE\Microsoft\Windows Defender";
const NOT_CONTENT_INDEXED: u32 = 0x2000;
const DIRECTORY: u32 = 0x10;

fn com(name: &str) -> Target {
    Target::Tty { path: name.into() }
}

fn on_tcp() -> Target {
    Target::Network {
        peer: "10.0.0.5".parse().unwrap(),
        is_tcp: true,
    }
}

#[test]
fn every_check_has_a_name_of_its_own_on_each_system() {
    for checks in [LINUX_CHECKS, WINDOWS_CHECKS] {
        let mut names: Vec<&str> = checks.iter().map(|check| check.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "{names:?}");
    }
}

#[test]
fn a_host_of_which_nothing_can_be_read_has_no_problem() {
    let context = Windows::new().context(Target::None, None);
    for finding in examine(&context, &[]) {
        assert_eq!(finding.level, Level::Unknown, "{finding:#?}");
    }
}

#[test]
fn as_delivered_the_worst_is_the_latency_timer() {
    let context = Windows::usual().context(Target::None, None);
    let found = examine(&context, &[]);
    let worst = (&*found[0].check, found[0].level);
    assert_eq!(worst, ("ftdi-latency", Level::Hurts));
    let noted = found.iter().filter(|one| one.level == Level::Note);
    let noted: Vec<&str> = noted.map(|one| &*one.check).collect();
    let expected = "power-plan core-parking timer-resolution selective-suspend";
    assert_eq!(noted.join(" "), expected);
    let only = examine(&context, &["power-plan".into()]);
    assert_eq!(only.len(), 1);
}

#[test]
fn balanced_is_a_note_and_power_saver_a_problem_and_both_are_changed_to_high_performance() {
    let host = Windows::usual();
    for (plan, name, level) in [
        (BALANCED, "Balanced", Level::Note),
        (POWER_SAVER, "Power saver", Level::Hurts),
    ] {
        host.set("/plan", json!(plan));
        let found = host.only("power-plan");
        assert_eq!(found.level, level);
        hold_title(&found, name);
        hold_evidence(&found, plan);
        hold_evidence(&found, "minimum processor state = 5 % (plugged in)");
        assert_eq!(first_change(&found), (plan, HIGH_PERFORMANCE));
        let command = format!("powercfg /setactive {HIGH_PERFORMANCE}");
        assert_eq!(found.remedy, [command]);
    }
}

#[test]
fn high_performance_is_good() {
    let host = Windows::usual();
    host.set("/plan", json!(HIGH_PERFORMANCE));
    let found = host.only("power-plan");
    assert_eq!((found.level, found.changes.len()), (Level::Good, 0));
}

#[test]
fn a_plan_that_is_not_there_is_not_changed_to() {
    let host = Windows::usual();
    let mut all = host.json();
    let registry = all["registry"].as_object_mut().unwrap();
    registry.retain(|key, _| !key.ends_with(HIGH_PERFORMANCE));
    host.set("/registry", all["registry"].clone());
    let found = host.only("power-plan");
    assert_eq!((found.level, found.changes.len()), (Level::Note, 0));
    assert!(found.remedy[0].contains("Best performance"), "{found:#?}");
    // Nor are the settings of that plan changed.
    assert_eq!(host.only("core-parking").changes.len(), 1);
}

#[test]
fn a_plan_of_the_user_is_judged_by_its_minimum_processor_state() {
    let host = Windows::usual();
    let own = "11111111-2222-3333-4444-555555555555";
    host.set("/plan", json!(own));
    assert_eq!(host.level("power-plan"), Level::Unknown);
    for (least, level) in [(100, Level::Good), (50, Level::Note)] {
        let plan = json!({"name": "Mine", "plugged_in": {PROCESSOR_MINIMUM: least}});
        host.set(&format!("/plans/{own}"), plan);
        assert_eq!(host.level("power-plan"), level);
    }
}

#[test]
fn parked_cpus_are_noted_and_unparked_in_the_active_plan_and_the_one_that_fix_activates() {
    let host = Windows::usual();
    let found = host.only("core-parking");
    assert_eq!(found.level, Level::Note);
    hold_title(&found, "all but 5 %");
    let path = found.changes[0].path.to_str().unwrap();
    let expected = format!(r"power plan\{BALANCED}\plugged in\core parking minimum");
    assert_eq!(path, expected);
    assert_eq!(first_change(&found), ("5", "100"));
    assert_eq!(found.changes.len(), 1, "High performance parks nothing");
    let parking = format!("/plans/{HIGH_PERFORMANCE}/plugged_in/{CORE_PARKING}");
    host.set(&parking, json!(10));
    assert_eq!(host.only("core-parking").changes.len(), 2);
    host.set("/plan", json!(HIGH_PERFORMANCE));
    assert_eq!(host.only("core-parking").changes.len(), 1);
    host.set(&parking, json!(100));
    assert_eq!(host.level("core-parking"), Level::Good);
}

#[test]
fn on_battery_the_settings_for_the_battery_count() {
    let host = Windows::usual();
    host.set("/on_battery", json!(true));
    let parking = format!("/plans/{BALANCED}/plugged_in/{CORE_PARKING}");
    host.set(&parking, json!(100));
    let found = host.only("core-parking");
    let command = &found.remedy[0];
    assert!(command.starts_with("powercfg /setdcvalueindex"));
    hold_evidence(&found, "on battery");
}

#[test]
fn the_timer_is_noted_unless_requests_of_all_programs_count_and_it_is_fine() {
    let host = Windows::usual();
    let found = host.only("timer-resolution");
    assert_eq!((found.level, found.changes.len()), (Level::Note, 0));
    hold_title(&found, "15.625 ms");
    // Another program has requested 1 ms: since version 2004 that helps no one else.
    host.set("/timer", json!([156_250, 5_000, 10_000]));
    assert_eq!(host.level("timer-resolution"), Level::Note);
    assert_eq!(host.build("18363").level("timer-resolution"), Level::Good);
    let kernel = r"SYSTEM\CurrentControlSet\Control\Session Manager\kernel";
    host.key(kernel, json!({"GlobalTimerResolutionRequests": 1}));
    assert_eq!(host.build("22631").level("timer-resolution"), Level::Good);
    // It has no effect there.
    assert_eq!(host.build("19045").level("timer-resolution"), Level::Note);
    host.set("/timer", json!(null));
    assert_eq!(host.level("timer-resolution"), Level::Unknown);
}

#[test]
fn an_ftdi_adapter_at_its_16_ms_is_found_by_its_port_and_by_itself() {
    let host = Windows::usual();
    for target in [Target::None, com("COM3"), com("com3"), com(r"\\.\COM3")] {
        let found = host.look("ftdi-latency", target);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].level, Level::Hurts);
        assert!(found[0].title.contains("16 ms"), "{}", found[0].title);
        let path = found[0].changes[0].path.to_str().unwrap();
        assert_eq!(path, format!(r"HKLM\{FTDI}\Device Parameters\LatencyTimer"));
        let command = &found[0].remedy[0];
        assert!(command.starts_with("reg add \"HKLM\\"), "{command}");
    }
    for target in [com("COM4"), on_tcp(), Target::Here] {
        assert!(host.look("ftdi-latency", target).is_empty());
    }
}

#[test]
fn an_adapter_at_1_ms_is_good_and_one_without_a_timer_unknown() {
    let host = Windows::usual();
    host.parameters(FTDI, json!({"PortName": "COM3", "LatencyTimer": 1}));
    assert_eq!(host.level("ftdi-latency"), Level::Good);
    for rubbish in [json!("16"), json!([16, 0])] {
        host.parameters(FTDI, json!({"PortName": "COM3", "LatencyTimer": rubbish}));
        assert_eq!(host.level("ftdi-latency"), Level::Unknown);
    }
}

#[test]
fn an_adapter_that_is_not_attached_any_more_is_left_out() {
    let host = Windows::usual();
    let ports = json!({r"\Device\Serial0": "COM1"});
    host.key(r"HARDWARE\DEVICEMAP\SERIALCOMM", ports);
    assert!(host.look("ftdi-latency", Target::None).is_empty());
    host.set("/attached", json!([]));
    assert!(host.look("selective-suspend", Target::None).is_empty());
}

#[test]
fn of_two_adapters_that_had_the_same_number_the_attached_one_counts() {
    let host = Windows::usual();
    let (old, new) = (FTDI, FTDI.replace("A50285BIA", "ZZ9999ZZA"));
    host.parameters(&new, json!({"PortName": "COM3", "LatencyTimer": 2}));
    for (attached, ms) in [(old, "16 ms"), (new.as_str(), "2 ms")] {
        let instance = attached.strip_prefix(r"SYSTEM\CurrentControlSet\Enum\");
        host.set("/attached", json!([instance.unwrap()]));
        assert!(host.only("ftdi-latency").title.contains(ms));
    }
}

#[test]
fn selective_suspend_is_noted_where_a_usb_device_is_attached() {
    let host = Windows::usual();
    for target in [Target::None, com("COM3")] {
        let found = host.look("selective-suspend", target);
        assert_eq!((found.len(), found[0].level), (1, Level::Note));
        hold_evidence(&found[0], "EnhancedPowerManagementEnabled = 1");
        // The active plan, and the one that power-plan activates.
        assert_eq!(found[0].changes.len(), 2);
        assert_eq!(first_change(&found[0]), ("1", "0"));
    }
    assert!(host.look("selective-suspend", on_tcp()).is_empty());
    for plan in [BALANCED, HIGH_PERFORMANCE] {
        host.set(&format!("/plans/{plan}/plugged_in/{USB_SUSPEND}"), json!(0));
    }
    assert_eq!(host.level("selective-suspend"), Level::Good);
    host.set(&format!("/plans/{BALANCED}/plugged_in"), json!({}));
    assert_eq!(host.level("selective-suspend"), Level::Unknown);
}

#[test]
fn hubs_and_flags_in_bytes_are_known() {
    let host = Windows::usual();
    let usb = format!(r"SYSTEM\CurrentControlSet\Enum\{FTDI_USB}");
    host.parameters(&usb, json!({"SelectiveSuspendEnabled": [1]}));
    let found = host.only("selective-suspend");
    hold_evidence(&found, "SelectiveSuspendEnabled = 1");
    host.key(&usb, json!({"Service": "USBHUB3"}));
    assert!(host.look("selective-suspend", Target::None).is_empty());
}

#[test]
fn defender_is_noted_unless_it_is_off_or_leaves_out_the_runs() {
    let host = Windows::usual();
    let found = host.look("antivirus", Target::None);
    assert!(found.is_empty(), "no Defender");
    host.key(DEFENDER, json!({}));
    let found = host.only("antivirus");
    assert_eq!((found.level, found.changes.len()), (Level::Note, 0));
    assert!(found.remedy[0].contains(&format!("-ExclusionPath '{RUNS}'")));
    let paths = format!(r"{DEFENDER}\Exclusions\Paths");
    host.key(&paths, json!({r"C:\build": 0}));
    assert_eq!(host.level("antivirus"), Level::Note);
    host.set("/unreadable", json!([paths]));
    assert_eq!(host.level("antivirus"), Level::Unknown);
    host.set("/unreadable", json!([]));
    host.key(&paths, json!({r"C:\build": 0, r"d:\LAB": 0}));
    assert_eq!(host.level("antivirus"), Level::Good);
    host.key(&paths, json!({}));
    let real_time = format!(r"{DEFENDER}\Real-Time Protection");
    host.key(&real_time, json!({"DisableRealtimeMonitoring": 1}));
    assert_eq!(host.level("antivirus"), Level::Good);
}

#[test]
fn indexing_is_noted_where_windows_search_reads_the_runs() {
    let host = Windows::usual();
    assert!(host.look("indexing", Target::None).is_empty(), "no service");
    let service = r"SYSTEM\CurrentControlSet\Services\WSearch";
    host.key(service, json!({"Start": 2}));
    assert!(host.look("indexing", Target::None).is_empty(), "no run yet");
    let runs = format!("/attributes/{RUNS}");
    host.set(&runs, json!(DIRECTORY));
    let found = host.only("indexing");
    assert_eq!(found.level, Level::Note);
    assert_eq!(found.remedy, [format!(r#"attrib +I "{RUNS}""#)]);
    host.set(&runs, json!(DIRECTORY | NOT_CONTENT_INDEXED));
    assert_eq!(host.level("indexing"), Level::Good);
    host.set(&runs, json!(DIRECTORY));
    host.key(service, json!({"Start": 4}));
    assert_eq!(host.level("indexing"), Level::Good);
    let usual = r"C:\Users\me\AppData\Local\wiregauge\runs";
    host.key(service, json!({"Start": 2}));
    host.set("/runs", json!(usual));
    host.set(&format!("/attributes/{usual}"), json!(DIRECTORY));
    assert_eq!(host.level("indexing"), Level::Good);
}

#[test]
fn over_tcp_the_programs_own_nagle_is_said_to_be_open() {
    let host = Windows::usual();
    let found = host.look("network", on_tcp());
    assert_eq!((found.len(), found[0].level), (1, Level::Unknown));
    assert!(host.look("network", Target::None).is_empty());
}

#[test]
fn the_connection_to_a_port_is_described_from_the_registry() {
    let host = Windows::usual();
    let of = |target| connection(&host.context(target, None));
    assert_eq!(
        of(com("COM3")).unwrap(),
        "COM3: USB Serial Port (COM3), driver FTSER2K, latency timer 16 ms"
    );
    let unknown = of(com("COM1")).unwrap();
    assert_eq!(unknown, "COM1: not a port of a known USB device");
    assert_eq!(of(Target::None), None);
    assert_eq!(of(on_tcp()), None);
}

#[test]
fn a_port_is_found_by_the_list_of_those_that_are_there() {
    let context = Windows::usual().context(Target::None, None);
    assert_eq!(context.serial_port("COM3"), Some(com("COM3")));
    assert_eq!(context.serial_port("COM77"), None);
}
