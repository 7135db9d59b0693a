//! Both ends of a stream compared: what one handed over against what the other took.

use super::receiver::Received;
use wiregauge_record::{ByteCounts, DeviceCount, Responder};
use wiregauge_wire::{StreamCounts, StreamReport};

/// Device to host: what the device says it sent against what the host took.
pub fn of_in(received: &Received, report: Option<&StreamReport>) -> ByteCounts {
    let Some(mut counts) = received.counts else {
        // Bytes that were only counted tell no more than how many are missing.
        let sent = report.map_or(received.bytes, |report| report.bytes);
        return ByteCounts {
            sent,
            received: received.bytes,
            lost: sent.saturating_sub(received.bytes),
            ..ByteCounts::default()
        };
    };
    let sent = report.map_or(counts.reached(), |report| report.bytes);
    let (tail, wrong) = received.tail;
    if tail > 0 && counts.reached() + tail == sent {
        // Nothing came behind them that shows where they stand, but just as many are missing.
        counts.stray -= tail;
        counts.corrupted += wrong;
    }
    with_tail(sent, counts)
}

/// Host to device: what the host handed over against what the device says it took. Without a report
/// nothing is known of the other end.
pub fn of_out(sent: u64, report: Option<&StreamReport>) -> ByteCounts {
    match report {
        Some(report) => {
            let counts = StreamCounts {
                received: report.bytes,
                lost: report.lost,
                duplicated: report.duplicated,
                corrupted: report.corrupted,
                stray: report.stray,
            };
            with_tail(sent, counts)
        }
        None => ByteCounts {
            sent,
            ..ByteCounts::default()
        },
    }
}

/// What was sent beyond the last byte that came was lost as well, though nothing came that shows it.
fn with_tail(sent: u64, counts: StreamCounts) -> ByteCounts {
    ByteCounts {
        sent,
        received: counts.received,
        lost: counts.lost + sent.saturating_sub(counts.reached()),
        duplicated: counts.duplicated,
        corrupted: counts.corrupted,
        stray: counts.stray,
    }
}

/// The device's own count, in nanoseconds of its clock.
pub fn of_device(report: &StreamReport, responder: Option<&Responder>) -> DeviceCount {
    let (hz, bits) = responder.map_or((0, 0), |r| (r.tick_hz, r.tick_bits));
    let mask = match bits {
        0 | 64.. => u64::MAX,
        bits => (1 << bits) - 1,
    };
    let ticks = report.last_ticks.wrapping_sub(report.first_ticks) & mask;
    let elapsed = u128::from(ticks) * 1_000_000_000 / u128::from(hz.max(1));
    DeviceCount {
        bytes: report.bytes,
        transfers: report.transfers,
        overruns: report.overruns,
        elapsed_ns: if hz == 0 {
            0
        } else {
            u64::try_from(elapsed).unwrap_or(u64::MAX)
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_lost_at_the_end_is_seen_by_comparing_the_ends() {
        let received = Received {
            bytes: 950,
            counts: Some(StreamCounts {
                received: 950,
                lost: 10,
                ..StreamCounts::default()
            }),
            ..Received::default()
        };
        let report = StreamReport {
            bytes: 1000,
            ..StreamReport::default()
        };
        let counts = of_in(&received, Some(&report));
        assert_eq!((counts.sent, counts.received, counts.lost), (1000, 950, 50));
    }

    #[test]
    fn a_byte_that_was_changed_at_the_very_end_is_neither_missing_nor_strange() {
        let received = |tail| Received {
            bytes: 1000,
            counts: Some(StreamCounts {
                received: 1000,
                stray: 3,
                ..StreamCounts::default()
            }),
            tail,
            ..Received::default()
        };
        let of_sent = |bytes, tail| {
            let report = StreamReport {
                bytes,
                ..StreamReport::default()
            };
            let counts = of_in(&received(tail), Some(&report));
            (counts.lost, counts.corrupted, counts.stray)
        };
        assert_eq!(of_sent(1000, (3, 1)), (0, 1, 0));
        assert_eq!(of_sent(997, (3, 1)), (0, 0, 3));
        assert_eq!(of_sent(1010, (3, 1)), (13, 0, 3));
        assert_eq!(of_sent(1000, (0, 0)), (3, 0, 3));
    }

    #[test]
    fn duplicates_and_strays_do_not_hide_a_lost_tail() {
        let report = StreamReport {
            bytes: 1000,
            duplicated: 30,
            stray: 20,
            ..StreamReport::default()
        };
        assert_eq!(of_out(1000, Some(&report)).lost, 50);
    }

    #[test]
    fn a_device_clock_may_wrap() {
        let report = StreamReport {
            first_ticks: 0xffff_ff00,
            last_ticks: 0x0000_0100,
            ..StreamReport::default()
        };
        let responder = Responder {
            tick_hz: 1_000_000,
            tick_bits: 32,
            ..Responder::default()
        };
        assert_eq!(of_device(&report, Some(&responder)).elapsed_ns, 512_000);
        assert_eq!(of_device(&report, None).elapsed_ns, 0);
    }
}
