//! HID on a machine without the device: what is said then, and what is refused before anything is opened. (What
//! happens with devices is seen in the lab, plan `hid`.)

use crate::common;

use common::Desk;

#[test]
fn a_device_that_is_not_there_is_a_failed_link_and_leaves_no_run() {
    let desk = Desk::new();
    for address in ["hid://0000:fffe", "hid:///dev/hidraw4711"] {
        let command = format!("exchange {address} --protocol echo");
        desk.refuses(&command, 3, &format!("=> {address} | hint:"));
    }
}

#[test]
fn what_no_device_has_is_refused_before_it_is_opened() {
    let desk = Desk::new();
    desk.refuses(
        "",
        2,
        "
        exchange hid:///dev/null --protocol echo          => /dev/null is not a hidraw device
        exchange hid:///proc/self/status --protocol echo  => /proc/self/status is not a hidraw device
        exchange hid://keyboard                           => /dev/hidraw0
        exchange hid://1209:xyzzy                         => hexadecimal
        exchange hid://1209:1#report=1                    => out=N in=N
        exchange hid://1209:1#type=bulk                   => type=feature
        exchange hid://1209:1#in=256                      => 0 to 255
        exchange hid://1209:1 --protocol echo --out 16384 => exceeds the maximum of 16383 B over hid
        stream hid:///dev/hidraw0 --protocol raw          => HID carries reports, not a stream
        ",
    );
}

#[test]
fn what_a_responder_of_reports_cannot_be_is_refused() {
    let desk = Desk::new();
    desk.refuses(
        "serve",
        2,
        "
        uhid --report-bytes 64                        => HELLO
        usb-virtual --function hid --report-bytes 64  => HELLO
        usb-gadget --function hid --report-bytes 64   => HELLO
        uhid --report-bytes 0 --protocol echo         => 1 to 1024
        usb-gadget --function hid --report-bytes 256 --protocol echo      => up to 255 B
        usb-gadget --function hid --speed full --protocol wiregauge       => up to 64 B
        usb-virtual --function hid --protocol echo --speed full --interval 125us => 255ms
        usb-virtual --function hid --protocol echo --speed high --interval 10ms  => 125us
        tcp://:0 --report-bytes 64                    => requires `wiregauge serve
        usb-virtual --report-bytes 64                 => requires --function hid
        usb-virtual --interval 1ms                    => requires --function hid
        uhid --speed high                             => without a bus
        uhid --interval 1ms                           => usb-virtual
        ",
    );
}
