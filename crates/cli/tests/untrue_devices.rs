//! Devices that report what cannot be true: it is in no figure, and a warning names it.

use crate::common::{Desk, has_all};
use crate::stream_trouble::{answer, device, source_that_reports};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use wiregauge_wire as wire;
use wiregauge_wire::{Kind, Response, Status, StreamReport};

/// A device whose clock reads so when a request comes and when it is answered.
fn exchanging(ticks: impl Fn(u32) -> (u64, u64) + Send + 'static) -> String {
    let abilities = wire::abilities::EXCHANGE | wire::abilities::TIMESTAMPS;
    device(abilities, move |stream, request| {
        let (rx_ticks, tx_ticks) = ticks(request.sequence);
        let in_payload = request.in_bytes - wire::RESPONSE_HEADER as u32;
        let mut bytes = vec![0; request.in_bytes as usize];
        let (header, payload) = bytes.split_at_mut(wire::RESPONSE_HEADER);
        wire::fill_pattern(request.sequence, payload);
        let response = Response {
            kind: Kind::Exchange,
            sequence: request.sequence,
            in_payload,
            status: Status::Ok,
            flags: 0,
            rx_ticks,
            tx_ticks,
        };
        response.encode(header.try_into().expect("split at the header's size"));
        let _ = stream.write_all(&bytes);
    })
}

#[test]
fn impossible_device_times_are_counted_and_in_no_figure() {
    let desk = Desk::new();
    // Sent long before it was received.
    let address = exchanging(|_| (1 << 50, 0));
    let printed = desk.output(&format!("exchange {address} --count 50 --full"));
    has_all(&printed, &["W16", "100 %"]);
    assert!(!printed.contains("of RTT"), "{printed}");
    let shown = desk.json("show last --json");
    let point = &shown["points"][0];
    assert_eq!(point["counts"]["impossible_device_times"], 50, "{point}");
    assert_eq!(point["counts"]["answered"], 50, "{point}");
    assert!(point["device"].is_null(), "{point}");
}

#[test]
fn of_a_clock_that_is_wrong_now_and_then_the_rest_is_shown() {
    let desk = Desk::new();
    let address = exchanging(|sequence| match sequence % 5 {
        0 => (0, u64::MAX / 2),
        _ => (7, 7),
    });
    let printed = desk.output(&format!("exchange {address} --count 50"));
    has_all(&printed, &["W16", "20 %"]);
    let shown = desk.json("show last --json");
    assert_eq!(shown["points"][0]["device"]["n"], 40, "{shown}");
}

#[test]
fn no_figure_is_made_of_a_report_that_cannot_be_true() {
    let desk = Desk::new();
    let flags = "--direction in --timeout 10s --duration 1s --settle 1ns --full";
    let came = 1_000_000;
    for (bytes, last_ticks, words) in [
        (u64::MAX, 200_000, "18446744073709551615 B sent, more than"),
        (0, 200_000, "0 B sent, and 1000000 B arrived"),
        (came, u64::MAX, "s by its clock, and the stream lasted"),
    ] {
        let report = StreamReport {
            bytes,
            last_ticks,
            ..StreamReport::default()
        };
        let address = source_that_reports(64, came as usize, report);
        let printed = desk.output(&format!("stream {address} {flags}"));
        let printed = printed.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            printed.contains("W16") && printed.contains(words),
            "{words}: {printed}"
        );
        let claims = printed.contains("Counted at both ends");
        assert_eq!(claims, bytes == came, "{printed}");
        let shown = desk.json("show last --json");
        let flow = &shown["points"][0]["flows"][0];
        assert_eq!(flow["counts"]["lost"], 0, "{flow}");
        let sent = (bytes == came).then_some(came);
        assert_eq!(flow["counts"]["sent"], serde_json::json!(sent), "{flow}");
        assert!(flow["report_error"].is_string(), "{flow}");
    }
}

#[test]
fn a_sink_that_reports_more_than_was_sent_leaves_the_number_of_lost_bytes_unknown() {
    let desk = Desk::new();
    let begun = AtomicBool::new(false);
    // It reads 16 bytes at a time, and what is no header is data.
    let address = device(wire::abilities::SINK, move |stream, request| {
        let report = StreamReport {
            bytes: u64::MAX,
            ..StreamReport::default()
        };
        match begun.swap(true, Ordering::Relaxed) {
            false => answer(stream, request, &[]),
            true => answer(stream, request, &report.encode()),
        }
    });
    let flags = "--direction out --transfer 16 --duration 500ms --settle 1ns --timeout 10s";
    let printed = desk.output(&format!("stream {address} {flags}"));
    let printed = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    has_all(&printed, &["number of lost bytes not known"]);
    assert!(
        printed.contains("W16") && !printed.contains("did not report what"),
        "{printed}"
    );
    let shown = desk.json("show last --json");
    let flow = &shown["points"][0]["flows"][0];
    assert!(flow["device"].is_null(), "{flow}");
    assert!(flow["counts"]["received"].is_null(), "{flow}");
}
