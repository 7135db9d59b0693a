//! CAN: what is refused before a bus is needed. With a bus: the plan `can` of the lab.

use crate::common;

use common::Desk;
use predicates::prelude::*;
use predicates::str::contains;

const IDS: &str = "--request-id 7e0 --response-id 7e8";

#[track_caller]
fn refused(command: &str, says: &str, hint: &str) {
    Desk::new()
        .wiregauge(command)
        .assert()
        .code(2)
        .stderr(contains(says).and(contains(hint)));
}

#[test]
fn an_interface_that_does_not_exist_is_an_error_of_the_link_with_a_hint() {
    // Names have up to 15 letters; no interface has a name that is made up here.
    for command in ["exchange", "serve"] {
        for isotp in ["", "--isotp"] {
            Desk::new()
                .wiregauge(&format!("{command} can://wg-no-such-can {IDS} {isotp}"))
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
fn a_can_link_needs_two_identifiers() {
    for command in ["exchange", "serve"] {
        refused(
            &format!("{command} can://can0"),
            "can:// requires --request-id and --response-id",
            "such as --request-id 7e0",
        );
        refused(
            &format!("{command} can://can0 --request-id 7e0"),
            "requires --request-id and --response-id",
            "hint",
        );
    }
    refused(
        "exchange can://can0 --request-id 7e0 --response-id 0x7E0",
        "the same identifier",
        "that the device documents",
    );
}

#[test]
fn an_identifier_out_of_range_is_refused_with_the_range() {
    refused(
        "exchange can://can0 --request-id 20000000 --response-id 7e8",
        "20000000 is out of range",
        "00000000 to 1fffffff (29 bits)",
    );
    refused(
        "exchange can://can0 --request-id 7e0 --response-id hello",
        "`hello` is not a CAN identifier",
        "such as 7e0",
    );
}

#[test]
fn a_message_that_no_frame_holds_is_refused_with_what_holds_it() {
    for (flags, says, hint) in [
        (
            "--out 9",
            "9 B exceeds the maximum of 8 B of a CAN frame",
            "--fd for up to 64 B",
        ),
        (
            "--fd --out 65",
            "65 B exceeds the maximum of 64 B",
            "or --isotp",
        ),
        (
            "--fd --out 9",
            "a CAN FD frame cannot have 9 B",
            "12, 16, 20",
        ),
        (
            "--isotp --protocol echo --out 4096",
            "4096 B exceeds the maximum of 4095 B",
            "smaller sizes",
        ),
        (
            "--protocol text --send 123456789",
            "9 B exceeds the maximum of 8 B",
            "--isotp",
        ),
    ] {
        refused(&format!("exchange can://can0 {IDS} {flags}"), says, hint);
    }
}

#[test]
fn protocols_that_fit_no_frame_are_refused_with_the_reason() {
    for command in ["exchange", "serve"] {
        for (fd, most) in [("", "at most 8 B"), ("--fd", "at most 64 B")] {
            refused(
                &format!("{command} can://can0 {IDS} {fd} --protocol wiregauge"),
                most,
                "use --isotp, or --protocol echo",
            );
        }
    }
    refused(
        &format!("exchange can://can0 {IDS} --isotp --protocol modbus --read holding:0"),
        "Modbus is not defined on CAN",
        "--protocol text with --isotp",
    );
}

#[test]
fn flags_of_can_without_a_can_bus_are_refused() {
    for flag in [
        "--request-id 7e0",
        "--fd",
        "--isotp",
        "--bitrate 500k",
        "--kernel-wait",
    ] {
        let name = flag.split(' ').next().expect("a flag");
        refused(
            &format!("exchange tcp://127.0.0.1:7700 {flag}"),
            &format!("{name} requires a CAN bus, such as can://can0, not tcp://127.0.0.1:7700"),
            "",
        );
    }
    refused(
        &format!("exchange can://can0 {IDS} --padding cc"),
        "--isotp",
        "required",
    );
    refused(
        &format!("exchange can://can0 {IDS} --bitrate 2M"),
        "2000000 bit/s is not a bit rate of CAN",
        "--bitrate 500k",
    );
    refused(
        &format!("exchange can://can0 {IDS} --isotp --st-min 128ms"),
        "ISO-TP has up to 127 ms",
        "",
    );
}

#[test]
fn a_can_bus_is_no_stream() {
    refused(
        "stream can://can0",
        "a CAN bus carries messages, not a stream",
        "wiregauge exchange",
    );
    refused(
        "tune can://can0 --minimise p99",
        "tune does not support CAN",
        "wiregauge exchange",
    );
}

#[test]
fn a_name_that_no_interface_has_is_no_address() {
    for name in ["", "a/b", "a-name-that-is-too-long"] {
        refused(
            &format!("exchange can://{name} {IDS}"),
            "cannot parse the address",
            "can://can0",
        );
    }
}
