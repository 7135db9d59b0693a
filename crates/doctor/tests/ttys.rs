//! Serial ports of hosts that are made up.

use crate::made_up;

use made_up::{Host, first_change, hold_evidence, hold_title, saw, tty, usb};
use wiregauge_doctor::{Level, Target};

const TIMER: &str = "/sys/bus/usb-serial/devices/ttyUSB0/latency_timer";

fn ftdi(timer: &str) -> Host {
    let host = Host::new();
    let node = host.usb("1-1", &[("speed", "12"), ("product", "FT232R USB UART")]);
    host.usb_tty(&node, "ttyUSB0", "ftdi_sio");
    host.file(TIMER, timer);
    host
}

#[test]
fn an_ftdi_adapter_at_its_16_ms_is_found_by_its_tty_by_its_usb_device_and_by_itself() {
    let host = ftdi("16\n");
    for target in [tty("ttyUSB0"), usb("1-1"), Target::None] {
        let found = host.only("ftdi-latency", target);
        assert_eq!(found.level, Level::Hurts);
        hold_title(&found, "16 ms");
        hold_evidence(&found, "latency_timer = 16");
        assert_eq!(found.changes.len(), 1);
        assert_eq!(found.changes[0].path.to_str(), Some(TIMER));
        assert_eq!(first_change(&found), ("16", "1"));
    }
}

#[test]
fn an_ftdi_adapter_at_1_ms_is_good_and_one_that_says_rubbish_is_not_known() {
    let found = ftdi("1\n").only("ftdi-latency", tty("ttyUSB0"));
    assert_eq!((found.level, found.changes.len()), (Level::Good, 0));
    for rubbish in ["", "soon", "99999999999999999999", "\u{fffd}\0"] {
        let found = ftdi(rubbish).only("ftdi-latency", tty("ttyUSB0"));
        assert_eq!((found.level, found.changes.len()), (Level::Unknown, 0));
    }
}

#[test]
fn what_is_no_ftdi_adapter_has_no_latency_timer() {
    let host = Host::new();
    assert!(host.look("ftdi-latency", Target::None).is_empty());
    assert!(host.look("ftdi-latency", tty("ttyACM0")).is_empty());
    assert!(host.look("ftdi-latency", tty("pts/3")).is_empty());
}

fn uart(flags: &str, trigger: Option<&str>) -> Host {
    let host = Host::new();
    let node = "/sys/devices/platform/serial8250/tty/ttyS0";
    host.file(&format!("{node}/flags"), flags)
        .file(&format!("{node}/type"), "4\n")
        .file("/sys/devices/platform/serial8250/uevent", "")
        .link(
            &format!("{node}/device"),
            "/sys/devices/platform/serial8250",
        )
        .link("/sys/class/tty/ttyS0", node);
    if let Some(trigger) = trigger {
        host.file(&format!("{node}/rx_trig_bytes"), trigger);
    }
    host
}

#[test]
fn a_uart_that_interrupts_at_8_bytes_is_a_note_whatever_its_low_latency_flag() {
    for (flags, state) in [("0x10000000\n", "off"), ("0x10002000\n", "on")] {
        let found = uart(flags, Some("8\n")).only("tty-low-latency", Target::None);
        assert_eq!(found.level, Level::Note);
        hold_evidence(&found, &format!("low_latency is {state}"));
        hold_evidence(&found, "rx_trig_bytes = 8");
        assert_eq!(first_change(&found), ("8", "1"));
    }
}

#[test]
fn a_uart_that_interrupts_at_each_byte_or_has_no_such_level_is_good() {
    for trigger in [Some("1\n"), None] {
        let found = uart("0x10000000\n", trigger).only("tty-low-latency", tty("ttyS0"));
        assert_eq!((found.level, found.changes.len()), (Level::Good, 0));
    }
    let found = uart("many\n", Some("8")).only("tty-low-latency", tty("ttyS0"));
    assert_eq!(found.level, Level::Unknown);
}

#[test]
fn a_port_that_is_not_there_says_nothing() {
    let host = uart("0x10000000\n", Some("8\n"));
    // PORT_UNKNOWN: the driver made the tty, and found no UART.
    host.file("/sys/devices/platform/serial8250/tty/ttyS0/type", "0\n");
    assert!(host.look("tty-low-latency", Target::None).is_empty());
    assert!(host.look("tty-low-latency", tty("pts/3")).is_empty());
}

