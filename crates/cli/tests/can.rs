//! CAN: what is refused before a bus is needed. With a bus: the plan `can` of the lab.

use crate::common;

use common::Desk;
use predicates::prelude::*;
use predicates::str::contains;

const CAN0: &str = "exchange can://can0 --request-id 7e0 --response-id 7e8";

#[test]
fn an_interface_that_does_not_exist_is_an_error_of_the_link_with_a_hint() {
    // Names have up to 15 letters; no interface has a name that is made up here.
    let ids = "--request-id 7e0 --response-id 7e8";
    for command in ["exchange", "serve"] {
        for isotp in ["", "--isotp"] {
            Desk::new()
                .wiregauge(&format!("{command} can://wg-no-such-can {ids} {isotp}"))
                .assert()
                .code(3)
                .stderr(
                    contains("cannot open can://wg-no-such-can: ")
                        .and(
                            contains("this kernel has no CAN support")
                                .or(contains("this kernel has no ISO-TP sockets"))
                                .or(contains("there is no interface wg-no-such-can")),
                        )
                        .and(contains("hint: ")),
                );
        }
    }
}

#[test]
fn a_can_link_needs_two_identifiers_in_range() {
    let desk = Desk::new();
    let both = "can:// requires --request-id and --response-id | such as --request-id 7e0";
    desk.refuses("exchange can://can0", 2, &format!("=> {both}"));
    desk.refuses("serve can://can0", 2, &format!("=> {both}"));
    desk.refuses(
        "exchange can://can0",
        2,
        "
        --request-id 7e0                         => requires --request-id and --response-id | hint
        --request-id 7e0 --response-id 0x7E0     => the same identifier | that the device documents
        --request-id 20000000 --response-id 7e8  => 20000000 is out of range | 00000000 to 1fffffff (29 bits)
        --request-id 7e0 --response-id hello     => `hello` is not a CAN identifier | such as 7e0
        ",
    );
    for name in ["", "a/b", "a-name-that-is-too-long"] {
        let command = format!("exchange can://{name} --request-id 7e0 --response-id 7e8");
        desk.refuses(&command, 2, "=> cannot parse the address | can://can0");
    }
}

#[test]
fn what_a_can_bus_cannot_do_is_refused_with_what_it_can() {
    let desk = Desk::new();
    desk.refuses(
        CAN0,
        2,
        "
        --out 9                                 => 9 B exceeds the maximum of 8 B of a CAN frame | --fd for up to 64 B
        --fd --out 65                           => 65 B exceeds the maximum of 64 B | or --isotp
        --fd --out 9                            => a CAN FD frame cannot have 9 B | 12, 16, 20
        --isotp --protocol echo --out 4096      => 4096 B exceeds the maximum of 4095 B | smaller sizes
        --protocol text --send 123456789        => 9 B exceeds the maximum of 8 B | --isotp
        --protocol wiregauge                    => at most 8 B | use --isotp, or --protocol echo
        --fd --protocol wiregauge               => at most 64 B | use --isotp, or --protocol echo
        --isotp --protocol modbus --read coil:0 => Modbus is not defined on CAN | --protocol text with --isotp
        --padding cc                            => --isotp | required
        --bitrate 2M                            => 2000000 bit/s is not a bit rate of CAN | --bitrate 500k
        --isotp --st-min 128ms                  => ISO-TP has up to 127 ms
        ",
    );
    desk.refuses(
        "",
        2,
        "
        serve can://can0 --request-id 7e0 --response-id 7e8 --protocol wiregauge => at most 8 B | use --isotp
        stream can://can0               => a CAN bus carries messages, not a stream | wiregauge exchange
        tune can://can0 --minimise p99  => tune does not support CAN | wiregauge exchange
        ",
    );
}

#[test]
fn flags_of_can_without_a_can_bus_are_refused() {
    let desk = Desk::new();
    for flag in [
        "--request-id 7e0",
        "--fd",
        "--isotp",
        "--bitrate 500k",
        "--kernel-wait",
    ] {
        let name = flag.split(' ').next().expect("a flag");
        let says = format!("=> {name} requires a CAN bus, such as can://can0, not tcp://127");
        desk.refuses(&format!("exchange tcp://127.0.0.1:7 {flag}"), 2, &says);
    }
}
