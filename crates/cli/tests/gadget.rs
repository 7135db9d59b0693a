//! `serve usb-gadget` where there is no gadget to be had: what is said. That it works is shown where a
//! kernel with a device controller is at hand, in the virtual machine.

use crate::common;

use common::Desk;
use predicates::prelude::*;
use predicates::str::contains;

#[test]
fn a_computer_that_cannot_be_this_device_says_why_and_what_to_try() {
    let desk = Desk::new();
    // No root, no configfs, no controller at all or none of that name: one of them is missing
    // wherever this runs.
    let ended = desk
        .wiregauge("serve usb-gadget --udc no-such-controller")
        .assert()
        .failure()
        .stdout("")
        .stderr(contains("cannot become a USB device: ").and(contains("hint: ")));
    let code = ended.get_output().status.code();
    assert!(matches!(code, Some(2 | 3)), "{code:?}");
}

#[test]
fn functions_that_are_none_are_answered_with_those_that_are() {
    let desk = Desk::new();
    desk.fails(
        "serve usb-gadget --function bulk,isochronous",
        2,
        &["isochronous", "bulk, interrupt, acm, hid, tmc, ftdi"],
    );
}

#[test]
fn an_adapter_is_a_full_speed_device_of_its_own_and_only_a_virtual_one() {
    let desk = Desk::new();
    for (arguments, said) in [
        (
            "usb-gadget --function ftdi",
            "serve usb-virtual --function ftdi",
        ),
        (
            "usb-virtual --function cp210x,acm",
            "use --function cp210x alone",
        ),
        (
            "usb-virtual --function ch341=2",
            "use --function ch341 alone",
        ),
        (
            "usb-virtual --function ftdi --speed high",
            "requires --speed full",
        ),
    ] {
        desk.fails(&format!("serve {arguments}"), 2, &[said]);
    }
}

#[test]
fn the_low_latency_flag_is_one_of_serial_lines() {
    let desk = Desk::new();
    for command in ["exchange", "stream"] {
        desk.fails(
            &format!("{command} tcp://127.0.0.1:1 --no-low-latency"),
            2,
            &["--no-low-latency requires a serial line"],
        );
    }
}

#[test]
fn flags_of_the_gadget_are_refused_at_other_addresses() {
    let desk = Desk::new();
    for flag in [
        "--function bulk",
        "--udc dummy_udc.0",
        "--usb-id 1d6b:0104",
        "--serial 1",
        "--speed full",
        "--transfers sync",
    ] {
        let name = flag.split_once(' ').expect("a flag and its value").0;
        desk.fails(&format!("serve tcp://:0 {flag}"), 2, &[name, "usb-gadget"]);
    }
}

#[test]
fn a_loaded_device_answers_all_the_same_and_ends_when_told() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --device-load cpu=1,memory=1");
    desk.wiregauge(&format!(
        "exchange {} --count 50 --no-calibration --no-store --timeout 20s",
        server.address
    ))
    .assert()
    .success();
    server.process.signal(rustix::process::Signal::TERM);
    let ended = server.process.ended();
    assert_eq!(ended.code, Some(0), "{ended}");
}
