//! Both ends of a stream compared: what one handed over against what the other took.

use wiregauge_record::{BusCount, ByteCounts, DeviceCount, Responder};
use wiregauge_session::stream::Received;
use wiregauge_wire::{BusCounts, StreamCounts, StreamReport};

/// How far the stream to the host came.
pub fn reached(received: &Received) -> u64 {
    received
        .counts
        .map_or(received.bytes, |counts| counts.reached())
}

/// Device to host: what the device says it sent against what the host took.
pub fn of_in(received: &Received, report: Option<&StreamReport>) -> ByteCounts {
    let Some(mut counts) = received.counts else {
        // Bytes that were only counted tell no more than how many are missing.
        let sent = report.map(|report| report.bytes);
        return ByteCounts {
            sent,
            received: Some(received.bytes),
            lost: sent.map(|sent| sent.saturating_sub(received.bytes)),
            corrupted: received.pattern.map_or(0, |pattern| pattern.corrupted),
            ..ByteCounts::default()
        };
    };
    let Some(report) = report else {
        // The positions of what arrived show what is missing between, not what was sent behind it.
        return ByteCounts {
            sent: None,
            ..compared(counts.reached(), counts)
        };
    };
    let sent = report.bytes;
    let (tail, wrong) = received.tail;
    if tail > 0 && counts.reached() + tail == sent {
        // Nothing came behind them that shows where they stand, but just as many are missing.
        counts.stray -= tail;
        counts.corrupted += wrong;
    }
    compared(sent, counts)
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
            compared(sent, counts)
        }
        None => ByteCounts {
            sent: Some(sent),
            ..ByteCounts::default()
        },
    }
}

/// What was sent beyond the last byte that arrived was lost as well, though nothing arrived that shows it.
fn compared(sent: u64, counts: StreamCounts) -> ByteCounts {
    ByteCounts {
        sent: Some(sent),
        received: Some(counts.received),
        lost: Some(counts.lost + sent.saturating_sub(counts.reached())),
        duplicated: counts.duplicated,
        corrupted: counts.corrupted,
        stray: counts.stray,
    }
}

/// The device's own count, in nanoseconds of its clock. Its report came `host_ns` after the stream
/// began: from that follows how often a narrow clock wrapped.
pub fn of_device(
    report: &StreamReport,
    responder: Option<&Responder>,
    host_ns: u64,
) -> DeviceCount {
    let (hz, bits) = responder.map_or((0, 0), |r| (r.tick_hz, r.tick_bits));
    let ticks = report.last_ticks.wrapping_sub(report.first_ticks);
    let ticks = match bits {
        0 | 64.. => u128::from(ticks),
        bits => {
            let expected = u128::from(host_ns) * u128::from(hz) / 1_000_000_000;
            unwrapped(ticks & ((1 << bits) - 1), bits, expected)
        }
    };
    let elapsed_ns = ticks * 1_000_000_000 / u128::from(hz.max(1));
    DeviceCount {
        bytes: report.bytes,
        transfers: report.transfers,
        overruns: report.overruns,
        elapsed_ns: if hz == 0 {
            0
        } else {
            u64::try_from(elapsed_ns).unwrap_or(u64::MAX)
        },
        bus: None,
    }
}

/// What a device counted on its modelled bus.
pub fn of_bus(counts: BusCounts) -> BusCount {
    BusCount {
        packets: counts.packets,
        naks: counts.naks,
        packets_ns: counts.packets_ns,
        naks_ns: counts.naks_ns,
        others_ns: counts.others_ns,
        not_ready_ns: counts.not_ready_ns,
        elapsed_ns: counts.elapsed_ns,
    }
}

