//! Where the time of a run went, told by the real program of runs that it measured itself.

mod common;

use common::Desk;
use predicates::prelude::*;
use predicates::str::contains;

#[test]
fn the_time_that_a_device_computes_is_its_own_part_of_the_rtt() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --service-time 5ms");
    let address = &server.address;
    desk.output(&format!("exchange {address} --count 60 --depth 1,4"));
    let explained = desk.json("explain last --json");
    let alone = &explained["exchanges"][0];
    let [rtt, device, host, wire] = ["rtt_ns", "device_ns", "host_ns", "wire_ns"]
        .map(|part| alone[part].as_f64().expect("a time"));
    assert!(device >= 4.9e6, "{alone}");
    assert!((device + host + wire - rtt).abs() < 1.0, "{alone}");
    // The device works on one at a time, so it limits at either depth, or nearly so at depth 1.
    let deep = &explained["exchanges"][1];
    let kind = deep["verdict"]["kind"].as_str().expect("a verdict");
    assert!(["device", "device-busy"].contains(&kind), "{deep}");
    let text = desk.output("explain last");
    for word in ["Where the RTT goes", "What limits", "the device limits"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn a_run_without_a_floor_says_that_the_hosts_part_is_not_known() {
    let desk = Desk::new();
    desk.output("exchange null:// --count 40 --no-calibration");
    let text = desk.output("explain last");
    assert!(text.contains("--no-calibration"), "{text}");
    let explained = desk.json("explain last --json");
    assert!(
        explained["exchanges"][0]["host_ns"].is_null(),
        "{explained}"
    );
    assert_eq!(explained["kind"], "exchange");
}

#[test]
fn a_stream_over_a_socket_is_split_into_system_calls_and_what_is_between_them() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    desk.output(&format!(
        "stream {} --direction in --transfer 512,4k,32k --settle 20ms --duration 150ms",
        server.address
    ));
    let text = desk.output("explain last");
    assert!(text.contains("system call"), "{text}");
    assert!(
        !text.contains("Try --queue") && !text.contains("usbmon"),
        "{text}"
    );
    let explained = desk.json("explain last --json");
    let flows = explained["flows"].as_array().expect("flows");
    assert_eq!(flows.len(), 3);
    for flow in flows {
        let [cycle, application, call] = ["cycle_ns", "application_ns", "device_bus_ns"]
            .map(|part| flow[part].as_f64().expect("a time"));
        assert!((application + call - cycle).abs() < 1.0, "{flow}");
    }
    // Three sizes, one way, one queue: one fit.
    assert_eq!(explained["costs"].as_array().map(Vec::len), Some(1));
}

#[test]
fn usbmon_on_a_link_that_is_not_usb_is_a_warning_and_the_run_goes_on() {
    let desk = Desk::new();
    let stream = "stream null:// --direction in --settle 10ms --duration 50ms --usbmon";
    let text = desk.output(stream);
    assert!(text.contains("no URB times"), "{text}");
    let stored = desk.json("show last --json");
    assert!(stored["points"][0]["flows"][0]["transfers"].as_u64() > Some(0));
    let settings = stored["conditions"]["link"]["settings"].to_string();
    assert!(settings.contains("usb:// links only"), "{settings}");
}

#[test]
fn a_run_that_is_not_there_cannot_be_explained() {
    let desk = Desk::new();
    desk.wiregauge("explain nothing")
        .assert()
        .code(2)
        .stderr(contains("cannot find a run `nothing`").and(contains("wiregauge runs")));
}
