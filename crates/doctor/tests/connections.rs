//! What is said of the connection to a device on hosts that are made up.

use crate::made_up;

use made_up::{Host, tty, usb};
use std::net::{IpAddr, Ipv4Addr};
use wiregauge_doctor::{HostContext, Target, connection};

fn of(host: &Host, target: Target) -> String {
    let context = HostContext::new(host.place("/"), target, None);
    connection(&context).expect("a connection")
}

#[test]
fn a_pseudo_terminal_is_named_as_one_with_the_program_that_has_it_open() {
    let host = Host::new();
    host.file("/dev/pts/3", "");
    host.file("/proc/77/comm", "board\n");
    host.link("/proc/77/fd/5", "/dev/pts/3");
    host.file("/proc/self/status", "");
    let said = of(&host, tty("pts/3"));
    let named = said.starts_with("/dev/pts/3 is a pseudo-terminal");
    assert!(named, "{said}");
    assert!(said.ends_with("open in board (process 77)"), "{said}");
}

#[test]
fn a_port_of_a_board_has_its_driver_its_bus_and_its_settings() {
    let host = Host::new();
    let node = host.usb("1-1.4", &[("speed", "12"), ("product", "FT232R USB UART")]);
    host.usb_tty(&node, "ttyUSB0", "ftdi_sio");
    host.file("/sys/bus/usb-serial/devices/ttyUSB0/latency_timer", "16\n");
    host.file("/proc/1/comm", "init\n");
    assert_eq!(
        of(&host, tty("ttyUSB0")),
        "/dev/ttyUSB0: driver ftdi_sio, USB device 1-1.4 (FT232R USB UART), 12 Mbit/s, 1 hub in between, latency \
         timer 16 ms, open in no program that this user may see"
    );
    assert_eq!(
        of(&host, usb("1-1.4")),
        "USB device 1-1.4 (FT232R USB UART), 12 Mbit/s, 1 hub in between"
    );
}

#[test]
fn many_openers_are_counted_and_all_files_were_seen() {
    let host = Host::new();
    host.file("/dev/ttyS0", "");
    for id in 1..=4 {
        host.link(&format!("/proc/{id}/fd/0"), "/dev/ttyS0");
    }
    assert!(of(&host, tty("ttyS0")).ends_with("open in 4 programs"));
    host.file("/proc/9/fd/0", "");
    assert!(of(&host, tty("ttyS1")).ends_with("open in no program"));
}

#[test]
fn a_network_device_has_its_interface_or_is_on_this_host() {
    let host = Host::new();
    let peer = |octets: [u8; 4]| Target::Network {
        peer: IpAddr::V4(Ipv4Addr::from(octets)),
        is_tcp: true,
    };
    assert_eq!(
        of(&host, peer([127, 0, 0, 1])),
        "127.0.0.1 is this host: no network interface to check"
    );
    host.file(
        "/proc/net/route",
        "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n\
         eth0 00000000 0100000A 0003 0 0 100 00000000 0 0 0\n",
    );
    for (file, text) in [("speed", "1000"), ("duplex", "full"), ("mtu", "1500")] {
        host.file(&format!("/sys/class/net/eth0/{file}"), text);
    }
    assert_eq!(
        of(&host, peer([10, 0, 0, 5])),
        "network interface eth0: 1000 Mbit/s, full duplex, MTU 1500"
    );
}

#[test]
fn without_a_device_nothing_is_said_of_a_connection() {
    let host = Host::new();
    for target in [Target::None, Target::Here] {
        let context = HostContext::new(host.place("/"), target, None);
        assert_eq!(connection(&context), None);
    }
}
