//! Whether the report of a device can be true, by what the host knows itself: the bytes that it
//! received or sent, and the time that passed. What cannot be true is in no figure.

use wiregauge_record::{BusLimit, DeviceCount, Way};
use wiregauge_wire::StreamReport;

/// Bytes that two faults close to each other may shift the position that a stream reached
/// (docs/protocol.md).
const SHIFTED: u64 = 64;

/// More than any link carries, in bytes a second.
const ANY_LINK_BYTES_S: f64 = 1e12;

/// A device may send faster than the limit of its link for as long as its buffers take it.
const OVER_LIMIT: f64 = 2.0;

/// The clocks of host and device may differ by this part of a time.
const CLOCKS_DIFFER: f64 = 0.05;

/// The device begins before the host hears of it, which may be busy with other things.
const HEARD_LATE_NS: f64 = 1e9;

/// What the host knows of one way of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// Which way.
    pub way: Way,
    /// IN: the position that the stream reached. OUT: bytes that were handed over at most.
    pub bytes: u64,
    /// From the beginning of the stream to the report, in nanoseconds.
    pub host_ns: u64,
    /// What the medium carries, where the sender has to wait for it: datagrams are lost instead.
    pub limit: Option<&'a BusLimit>,
}

/// Why the counts of a report cannot be true; `None` if they can.
pub fn counts_error(report: &StreamReport, known: &Known<'_>) -> Option<String> {
    match known.way {
        Way::In => source_error(report, known),
        Way::Out => sink_error(report, known.bytes),
    }
}

fn source_error(report: &StreamReport, known: &Known<'_>) -> Option<String> {
    let (sent, came) = (report.bytes, known.bytes);
    if sent.saturating_add(SHIFTED) < came {
        return Some(format!("{sent} B sent, and {came} B arrived"));
    }
    let bytes_s = known
        .limit
        .map_or(ANY_LINK_BYTES_S, |limit| OVER_LIMIT * limit.bytes_s);
    let seconds = known.host_ns as f64 / 1e9;
    let most = bytes_s * (seconds + HEARD_LATE_NS / 1e9);
    let missing = sent.saturating_sub(came);
    (missing as f64 > most).then(|| {
        let link = match known.limit {
            Some(limit) => limit.source.as_str(),
            None => "any link",
        };
        format!("{sent} B sent, more than {link} carries in {seconds:.1} s")
    })
}

fn sink_error(report: &StreamReport, sent: u64) -> Option<String> {
    let [received, lost, duplicated, corrupted, stray] = [
        report.bytes,
        report.lost,
        report.duplicated,
        report.corrupted,
        report.stray,
    ]
    .map(i128::from);
    if duplicated + corrupted + stray > received {
        let wrong = duplicated + corrupted + stray;
        return Some(format!("{wrong} wrong bytes among {received} received"));
    }
    let reached = received + lost - duplicated - stray;
    (reached > i128::from(sent) + i128::from(SHIFTED)).then(|| match lost {
        0 => format!("{received} B received, and {sent} B were sent"),
        _ => format!("{received} B received and {lost} B lost, and {sent} B were sent"),
    })
}

/// Why the time by the device's own clock cannot be true; `None` if it can.
pub fn clock_error(count: &DeviceCount, host_ns: u64) -> Option<String> {
    let most_ns = host_ns as f64 * (1.0 + CLOCKS_DIFFER) + HEARD_LATE_NS;
    (count.elapsed_ns as f64 > most_ns).then(|| {
        let seconds = |ns: u64| ns as f64 / 1e9;
        format!(
            "{:.1} s by its clock, and the stream lasted {:.1} s",
            seconds(count.elapsed_ns),
            seconds(host_ns)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn known(way: Way, bytes: u64) -> Known<'static> {
        Known {
            way,
            bytes,
            host_ns: 2 * SECOND,
            limit: None,
        }
    }

    fn sent(bytes: u64) -> StreamReport {
        StreamReport {
            bytes,
            ..StreamReport::default()
        }
    }

    #[test]
    fn a_source_cannot_have_sent_less_than_arrived_nor_more_than_any_link_carries() {
        let error = |bytes| counts_error(&sent(bytes), &known(Way::In, 1_000_000));
        assert_eq!(error(1_000_000), None);
        // Nine of ten bytes were lost: that happens.
        assert_eq!(error(10_000_000), None);
        for bytes in [0, 999_000, u64::MAX] {
            assert!(error(bytes).is_some(), "{bytes}");
        }
    }

    #[test]
    fn a_source_cannot_have_lost_more_than_its_bus_carries() {
        let bus = wiregauge_link::limits::Bus::FullSpeed.limit();
        let error = |bytes| {
            let limit = Some(&bus);
            counts_error(
                &sent(bytes),
                &Known {
                    limit,
                    ..known(Way::In, 1_000_000)
                },
            )
        };
        assert_eq!(error(3_000_000), None);
        let why = error(100_000_000).unwrap();
        assert!(why.contains("full-speed"), "{why}");
    }

    #[test]
    fn a_sink_cannot_have_received_what_was_not_sent() {
        let error = |report: StreamReport| counts_error(&report, &known(Way::Out, 1000));
        for report in [
            sent(1000),
            sent(900),
            // A datagram that came twice; a stretch that was lost; damage.
            StreamReport {
                duplicated: 200,
                ..sent(1200)
            },
            StreamReport {
                lost: 100,
                ..sent(900)
            },
            StreamReport {
                corrupted: 10,
                stray: 5,
                ..sent(1005)
            },
        ] {
            assert_eq!(error(report), None, "{report:?}");
        }
        for report in [
            sent(u64::MAX),
            sent(2000),
            StreamReport {
                lost: u64::MAX,
                ..sent(1000)
            },
            StreamReport {
                corrupted: 1001,
                ..sent(1000)
            },
            StreamReport {
                duplicated: u64::MAX,
                stray: u64::MAX,
                ..sent(1000)
            },
        ] {
            assert!(error(report).is_some(), "{report:?}");
        }
    }

    #[test]
    fn a_device_cannot_have_clocked_more_time_than_passed() {
        let error = |elapsed_ns| {
            let count = DeviceCount {
                elapsed_ns,
                ..DeviceCount::default()
            };
            clock_error(&count, 10 * SECOND)
        };
        assert_eq!(error(10 * SECOND), None);
        assert_eq!(error(10 * SECOND + SECOND / 2), None);
        assert!(error(12 * SECOND).is_some());
        assert!(error(u64::MAX).is_some());
    }
}
