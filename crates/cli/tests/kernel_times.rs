//! The parts of the RTT by the kernel's own records.

use crate::common;

use common::{Desk, has_all};

#[test]
fn the_time_stamps_of_the_kernel_divide_every_rtt_over_tcp_and_udp() {
    let desk = Desk::new();
    for (serve, flags) in [
        ("tcp://:0", "--wait block --in 48,5000"),
        ("tcp://:0", "--wait poll"),
        ("tcp://:0", "--wait spin"),
        ("tcp://:0", "--connect each"),
        ("udp://:0", "--wait block --depth 1,4"),
        ("udp://:0", "--wait poll"),
    ] {
        let server = desk.serve(serve);
        let run = desk.measure(
            &server.address,
            &format!("--timestamps kernel --count 100 {flags}"),
        );
        run.is_clean();
        for point in &run.file.points {
            let stages = point.stages.as_ref().expect("parts of the RTT");
            assert_eq!(stages.rtt.n, point.counts.answered, "{serve} {flags}");
            assert_eq!(stages.request, None, "no part of a bus over a socket");
            let parts = [&stages.sending, &stages.response, &stages.receiving];
            let sum: f64 = parts.iter().map(|part| part.mean.value).sum();
            assert!((sum - stages.rtt.mean.value).abs() < 1.0, "{stages:?}");
            assert!(parts.iter().all(|part| part.min > 0.0), "{stages:?}");
            // The device is behind the kernel's stamps.
            let device = point.device.as_ref().expect("a device with a clock");
            assert!(device.mean.value <= stages.response.mean.value + 1_000.0);
        }
    }
}

#[test]
fn a_lost_response_leaves_its_exchange_without_the_times_of_the_kernel_and_no_other() {
    let desk = Desk::new();
    let server = desk.serve("udp://:0 --drop 10% --seed 4");
    let run = desk.measure(
        &server.address,
        "--timestamps kernel --count 100 --timeout 30ms --give-up 1000",
    );
    let point = run.point();
    let stages = point.stages.as_ref().expect("parts of the RTT");
    assert!(point.counts.lost > 0, "{:?}", point.counts);
    assert_eq!(stages.rtt.n, point.counts.answered);
}

#[test]
fn the_table_of_the_parts_is_printed_and_a_link_without_stamps_is_refused() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let printed = desk.output(&format!(
        "exchange {} --timestamps kernel --count 20 --no-calibration --no-store",
        server.address
    ));
    has_all(
        &printed,
        &[
            "Where the RTT goes (time stamps of the kernel)",
            "host, sending",
            "network + device",
            "host, receiving",
        ],
    );
    let only = "--timestamps kernel --count 20 => only TCP and UDP have them";
    desk.refuses("exchange null://", 2, only);
}

#[test]
fn a_link_that_is_not_on_usb_is_measured_and_the_missing_urb_times_are_explained() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let run = desk.measure(&server.address, "--usbmon --count 20");
    run.is_clean();
    assert_eq!(run.point().stages, None);
    let settings = &run.file.conditions.link.settings;
    let kept = settings.iter().find(|(name, _)| name == "usbmon");
    let (_, why) = kept.expect("the reason among the conditions");
    assert!(why.contains("a serial port on USB"), "{why}");
}
