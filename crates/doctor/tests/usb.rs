//! USB devices of hosts that are made up.

use crate::made_up;

use made_up::{Host, first_change, hold_evidence, hold_title, saw, tty, usb};
use wiregauge_doctor::{Level, Target};

#[test]
fn a_device_that_may_sleep_is_noted_with_the_hubs_above_it() {
    let host = Host::new();
    host.usb("usb1", &[("bDeviceClass", "09"), ("power/control", "auto")]);
    host.usb("1-1", &[("bDeviceClass", "09"), ("power/control", "auto")]);
    let node = host.usb(
        "1-1.4",
        &[
            ("power/control", "auto"),
            ("power/autosuspend_delay_ms", "2000"),
            ("power/runtime_status", "suspended"),
        ],
    );
    host.usb_tty(&node, "ttyACM0", "cdc_acm");
    for target in [usb("1-1.4"), tty("ttyACM0"), Target::None] {
        let found = host.only("autosuspend", target);
        assert_eq!(found.level, Level::Note);
        hold_title(&found, "after 2000 ms");
        hold_evidence(&found, "runtime_status = suspended");
        hold_evidence(&found, "1-1, usb1");
        let path = "/sys/bus/usb/devices/1-1.4/power/control";
        assert_eq!(found.changes[0].path.to_str(), Some(path));
        assert_eq!(first_change(&found), ("auto", "on"));
    }
}

#[test]
fn a_device_that_is_kept_awake_is_good() {
    for (control, delay) in [("on", "2000"), ("auto", "-1")] {
        let host = Host::new();
        let delay = ("power/autosuspend_delay_ms", delay);
        host.usb("1-1", &[("power/control", control), delay]);
        let found = host.only("autosuspend", usb("1-1"));
        assert_eq!((found.level, found.changes.len()), (Level::Good, 0));
    }
}

#[test]
fn a_device_without_power_management_says_nothing_and_rubbish_is_not_known() {
    let host = Host::new();
    assert!(host.look("autosuspend", usb("1-1")).is_empty());
    host.usb("1-1", &[]);
    assert!(host.look("autosuspend", usb("1-1")).is_empty());
    let host = Host::new();
    host.usb("1-1", &[("power/control", "perhaps")]);
    assert_eq!(host.level("autosuspend", usb("1-1")), Level::Unknown);
}

/// A BOS with a USB 2.0 extension and the SuperSpeed capability of an ordinary USB 3 device.
const USB_3: [u8; 22] = [
    5, 15, 22, 0, 2, 7, 16, 2, 2, 0, 0, 0, 10, 16, 3, 0, 14, 0, 1, 10, 32, 0,
];

#[test]
fn a_super_speed_device_on_usb_2_wires_is_reported_by_its_capabilities_and_by_its_port() {
    for (twin, said) in [(true, "check the cable"), (false, "no super-speed wires")] {
        let host = Host::new();
        let node = host.usb("1-3", &[("speed", "480"), ("version", " 2.10")]);
        host.file(&format!("{node}/bos_descriptors"), USB_3);
        let port = "/sys/devices/pci0000:00/0000:00:14.0/usb1/1-0:1.0/usb1-port3";
        host.file(&format!("{port}/connect_type"), "hotplug");
        if twin {
            host.file(&format!("{port}/peer/connect_type"), "hotplug");
        }
        host.link(&format!("{node}/port"), port);
        let found = host.only("speed", usb("1-3"));
        assert_eq!(found.level, Level::Hurts);
        hold_title(&found, "480 Mbit/s but supports 5000");
        hold_evidence(&found, said);
    }
}

#[test]
fn the_same_device_at_its_speed_is_good() {
    let host = Host::new();
    let node = host.usb("2-3", &[("speed", "5000"), ("version", " 3.20")]);
    host.file(&format!("{node}/bos_descriptors"), USB_3);
    assert_eq!(host.level("speed", usb("2-3")), Level::Good);
}

#[test]
fn without_its_capabilities_a_version_of_2_10_leaves_it_open() {
    for (version, level) in [(" 2.10", Level::Unknown), (" 2.00", Level::Good)] {
        let host = Host::new();
        host.usb("1-3", &[("speed", "480"), ("version", version)]);
        assert_eq!(host.level("speed", usb("1-3")), level, "{version}");
    }
}

#[test]
fn a_full_speed_chip_is_good_on_a_fast_port_and_not_told_on_a_slow_one() {
    for (port, version, level) in [
        ("480", " 2.00", Level::Good),
        ("12", " 2.00", Level::Note),
        // A device of USB 1.1 can do no more anywhere.
        ("12", " 1.10", Level::Good),
    ] {
        let host = Host::new();
        host.usb("usb1", &[("bDeviceClass", "09"), ("speed", port)]);
        host.usb("1-1", &[("speed", "12"), ("version", version)]);
        let found = host.only("speed", usb("1-1"));
        assert_eq!(found.level, level, "{found:#?}");
    }
}

#[test]
fn a_speed_that_is_rubbish_is_not_known_and_none_says_nothing() {
    for rubbish in ["unknown", "-5", "NaN", "inf"] {
        let host = Host::new();
        host.usb("1-1", &[("speed", rubbish), ("version", "x")]);
        assert_eq!(host.level("speed", usb("1-1")), Level::Unknown);
        assert!(host.look("hub", usb("1-1")).is_empty());
    }
    let host = Host::new();
    host.usb("1-1", &[]);
    assert!(host.look("speed", Target::None).is_empty());
    assert!(host.look("hub", Target::None).is_empty());
}

/// A high-speed hub with two full-speed devices and one of high speed.
fn behind_a_hub(protocol: &str) -> Host {
    let host = Host::new();
    host.usb("usb1", &[("bDeviceClass", "09"), ("speed", "480")]);
    let hub = [("bDeviceClass", "09"), ("speed", "480")];
    host.usb(
        "1-1",
        &[&hub[..], &[("bDeviceProtocol", protocol)]].concat(),
    );
    host.usb("1-1.1", &[("speed", "12")]);
    host.usb("1-1.2", &[("speed", "1.5"), ("product", "Mouse")]);
    host.usb("1-1.3", &[("speed", "480")]);
    host
}

#[test]
fn devices_on_one_translator_share_it_and_each_is_named() {
    let host = behind_a_hub("01");
    let found = host.only("hub", usb("1-1.1"));
    assert_eq!(found.level, Level::Note);
    hold_title(&found, "with 1 more");
    hold_evidence(&found, "1-1.2 (Mouse)");
    assert!(!saw(&found, "1-1.3"), "high speed needs no translator");
}

#[test]
fn a_hub_with_a_translator_for_each_port_shares_none() {
    let host = behind_a_hub("02");
    let found = host.only("hub", usb("1-1.1"));
    hold_title(&found, "has its own transaction translator");
    assert!(!saw(&found, "also behind it"));
}

#[test]
fn a_high_speed_device_behind_a_hub_and_one_without_a_hub_are_good() {
    let host = behind_a_hub("01");
    let found = host.only("hub", usb("1-1.3"));
    assert_eq!(found.level, Level::Good);
    host.usb("1-2", &[("speed", "12")]);
    let found = host.only("hub", usb("1-2"));
    assert_eq!(found.level, Level::Good);
    hold_title(&found, "directly into the computer");
}

#[test]
fn without_a_target_all_devices_are_looked_at_and_no_hubs() {
    let host = behind_a_hub("01");
    let found = host.look("hub", Target::None);
    let titles: Vec<&str> = found.iter().map(|one| one.title.as_str()).collect();
    assert_eq!(found.len(), 3, "{titles:?}");
}