/// The ticks that a clock of so many bits counted, wraps included: as many as come nearest to those
/// expected.
fn unwrapped(ticks: u64, bits: u32, expected: u128) -> u128 {
    let (ticks, span) = (u128::from(ticks), 1_u128 << bits);
    let wraps = (expected.saturating_sub(ticks) + span / 2) / span;
    ticks + wraps * span
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
        let ByteCounts {
            sent,
            received,
            lost,
            ..
        } = counts;
        assert_eq!((sent, received, lost), (Some(1000), Some(950), Some(50)));
    }

    #[test]
    fn what_only_the_device_knows_is_not_known_without_its_report() {
        let received = Received {
            bytes: 950,
            ..Received::default()
        };
        let counts = of_in(&received, None);
        assert_eq!((counts.sent, counts.lost), (None, None));
        assert_eq!(counts.received, Some(950));
        let counts = of_out(1000, None);
        assert_eq!((counts.received, counts.lost), (None, None));
        assert_eq!(counts.sent, Some(1000));
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
            pattern: None,
        };
        let of_sent = |bytes, tail| {
            let report = StreamReport {
                bytes,
                ..StreamReport::default()
            };
            let counts = of_in(&received(tail), Some(&report));
            (counts.lost.unwrap(), counts.corrupted, counts.stray)
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
        assert_eq!(of_out(1000, Some(&report)).lost, Some(50));
    }

    /// What a device with such a clock reports that begins at `first` and lasts `device_ns`, and how
    /// long the host takes that to be.
    fn elapsed_ns(hz: u64, bits: u32, first: u64, device_ns: u64, host_ns: u64) -> u64 {
        let mask = u64::MAX >> (64 - bits);
        let ticks = u128::from(device_ns) * u128::from(hz) / 1_000_000_000;
        let report = StreamReport {
            first_ticks: first & mask,
            last_ticks: first.wrapping_add(ticks as u64) & mask,
            ..StreamReport::default()
        };
        let responder = Responder {
            tick_hz: hz,
            tick_bits: bits,
            ..Responder::default()
        };
        of_device(&report, Some(&responder), host_ns).elapsed_ns
    }

    const S: u64 = 1_000_000_000;

    #[test]
    fn a_device_clock_may_begin_anywhere() {
        for bits in [16, 24, 32, 64] {
            for first in [0, u64::MAX - 255, 0x7fff_ff00] {
                let elapsed = elapsed_ns(1_000_000, bits, first, 512_000, 600_000);
                assert_eq!(elapsed, 512_000, "{bits} bits from {first}");
            }
        }
        let report = StreamReport {
            last_ticks: 5,
            ..StreamReport::default()
        };
        assert_eq!(of_device(&report, None, S).elapsed_ns, 0);
    }

    #[test]
    fn the_host_knows_how_often_a_device_clock_wrapped() {
        // 25 MHz in 32 bits wrap after 171.8 s, 1 MHz in 24 bits after 16.8 s and in 16 bits after 65.5 ms.
        for (hz, bits, wraps_ns) in [
            (25_000_000, 32, 171_798_691_840),
            (1_000_000, 24, 16_777_216_000),
            (1_000_000, 16, 65_536_000),
        ] {
            for wraps in [0, 1, 2, 3, 10, 100] {
                // Far from a wrap and close to one, on either side.
                for within in [1, wraps_ns / 3, wraps_ns / 2, wraps_ns - 1000] {
                    let device_ns = (wraps * wraps_ns + within) / 1000 * 1000;
                    // The host hears of the end later, by its own clock, which runs a little faster.
                    for host_ns in [
                        device_ns + wraps_ns / 3,
                        device_ns,
                        device_ns - device_ns.min(wraps_ns / 3),
                    ] {
                        let elapsed = elapsed_ns(hz, bits, 0xfff0, device_ns, host_ns);
                        assert_eq!(elapsed, device_ns, "{bits} bits, {wraps} wraps, {host_ns}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_clock_of_64_bits_is_believed_whatever_the_host_says() {
        for host_ns in [0, 20 * S, u64::MAX] {
            let elapsed = elapsed_ns(1_000_000_000, 64, u64::MAX - 5, 10 * S, host_ns);
            assert_eq!(elapsed, 10 * S);
        }
    }
}
