//! Devices that report what cannot be true: it is in no figure, and a warning names it.

use crate::common::{Desk, has_all};
use crate::stream_trouble::{device, source_that_reports};
use std::io::Write;
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
        let address = source_that_reports(came as usize, report);
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
