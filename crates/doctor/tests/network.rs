//! Network interfaces of hosts that are made up.

use crate::made_up;

use made_up::{Host, saw};
use wiregauge_doctor::{Finding, Level, Target};

const ROUTES: &str = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n\
    eth0 00000000 0100000A 0003 0 0 100 00000000 0 0 0\n\
    lo 0000007F 00000000 0001 0 0 0 000000FF 0 0 0\n";

fn peer(address: &str, is_tcp: bool) -> Target {
    Target::Network {
        peer: address.parse().expect("an address"),
        is_tcp,
    }
}

/// eth0 with these attributes; what it finds for a device that it leads to, over UDP.
fn with(attributes: &[(&str, &str)]) -> Vec<Finding> {
    let host = Host::new();
    host.file("/proc/net/route", ROUTES);
    for (file, text) in attributes {
        host.file(&format!("/sys/class/net/eth0/{file}"), format!("{text}\n"));
    }
    host.look("network", peer("10.0.0.5", false))
}

fn hold_remedy(finding: &Finding, text: &str) {
    let mut remedy = finding.remedy.iter();
    assert!(remedy.any(|one| one.contains(text)), "{finding:#?}");
}

fn at(findings: &[Finding], level: Level) -> Vec<&Finding> {
    findings.iter().filter(|one| one.level == level).collect()
}

#[test]
fn half_duplex_hurts_and_10_mbit_is_noted() {
    let found = with(&[("speed", "10"), ("duplex", "half")]);
    let hurts = at(&found, Level::Hurts);
    assert_eq!(hurts.len(), 1, "{found:#?}");
    assert!(saw(hurts[0], "duplex = half"));
    let notes = at(&found, Level::Note);
    assert_eq!(notes.len(), 1);
    assert!(notes[0].title.contains("10 Mbit/s"));
}

#[test]
fn a_radio_hurts() {
    let found = with(&[("wireless/status", "0x0")]);
    assert_eq!(at(&found, Level::Hurts).len(), 1, "{found:#?}");
    hold_remedy(&found[0], "power_save off");
}

#[test]
fn damaged_frames_are_noted_with_their_counts() {
    let found = with(&[
        ("speed", "100"),
        ("duplex", "full"),
        ("statistics/rx_crc_errors", "17"),
        ("statistics/collisions", "0"),
    ]);
    let notes = at(&found, Level::Note);
    assert_eq!(notes.len(), 1, "{found:#?}");
    assert!(saw(notes[0], "rx_crc_errors = 17") && !saw(notes[0], "collisions"));
}

#[test]
fn a_gigabit_cable_is_good_and_what_only_ethtool_tells_is_said_to_be_open() {
    let found = with(&[
        ("speed", "1000"),
        ("duplex", "full"),
        ("device/vendor", "0x8086"),
    ]);
    assert_eq!(at(&found, Level::Good).len(), 1, "{found:#?}");
    let open = at(&found, Level::Unknown);
    assert_eq!((open.len(), found.len()), (1, 2));
    hold_remedy(open[0], "--show-coalesce eth0");
}

#[test]
fn an_interface_that_says_rubbish_or_nothing_says_nothing() {
    assert!(with(&[]).is_empty());
    let found = with(&[("speed", "-1"), ("duplex", "unknown")]);
    assert_eq!(found.len(), at(&found, Level::Good).len(), "{found:#?}");
    let host = Host::new();
    host.file("/proc/net/route", "rubbish\nmore of it\n\0\n");
    assert!(host.look("network", peer("10.0.0.5", false)).is_empty());
}

#[test]
fn over_tcp_the_programs_own_nagle_is_said_to_be_open() {
    let host = Host::new();
    let found = host.only("network", peer("10.0.0.5", true));
    assert_eq!(found.level, Level::Unknown);
    hold_remedy(&found, "TCP_NODELAY");
}

#[test]
fn this_host_is_not_reached_over_an_interface() {
    let host = Host::new();
    host.file("/proc/net/route", ROUTES)
        .file(
            "/proc/net/fib_trie",
            "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 10.0.0.7\n        /32 host LOCAL\n",
        )
        .file("/sys/class/net/eth0/duplex", "half\n")
        .file("/sys/class/net/lo/duplex", "half\n");
    for here in ["127.0.0.1", "10.0.0.7", "::1", "::ffff:127.0.0.1"] {
        assert!(host.look("network", peer(here, false)).is_empty(), "{here}");
    }
    assert!(!host.look("network", peer("10.0.0.8", false)).is_empty());
    assert!(host.look("network", Target::None).is_empty());
}

#[test]
fn a_board_that_is_a_network_interface_on_usb_is_looked_at_as_a_usb_device_too() {
    let host = Host::new();
    let routes = ROUTES.replace("eth0", "usb0");
    host.file("/proc/net/route", routes);
    let node = host.usb("1-1", &[("power/control", "auto")]);
    host.file(&format!("{node}/1-1:1.0/net/usb0/speed"), "425\n");
    let interface = format!("{node}/1-1:1.0");
    host.link(&format!("{interface}/net/usb0/device"), &interface);
    host.link("/sys/class/net/usb0", &format!("{interface}/net/usb0"));
    let found = host.only("autosuspend", peer("10.0.0.5", false));
    assert!(found.title.contains("1-1"), "{}", found.title);
}
