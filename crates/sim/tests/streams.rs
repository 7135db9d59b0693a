//! Streams: random ones, and one thing that happens at every moment of a plain one.

use crate::matrix::all_pass;
use wiregauge_record::Direction;
use wiregauge_sim::{Case, Fault, MS, StreamFaults, Streaming, many};

/// Runs it; the oracle judges. Returns its virtual time.
#[track_caller]
fn passes(streaming: &Streaming) -> u64 {
    match streaming.run(false) {
        Ok(outcome) => outcome.virtual_ns,
        Err(Fault { at_ns, what }) => panic!("at {at_ns} ns: {what}\n{streaming:#?}"),
    }
}

/// Plain streams of every direction, over byte streams and datagrams.
fn plain() -> impl Iterator<Item = Streaming> {
    let directions = [Direction::In, Direction::Out, Direction::Both];
    let kinds = directions.into_iter().flat_map(|d| [(d, false), (d, true)]);
    kinds.map(|(direction, datagram)| Streaming::plain(1, direction, datagram))
}

/// Something happens at every moment of a stream that lasts 50 ms.
fn at_any_moment(happens: impl Fn(&mut StreamFaults, u64)) {
    for mut streaming in plain() {
        for at_ns in (0..70 * MS).step_by(700_000) {
            happens(&mut streaming.faults, at_ns);
            passes(&streaming);
        }
    }
}

#[test]
fn random_streams_are_reported_as_they_happened() {
    let report = many(0..4_000, Case::Stream, |_| {});
    all_pass(&report);
    assert!(report.rows > 100_000, "{report:?}");
}

#[test]
fn a_stop_at_any_moment_ends_the_stream_and_leaves_the_device_at_rest() {
    at_any_moment(|faults, at_ns| faults.stop_at = Some(at_ns));
}

#[test]
fn a_stop_while_a_repeated_order_waits_to_be_sent_begins_nothing() {
    let mut streaming = Streaming::plain(1, Direction::Both, true);
    (streaming.step_ns, streaming.timeout_ns) = (590 * MS, 5_000 * MS);
    for stop_ns in (0..6_000 * MS).step_by(20_000_000) {
        streaming.faults.stop_at = Some(stop_ns);
        passes(&streaming);
    }
}

#[test]
fn a_link_that_fails_at_any_moment_is_given_no_order_any_more() {
    at_any_moment(|faults, at_ns| faults.break_at = Some(at_ns));
}

#[test]
fn a_device_that_falls_silent_at_any_moment_is_noticed() {
    at_any_moment(|faults, at_ns| faults.silent_from = Some(at_ns));
    at_any_moment(|faults, at_ns| faults.mute_from = Some(at_ns));
}

#[test]
fn what_a_device_forgot_by_a_reset_is_missing_in_its_report() {
    at_any_moment(|faults, at_ns| faults.reset_at = Some(at_ns));
}

#[test]
fn the_end_of_a_source_on_datagrams_is_answered_after_minutes_of_keeping_it_alive() {
    let mut streaming = Streaming::plain(1, Direction::In, true);
    streaming.lasts_ns = 300_000 * MS;
    streaming.step_ns = 50 * MS;
    // An END that is not heard is a failure after the timeout.
    let passed_ns = passes(&streaming);
    let least_ns = streaming.lasts_ns;
    assert!((least_ns..least_ns + 2 * streaming.timeout_ns).contains(&passed_ns));
}