#[test]
fn a_console_is_looked_at_only_if_it_is_asked_about() {
    let host = uart("0x10000000\n", Some("8\n"));
    host.file("/sys/class/tty/console/active", "tty0 ttyS0\n");
    assert!(host.look("tty-low-latency", Target::None).is_empty());
    assert_eq!(host.look("tty-low-latency", tty("ttyS0")).len(), 1);
}

#[test]
fn low_latency_is_said_to_do_nothing_for_a_cdc_port() {
    let host = Host::new();
    let node = host.usb("1-1", &[]);
    host.usb_tty(&node, "ttyACM0", "cdc_acm");
    let found = host.only("tty-low-latency", tty("ttyACM0"));
    assert_eq!(found.level, Level::Good);
    hold_title(&found, "does not use low_latency");
}

/// An Arduino with a running ModemManager.
fn modem_manager(protocol: Option<&str>) -> Host {
    let host = Host::new();
    let node = host.usb("1-1", &[("dev", "189:4")]);
    let interface = host.usb_tty(&node, "ttyACM0", "cdc_acm");
    if let Some(protocol) = protocol {
        host.file(&format!("{interface}/bInterfaceProtocol"), protocol);
    }
    host.file("/proc/1/comm", "systemd\n")
        .file("/proc/812/comm", "ModemManager\n")
        .file(
            "/proc/812/cmdline",
            "/usr/sbin/ModemManager\0--filter-policy=strict\0",
        );
    host
}

#[test]
fn modem_manager_hurts_a_port_that_speaks_like_a_modem() {
    for protocol in [Some("01\n"), None] {
        let found = modem_manager(protocol).only("modem-manager", tty("ttyACM0"));
        assert_eq!(found.level, Level::Hurts);
        assert!(saw(
            &found,
            "process 812: /usr/sbin/ModemManager --filter-policy=strict"
        ));
        let rule = &found.remedy[0];
        for part in [
            r#"ATTRS{idVendor}=="2341""#,
            r#"ATTRS{idProduct}=="0043""#,
            r#"ENV{ID_MM_DEVICE_IGNORE}="1""#,
        ] {
            assert!(rule.contains(part), "{rule}");
        }
        assert!(found.changes.is_empty(), "a rule of udev is the user's");
    }
}

#[test]
fn modem_manager_is_a_note_for_a_port_that_says_it_is_no_modem() {
    for protocol in ["00\n", "ff\n"] {
        let found = modem_manager(Some(protocol)).only("modem-manager", tty("ttyACM0"));
        assert_eq!(found.level, Level::Note, "{protocol}");
    }
}

#[test]
fn a_rule_of_udev_keeps_modem_manager_away_from_the_port_or_its_device() {
    for (place, line) in [
        ("/run/udev/data/c166:0", "E:ID_MM_PORT_IGNORE=1"),
        ("/run/udev/data/c166:0", "E:ID_MM_DEVICE_IGNORE=1"),
        ("/run/udev/data/c189:4", "E:ID_MM_DEVICE_IGNORE=1"),
    ] {
        let host = modem_manager(Some("01\n"));
        host.file(place, format!("I:1234\n{line}\nE:ID_BUS=usb\n"));
        let found = host.only("modem-manager", tty("ttyACM0"));
        assert_eq!(found.level, Level::Good, "{place} {line}");
        hold_evidence(&found, line);
    }
    let host = modem_manager(Some("01\n"));
    host.file("/run/udev/data/c166:0", "E:ID_MM_DEVICE_IGNORE=0\n");
    let found = host.only("modem-manager", tty("ttyACM0"));
    assert_eq!(found.level, Level::Hurts, "ignoring is switched off again");
}

#[test]
fn without_modem_manager_or_without_a_port_there_is_nothing_to_grab() {
    let host = Host::new();
    let node = host.usb("1-1", &[]);
    host.usb_tty(&node, "ttyACM0", "cdc_acm");
    host.file("/proc/1/comm", "systemd\n");
    assert_eq!(host.level("modem-manager", Target::None), Level::Good);
    let host = Host::new();
    host.file("/proc/812/comm", "ModemManager\n");
    assert!(host.look("modem-manager", Target::None).is_empty());
}
