//! The device's streams on datagrams: to whom it streams, for how long, and what it loses.

use super::device::Trust;
use super::streams_tests::{MS, device, end, on, start};
use super::{Device, Faults, Model};
use wiregauge_link::limits::Bus;
use wiregauge_wire as wire;
use wiregauge_wire::{Kind, StreamReport};

/// Gives a datagram to a device.
fn datagram(device: &mut Device, bytes: &[u8], now: u64, trust: Trust) {
    let mut ready = Vec::new();
    device.take_datagram(bytes, now, trust, &mut ready);
    assert!(trust == Trust::Proved || ready.len() <= bytes.len());
}

#[test]
fn a_source_on_datagrams_stops_ten_seconds_after_its_host_fell_silent() {
    let second = 1000 * MS;
    let mut device = device(Model::default(), Faults::default());
    let frame = start(Kind::Source, 1, 1000);
    datagram(&mut device, &frame, 0, Trust::Proved);
    let flows = |device: &mut Device, at| {
        let mut ready = Vec::new();
        device.pull(at, 1000, &mut ready);
        ready.len()
    };
    assert_eq!(flows(&mut device, 9 * second), 1000);
    datagram(&mut device, &frame, 9 * second, Trust::Proved);
    assert_eq!(flows(&mut device, 18 * second), 1000);
    // Anyone could say so.
    datagram(&mut device, &frame, 18 * second, Trust::Unproved);
    assert_eq!(flows(&mut device, 19 * second + 1), 0);
    assert_eq!(device.source_bytes(), None);
}

#[test]
fn a_modelled_sink_on_datagrams_loses_what_it_has_no_room_for_and_says_so() {
    let mut device = device(on(Bus::FullSpeed), Faults::default());
    datagram(&mut device, &start(Kind::Sink, 1, 1000), 0, Trust::Proved);
    while device.pop_due(10 * MS).is_some() {}
    let mut data = vec![0; 100_000];
    wire::fill_stream(0, &mut data);
    for piece in data.chunks(1000) {
        datagram(&mut device, piece, 10 * MS, Trust::Proved);
    }
    datagram(&mut device, &end(Kind::Sink, 2), 20 * MS, Trust::Proved);
    let answer = device.pop_due(100 * MS).unwrap();
    let report = StreamReport::decode(&answer[32..]).unwrap();
    assert!(report.overruns > 90, "{report:?}");
    assert_eq!(report.transfers + report.overruns, 100);
    assert_eq!(report.counts().right(), report.bytes);
}
