//! USBTMC on a machine without an instrument: what is said then, and what is refused before anything is opened. (What
//! happens with instruments is seen in the lab, plan `usbtmc`.)

use crate::common;

use common::{Desk, refused};

const QUERY: &str = r"--protocol scpi --send *IDN?\n";

#[test]
fn an_instrument_that_is_not_there_is_a_failed_link_and_leaves_no_run() {
    for address in [
        "usbtmc:///dev/usbtmc4711",
        "usbtmc://0000:fffe",
        "usbtmc://0000:fffe/MY1",
        "usbtmc://250-1",
    ] {
        let desk = Desk::new();
        desk.fails(
            &format!("exchange {address} {QUERY}"),
            3,
            &[address, "hint: "],
        );
        assert_eq!(desk.stored(), Vec::<String>::new());
    }
}

#[test]
fn a_missing_file_is_answered_with_the_driver_that_makes_it() {
    let command = format!("exchange usbtmc:///dev/usbtmc4711 {QUERY}");
    refused(&command, 3, "modprobe usbtmc");
}

#[test]
fn a_file_that_is_not_of_the_driver_is_wrong_usage() {
    for file in ["/dev/null", "/proc/self/status"] {
        let says = format!("{file} is not a file of the kernel's usbtmc driver");
        refused(&format!("exchange usbtmc://{file} {QUERY}"), 2, &says);
    }
}

#[test]
fn a_name_that_no_instrument_can_have_is_wrong_usage() {
    refused("exchange usbtmc://scope", 2, "/dev/usbtmc0");
    refused("exchange usbtmc://0957:xyzzy", 2, "hexadecimal");
    refused("exchange usbtmc://0957:1/", 2, "serial number is missing");
    refused("exchange usbtmc://0957:1#in=0x81", 2, "only #interface=N");
}

#[test]
fn more_than_one_message_outstanding_is_refused_before_the_instrument_is_opened() {
    for protocol in [
        r"--protocol text --send A\n --until \n",
        "--protocol echo --out 64",
    ] {
        let command = format!("exchange usbtmc://0957:1796 {protocol} --depth 2");
        refused(&command, 2, "Query INTERRUPTED");
    }
}

#[test]
fn a_stream_is_refused_with_the_reason() {
    for protocol in ["", "--protocol raw --direction in"] {
        let command = format!("stream usbtmc:///dev/usbtmc0 {protocol}");
        refused(
            &command,
            2,
            "cannot stream: it sends a reply only on request",
        );
    }
}

#[test]
fn an_instrument_is_a_device_of_its_own_and_only_of_the_kernels_gadget() {
    refused(
        "serve usb-gadget --function tmc,acm",
        2,
        "use --function tmc alone",
    );
    refused(
        "serve usb-gadget --function tmc=2",
        2,
        "use --function tmc alone",
    );
    refused("serve usb-virtual --function tmc", 2, "serve usb-gadget");
    refused(
        "serve usb-gadget --function tmc --protocol modbus",
        2,
        "does not speak Modbus",
    );
    refused(
        "serve usb-gadget --protocol scpi",
        2,
        "usb-gadget --function tmc",
    );
}
