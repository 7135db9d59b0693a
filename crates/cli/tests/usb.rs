//! USB on a machine without the device, or without any USB: what is said then. (What happens with
//! devices is seen in the lab.)

use crate::common;

use common::{Desk, has_all};
use predicates::prelude::*;
use predicates::str::contains;

/// `exchange ADDRESS` ends with this code, names the address and says this.
#[track_caller]
fn refused(address: &str, code: i32, says: &str) {
    let desk = Desk::new();
    desk.wiregauge(&format!("exchange {address} --no-calibration"))
        .assert()
        .code(code)
        .stdout("")
        .stderr(
            contains(address)
                .and(contains(says))
                .and(contains("hint: ")),
        );
    assert_eq!(desk.stored(), Vec::<String>::new(), "an empty run is left");
}

#[test]
fn a_device_that_is_not_there_is_a_failed_link_and_leaves_no_run() {
    // No device has vendor 0: the USB Implementers Forum assigned it to nobody.
    refused("usb://0000:fffe", 3, "USB");
    refused("usb://0000:fffe/A12#interface=1", 3, "USB");
    refused("usb://250-7.7.7", 3, "USB");
}

#[test]
fn a_name_that_no_device_can_have_is_wrong_usage() {
    refused("usb://lamp", 2, "3-1.4");
    refused("usb://1d6b:xyzzy", 2, "hexadecimal");
    refused("usb://1d6b:0104#in=0x02", 2, "0x82");
    refused("usb://1d6b:0104#speed=high", 2, "interface=N");
}

#[test]
fn isochronous_exchanges_are_refused_with_the_stream_that_there_is() {
    refused(
        "usb://1d6b:0104#type=isochronous",
        2,
        "wiregauge stream --type isochronous",
    );
}

#[test]
fn an_isochronous_stream_that_cannot_be_is_refused_with_what_to_change() {
    for (address, flags, says, hint) in [
        ("tcp://127.0.0.1:9", "", "for usb:// only", "remove --type"),
        (
            "usb://0000:fffe",
            "--direction in,out",
            "one direction",
            "--direction out",
        ),
        (
            "usb://0000:fffe",
            "--direction both",
            "one direction",
            "--direction in",
        ),
        (
            "usb://0000:fffe",
            "--protocol wiregauge",
            "not repeated",
            "--protocol raw",
        ),
        (
            "usb://0000:fffe",
            "--transfer 4k",
            "1 to 128 packets of 192 B",
            "multiple of --packet",
        ),
        (
            "usb://0000:fffe",
            "--transfer 24768",
            "1 to 128 packets of 192 B",
            "multiple of --packet",
        ),
    ] {
        let desk = Desk::new();
        desk.wiregauge(&format!(
            "stream {address} --type isochronous --packet 192 {flags}"
        ))
        .assert()
        .code(2)
        .stdout("")
        .stderr(contains(says).and(contains(hint)));
    }
    let desk = Desk::new();
    // What is right is looked for.
    desk.wiregauge("stream usb://0000:fffe --type isochronous --packet 192 --direction out")
        .assert()
        .code(3);
    for alone in ["--type isochronous", "--packet 192"] {
        desk.fails(&format!("stream usb://0000:fffe {alone}"), 2, &["required"]);
    }
}

#[test]
fn what_an_isochronous_device_does_not_have_is_refused() {
    let desk = Desk::new();
    for (flags, says) in [
        ("--function iso,bulk", "iso is a device of its own"),
        ("--function iso --devices 2", "models one device"),
        (
            "--function iso --stall every=3:1ms",
            "--stall has no effect",
        ),
        ("--function iso --protocol echo", "--protocol has no effect"),
        ("--function iso --interval 3ms", "1ms, 2ms, 4ms"),
    ] {
        desk.fails(&format!("serve usb-virtual {flags}"), 2, &[says]);
    }
    desk.fails(
        "serve usb-gadget --function iso",
        2,
        &["serve usb-virtual --function iso"],
    );
}

#[test]
fn devices_are_listed_without_asking_anyone() {
    let desk = Desk::new();
    let listed = desk.output("devices");
    has_all(
        &listed,
        &["USB\n", "Serial\n", "Network\n", "no device was opened"],
    );
    assert!(!listed.contains("yes: "), "somebody was asked: {listed}");
}

#[test]
fn devices_as_json_have_an_answer_each() {
    let desk = Desk::new();
    let listed = desk.wiregauge("devices --json").assert().success();
    let listed: serde_json::Value =
        serde_json::from_slice(&listed.get_output().stdout).expect("JSON");
    for kind in ["usb", "serial", "network"] {
        for device in listed[kind].as_array().expect("a list") {
            assert!(device["answer"]["how"].is_string(), "{device}");
        }
    }
    // Where the system has no USB at all, that is said.
    assert_eq!(
        listed["usb_problem"].is_string(),
        !std::path::Path::new("/sys/bus/usb/devices").exists(),
        "{listed}"
    );
}

#[test]
fn what_endpoint_0_cannot_do_is_refused_with_the_reason() {
    let desk = Desk::new();
    for (command, reason) in [
        (
            "exchange usb://1-1 --protocol get-status --depth 2",
            "one standard request at a time",
        ),
        (
            "exchange tcp://127.0.0.1:1 --protocol get-status",
            "requires a USB device",
        ),
    ] {
        desk.fails(command, 2, &[reason]);
    }
}
