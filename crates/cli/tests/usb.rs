//! USB on a machine without the device, or without any USB: what is said then. (What happens with
//! devices is seen in the lab.)

use crate::common;

use common::{Desk, has_all};

#[test]
fn a_device_that_is_not_there_is_a_failed_link_and_leaves_no_run() {
    let desk = Desk::new();
    // No device has vendor 0: the USB Implementers Forum assigned it to nobody.
    desk.refuses(
        "",
        3,
        "
        exchange usb://0000:fffe                  => usb://0000:fffe | USB | hint:
        exchange usb://0000:fffe/A12#interface=1  => usb://0000:fffe/A12#interface=1 | USB | hint:
        exchange usb://250-7.7.7                  => usb://250-7.7.7 | USB | hint:
        stream usb://0000:fffe --type isochronous --packet 192 --direction out => error:
        ",
    );
}

#[test]
fn what_no_device_has_is_refused_with_what_to_change() {
    let desk = Desk::new();
    desk.refuses(
        "exchange",
        2,
        "
        usb://lamp                       => usb://lamp | 3-1.4 | hint:
        usb://1d6b:xyzzy                 => usb://1d6b:xyzzy | hexadecimal | hint:
        usb://1d6b:0104#in=0x02          => 0x82 | hint:
        usb://1d6b:0104#speed=high       => interface=N | hint:
        usb://1d6b:0104#type=isochronous => wiregauge stream --type isochronous | hint:
        usb://1-1 --protocol get-status --depth 2        => one standard request at a time
        tcp://127.0.0.1:1 --protocol get-status          => requires a USB device
        ",
    );
    desk.refuses(
        "stream --type isochronous --packet 192",
        2,
        "
        tcp://127.0.0.1:9                     => for usb:// only | remove --type
        usb://0000:fffe --direction in,out    => one direction | --direction out
        usb://0000:fffe --direction both      => one direction | --direction in
        usb://0000:fffe --protocol wiregauge  => not repeated | --protocol raw
        usb://0000:fffe --transfer 4k         => 1 to 128 packets of 192 B | multiple of --packet
        usb://0000:fffe --transfer 24768      => 1 to 128 packets of 192 B | multiple of --packet
        ",
    );
    desk.refuses(
        "",
        2,
        "
        stream usb://0000:fffe --type isochronous             => required
        stream usb://0000:fffe --packet 192                   => required
        serve usb-virtual --function iso,bulk                 => iso is a device of its own
        serve usb-virtual --function iso --devices 2          => models one device
        serve usb-virtual --function iso --stall every=3:1ms  => --stall has no effect
        serve usb-virtual --function iso --protocol echo      => --protocol has no effect
        serve usb-virtual --function iso --interval 3ms       => 1ms, 2ms, 4ms
        serve usb-gadget --function iso                       => serve usb-virtual --function iso
        ",
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
