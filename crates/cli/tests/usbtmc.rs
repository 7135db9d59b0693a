//! USBTMC on a machine without an instrument: what is said then, and what is refused before anything is opened. (What
//! happens with instruments is seen in the lab, plan `usbtmc`.)

use crate::common;

use common::Desk;

#[test]
fn an_instrument_that_is_not_there_is_a_failed_link_and_leaves_no_run() {
    let desk = Desk::new();
    desk.refuses(
        "exchange --protocol scpi --send *IDN?",
        3,
        "
        usbtmc:///dev/usbtmc4711    => usbtmc:///dev/usbtmc4711 | modprobe usbtmc | hint:
        usbtmc://0000:fffe          => usbtmc://0000:fffe | hint:
        usbtmc://0000:fffe/MY1      => usbtmc://0000:fffe/MY1 | hint:
        usbtmc://250-1              => usbtmc://250-1 | hint:
        ",
    );
}

#[test]
fn what_no_instrument_has_is_refused_before_it_is_opened() {
    let desk = Desk::new();
    desk.refuses(
        "exchange --protocol scpi --send *IDN?",
        2,
        "
        usbtmc:///dev/null          => /dev/null is not a file of the kernel's usbtmc driver
        usbtmc:///proc/self/status  => /proc/self/status is not a file of the kernel's usbtmc driver
        usbtmc://scope              => /dev/usbtmc0
        usbtmc://0957:xyzzy         => hexadecimal
        usbtmc://0957:1/            => serial number is missing
        usbtmc://0957:1#in=0x81     => only #interface=N
        ",
    );
    desk.refuses(
        "",
        2,
        r"
        exchange usbtmc://0957:1796 --protocol text --send A\n --until \n --depth 2 => Query INTERRUPTED
        exchange usbtmc://0957:1796 --protocol echo --out 64 --depth 2 => Query INTERRUPTED
        stream usbtmc:///dev/usbtmc0 => cannot stream: it sends a reply only on request
        stream usbtmc:///dev/usbtmc0 --protocol raw --direction in => it sends a reply only on request
        serve usb-gadget --function tmc,acm => use --function tmc alone
        serve usb-gadget --function tmc=2 => use --function tmc alone
        serve usb-virtual --function tmc => serve usb-gadget
        serve usb-gadget --function tmc --protocol modbus => does not speak Modbus
        serve usb-gadget --protocol scpi => usb-gadget --function tmc
        ",
    );
}
