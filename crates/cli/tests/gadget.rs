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
fn what_a_gadget_cannot_be_and_flags_without_an_effect_are_refused() {
    let desk = Desk::new();
    desk.refuses(
        "serve",
        2,
        "
        usb-gadget --function bulk,isochronous       => isochronous | bulk, interrupt, acm, hid, tmc, ftdi
        usb-gadget --function ftdi                   => serve usb-virtual --function ftdi
        usb-virtual --function cp210x,acm            => use --function cp210x alone
        usb-virtual --function ch341=2               => use --function ch341 alone
        usb-virtual --function ftdi --speed high     => requires --speed full
        tcp://:0 --function bulk                     => --function | usb-gadget
        tcp://:0 --udc dummy_udc.0                   => --udc | usb-gadget
        tcp://:0 --usb-id 1d6b:0104                  => --usb-id | usb-gadget
        tcp://:0 --serial 1                          => --serial | usb-gadget
        tcp://:0 --speed full                        => --speed | usb-gadget
        tcp://:0 --transfers sync                    => --transfers | usb-gadget
        ",
    );
    desk.refuses(
        "",
        2,
        "
        exchange tcp://127.0.0.1:1 --no-low-latency  => --no-low-latency requires a serial line
        stream tcp://127.0.0.1:1 --no-low-latency    => --no-low-latency requires a serial line
        ",
    );
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
