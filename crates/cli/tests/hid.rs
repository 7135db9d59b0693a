//! HID on a machine without the device: what is said then, and what is refused before anything is opened. (What
//! happens with devices is seen in the lab, plan `hid`.)

use crate::common;

use common::{Desk, refused};

#[test]
fn a_device_that_is_not_there_is_a_failed_link_and_leaves_no_run() {
    for address in ["hid://0000:fffe", "hid:///dev/hidraw4711"] {
        let desk = Desk::new();
        desk.fails(
            &format!("exchange {address} --protocol echo"),
            3,
            &[address, "hint: "],
        );
        assert_eq!(desk.stored(), Vec::<String>::new());
    }
}

#[test]
fn a_file_that_is_not_a_hidraw_device_is_wrong_usage() {
    for file in ["/dev/null", "/proc/self/status"] {
        let says = format!("{file} is not a hidraw device");
        refused(&format!("exchange hid://{file} --protocol echo"), 2, &says);
    }
}

#[test]
fn a_name_that_no_device_can_have_is_wrong_usage() {
    refused("exchange hid://keyboard", 2, "/dev/hidraw0");
    refused("exchange hid://1209:xyzzy", 2, "hexadecimal");
    refused("exchange hid://1209:1#report=1", 2, "out=N in=N");
    refused("exchange hid://1209:1#type=bulk", 2, "type=feature");
    refused("exchange hid://1209:1#in=256", 2, "0 to 255");
}

#[test]
fn reports_are_no_stream() {
    refused(
        "stream hid:///dev/hidraw0 --protocol raw",
        2,
        "HID carries reports, not a stream",
    );
}

#[test]
fn a_report_larger_than_linux_allows_is_refused_before_the_device_is_opened() {
    refused(
        "exchange hid://1209:1 --protocol echo --out 16384",
        2,
        "exceeds the maximum of 16383 B over hid",
    );
}

#[test]
fn a_responder_whose_reports_cannot_hold_its_protocol_is_refused() {
    for address in [
        "uhid",
        "usb-virtual --function hid",
        "usb-gadget --function hid",
    ] {
        refused(&format!("serve {address} --report-bytes 64"), 2, "HELLO");
    }
    refused(
        "serve uhid --report-bytes 0 --protocol echo",
        2,
        "1 to 1024",
    );
    refused(
        "serve usb-gadget --function hid --report-bytes 256 --protocol echo",
        2,
        "up to 255 B",
    );
    refused(
        "serve usb-gadget --function hid --speed full --protocol wiregauge",
        2,
        "up to 64 B",
    );
}

#[test]
fn flags_of_a_responder_without_an_effect_are_refused() {
    refused(
        "serve tcp://:0 --report-bytes 64",
        2,
        "requires `wiregauge serve",
    );
    refused(
        "serve usb-virtual --report-bytes 64",
        2,
        "requires --function hid",
    );
    refused(
        "serve usb-virtual --interval 1ms",
        2,
        "requires --function hid",
    );
    refused("serve uhid --speed high", 2, "without a bus");
    refused("serve uhid --interval 1ms", 2, "usb-virtual");
}

#[test]
fn an_interval_that_the_bus_does_not_have_is_refused_with_those_that_it_has() {
    let serve = "serve usb-virtual --function hid --protocol echo";
    refused(
        &format!("{serve} --speed full --interval 125us"),
        2,
        "255ms",
    );
    refused(&format!("{serve} --speed high --interval 10ms"), 2, "125us");
}
