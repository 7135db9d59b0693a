//! The split of streams, on summaries made by hand: parts add up, and the right side is blamed.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common;

use common::{Times, says, stream_plan, stream_point};
use wiregauge_explain::{FlowSplit, VerdictKind, of_stream};
use wiregauge_record::{BusLimit, ByteCounts, DeviceCount, Disturbance, StreamSummary, Way};
use wiregauge_stats::Estimate;

const USB: &str = "usb://1d6b:0104";

fn explain(address: &str, points: &[Times]) -> Vec<FlowSplit> {
    let points: Vec<StreamSummary> = points.iter().map(stream_point).collect();
    of_stream(&stream_plan(address), &points).flows
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 0.01 * b.abs()
}

#[test]
fn the_parts_add_up_to_the_time_between_two_submissions() {
    let watched = &explain(
        USB,
        &[Times {
            application_us: 30.0,
            transfer_us: 70.0,
            urb_us: Some(60.0),
            ..Times::default()
        }],
    )[0];
    assert!(close(watched.cycle_ns, 100_000.0), "{watched:?}");
    assert!(close(watched.share(watched.application_ns).unwrap(), 0.30));
    assert!(close(watched.share(watched.stack_ns).unwrap(), 0.10));
    assert!(close(watched.share(watched.device_bus_ns).unwrap(), 0.60));
    assert_eq!(watched.watched, Some(1_000));
}

#[test]
fn without_usbmon_the_stack_is_within_device_and_bus() {
    let split = &explain(USB, &[Times::default()])[0];
    assert_eq!((split.stack_ns, split.watched), (None, None));
    assert!(close(split.device_bus_ns.unwrap(), 50_000.0));
}

#[test]
fn a_host_that_dawdles_between_single_transfers_is_told_to_queue() {
    let with = |urb_us| Times {
        application_us: 28.0,
        transfer_us: 72.0,
        urb_us,
        ..Times::default()
    };
    let split = &explain(USB, &[with(Some(62.0))])[0];
    says(&split.words, "idle 38 % of the time");
    says(&split.words, "Try --queue 1,4");
    // Without usbmon the stack's part is not known: then it is at least the application's.
    let split = &explain(USB, &[with(None)])[0];
    says(&split.words, "idle at least 28 %");
}

#[test]
fn where_the_run_has_a_queue_already_its_gain_is_told_instead_of_a_try() {
    let splits = explain(
        USB,
        &[
            Times {
                application_us: 80.0,
                transfer_us: 20.0,
                ..Times::default()
            },
            Times {
                queue: 4,
                achieved: 3.9,
                application_us: 2.0,
                transfer_us: 78.0,
                ..Times::default()
            },
        ],
    );
    let words = &splits[0].words;
    assert!(
        words.contains("with --queue 4 it is 5.00 times as fast"),
        "{words}"
    );
    assert!(!words.contains("Try"), "{words}");
}

#[test]
fn a_wait_that_a_queue_hides_is_that_of_one_at_a_time_not_of_the_device() {
    let splits = explain(
        USB,
        &[
            Times::default(),
            Times {
                queue: 32,
                achieved: 31.0,
                application_us: 1.0,
                transfer_us: 319.0,
                ..Times::default()
            },
        ],
    );
    let alone = &splits[0].verdict;
    assert_eq!(alone.kind, VerdictKind::OneAtATime);
    assert_eq!(alone.figure("queue"), Some(32.0));
    assert!(close(alone.figure("faster").unwrap(), 5.5), "{alone:?}");
    assert_eq!(splits[1].verdict.kind, VerdictKind::Device);
}

#[test]
fn a_queue_that_is_not_filled_is_the_host() {
    let split = &explain(
        USB,
        &[Times {
            queue: 32,
            achieved: 1.8,
            ..Times::default()
        }],
    )[0];
    says(&split.words, "1.8 of 32 transfers");
    assert_eq!(split.verdict.short.as_deref(), Some("host"));
}

#[test]
fn usbmon_shows_a_host_that_collects_too_slowly_where_the_queue_looks_full() {
    let slow = |urb_us| Times {
        queue: 8,
        achieved: 7.9,
        application_us: 1.0,
        transfer_us: 799.0,
        urb_us,
        ..Times::default()
    };
    let split = &explain(USB, &[slow(Some(150.0))])[0];
    assert_eq!(split.verdict.kind, VerdictKind::HostBehind);
    assert!(close(split.verdict.figure("achieved").unwrap(), 1.5));
    says(&split.words, "to be reaped");
    let split = &explain(USB, &[slow(Some(790.0))])[0];
    assert_eq!(split.verdict.kind, VerdictKind::Device);
}

#[test]
fn a_device_that_takes_no_more_is_told_beside_the_physical_limit() {
    let split = &explain(
        USB,
        &[Times {
            queue: 32,
            achieved: 31.9,
            application_us: 0.0,
            transfer_us: 1_600.0,
            used: Some(0.19),
            ..Times::default()
        }],
    )[0];
    let words = &split.words;
    assert!(
        words.contains("10.24 MB/s = 50.00 us per transfer"),
        "{words}"
    );
    assert!(
        words.contains("the physical limit is 53.25 MB/s, of which 19 %"),
        "{words}"
    );
}

#[test]
fn an_emulated_bus_that_carries_more_than_a_real_one_could_is_not_called_full() {
    let split = &explain(
        USB,
        &[Times {
            queue: 4,
            achieved: 4.0,
            used: Some(2.46),
            ..Times::default()
        }],
    )[0];
    assert_eq!(split.verdict.kind, VerdictKind::Device);
    says(&split.words, "is not that of what carried the data");
}

#[test]
fn pauses_that_a_queue_does_not_make_up_for_are_not_what_limits() {
    let queued = |transfer_us: f64| {
        let single = Times {
            application_us: 15.0,
            transfer_us: 85.0,
            ..Times::default()
        };
        let four = Times {
            queue: 4,
            achieved: 4.0,
            application_us: 0.0,
            transfer_us,
            ..Times::default()
        };
        explain(USB, &[single, four]).remove(0).verdict.kind
    };
    // 15 % idle: without the pauses 85 us a transfer were left of 100.
    assert_eq!(queued(4.0 * 85.0), VerdictKind::OneAtATime);
    assert_eq!(queued(4.0 * 100.0), VerdictKind::Device);
    assert_eq!(queued(4.0 * 11.0), VerdictKind::OneAtATime);
}

#[test]
fn a_full_bus_carries_no_more_than_its_limit() {
    // 512 B each 9.335 us are 54.85 MB/s.
    let split = &explain(
        USB,
        &[Times {
            queue: 4,
            achieved: 4.0,
            application_us: 0.0,
            transfer_us: 37.34,
            used: Some(1.03),
            ..Times::default()
        }],
    )[0];
    assert_eq!(split.verdict.short.as_deref(), Some("bus"));
    assert_eq!(
        split.words,
        "the bus, 53.25 MB/s; 100 % of its 53.25 MB/s is used (USB high-speed bulk, USB 2.0 table 5-10)"
    );
}

#[test]
fn what_fills_buffers_on_the_way_to_the_device_does_not_fill_the_bus() {
    let mut point = stream_point(&Times::default());
    let flow = &mut point.flows[0];
    flow.way = Way::Out;
    flow.rate = Some(Estimate {
        value: 9.309e6,
        low: None,
        high: None,
    });
    flow.limit = Some(BusLimit {
        bytes_s: 9.8e6,
        shared: true,
        source: "USB full-speed bulk".into(),
        used: 0.95,
    });
    // A third of that, for longer than the 55 ms in which the host sent.
    flow.device = Some(DeviceCount {
        bytes: 620_600,
        transfers: 1_000,
        overruns: 0,
        elapsed_ns: 200_000_000,
        bus: None,
    });
    let split = &of_stream(&stream_plan("tcp://10.0.0.5:7700"), &[point]).flows[0];
    let words = &split.words;
    assert!(
        words.starts_with("the link or the other end, 3.103 MB/s"),
        "{words}"
    );
    assert!(words.contains("of which 31.7 % is used"), "{words}");
}

#[test]
fn a_host_is_not_the_bottleneck_of_bytes_that_do_not_arrive() {
    // Datagrams: the thread spends three quarters of the time between its calls, and 6.1 % arrive.
    let points = [64, 512, 4_096].map(|bytes| {
        let mut point = stream_point(&Times {
            bytes,
            application_us: 30.0,
            transfer_us: 10.0,
            ..Times::default()
        });
        let flow = &mut point.flows[0];
        flow.way = Way::Out;
        flow.device = Some(DeviceCount {
            bytes: 61_000,
            transfers: 100,
            overruns: 0,
            elapsed_ns: 40_000_000,
            bus: None,
        });
        flow.counts = ByteCounts {
            sent: Some(1_000_000),
            received: Some(61_000),
            lost: Some(939_000),
            ..ByteCounts::default()
        };
        point
    });
    let explained = of_stream(&stream_plan("udp://10.0.0.5:7700"), &points);
    let split = &explained.flows[1];
    assert_eq!(split.verdict.kind, VerdictKind::Device);
    let words = &split.words;
    assert!(words.starts_with("the device or the link, "), "{words}");
    assert!(
        words.ends_with("; 93.9 % of the bytes sent did not arrive"),
        "{words}"
    );
    assert!(close(split.bytes_s, 0.061 * 12.8e6), "{}", split.bytes_s);
    assert!(explained.models.is_empty());
}

#[test]
fn a_thread_that_computes_all_the_time_is_told_first() {
    let split = &explain(
        USB,
        &[Times {
            queue: 32,
            achieved: 31.0,
            // 512 B every 1.72 us is 298 MB/s; at 3.2 ms a megabyte that is 95 % of the time.
            cpu_us_per_mb: 3_200.0,
            ..Times::default()
        }],
    )[0];
    assert_eq!(split.verdict.kind, VerdictKind::Application);
    says(&split.words, "--no-check");
}

#[test]
fn a_socket_is_never_told_to_queue() {
    let times = |application_us, transfer_us| Times {
        application_us,
        transfer_us,
        ..Times::default()
    };
    let splits = explain(
        "tcp://10.0.0.5:7700",
        &[times(30.0, 10.0), times(1.0, 99.0)],
    );
    let short = splits.iter().map(|split| split.verdict.short.as_deref());
    let short: Vec<Option<&str>> = short.collect();
    assert_eq!(short, [Some("host"), Some("link or device")]);
    assert!(splits.iter().all(|s| !s.words.contains("Try --queue")));
}

#[test]
fn larger_transfers_are_tried_only_where_the_run_does_not_refute_them() {
    let times = |bytes, application_us, transfer_us| Times {
        bytes,
        application_us,
        transfer_us,
        ..Times::default()
    };
    // 100, 200 and 50 MB/s.
    let splits = explain(
        "tcp://10.0.0.5:7700",
        &[
            times(4_000, 30.0, 10.0),
            times(40_000, 160.0, 40.0),
            times(80_000, 1_300.0, 300.0),
        ],
    );
    let words: Vec<&str> = splits.iter().map(|split| split.words.as_str()).collect();
    assert!(
        words[0].contains("with --transfer 40000, throughput is 2.00 times as high"),
        "{}",
        words[0]
    );
    assert!(
        words[1].contains("in this run, larger --transfer is no faster. Try --no-check"),
        "{}",
        words[1]
    );
    // The largest one gained nothing over the smaller ones.
    assert!(
        words[2].contains("larger --transfer is no faster"),
        "{}",
        words[2]
    );
    let alone = &explain("tcp://10.0.0.5:7700", &[times(4_000, 30.0, 10.0)])[0];
    says(&alone.words, "Try larger --transfer, --no-check");
    assert!(!words[1].contains("Try larger"), "{}", words[1]);
}

#[test]
fn a_point_in_which_nothing_flowed_is_not_judged() {
    let mut point = stream_point(&Times::default());
    let flow = &mut point.flows[0];
    (flow.transfer_time, flow.gap, flow.host_gap) = (None, None, None);
    flow.transfers = 0;
    let explained = of_stream(&stream_plan(USB), &[point]);
    assert_eq!(explained.flows[0].verdict.kind, VerdictKind::Nothing);
    assert!(explained.models.is_empty());
}

#[test]
fn what_usbmon_missed_is_reported() {
    let mut point = stream_point(&Times::default());
    point.disturbances.push(Disturbance::UrbEventsLost {
        overflowed: 12,
        clock_set: 3,
    });
    let explained = of_stream(&stream_plan(USB), &[point.clone(), point]);
    assert_eq!(explained.urb_events_overflowed, 24);
    assert_eq!(explained.urb_events_at_clock_set, 6);
}

#[test]
fn the_json_tells_the_kind_of_the_verdict_and_its_words() {
    let points = [stream_point(&Times::default())];
    let explained = of_stream(&stream_plan(USB), &points);
    let json = serde_json::to_value(&explained).unwrap();
    assert_eq!(json["flows"][0]["verdict"]["kind"], "one-at-a-time");
    assert_eq!(json["flows"][0]["words"], explained.flows[0].words.as_str());
}

#[test]
fn a_limit_that_both_directions_share_is_not_set_against_one_of_them() {
    let words = |address: &str, used: f64| {
        let mut point = stream_point(&Times {
            used: Some(used),
            ..Times::default()
        });
        point.point.direction = wiregauge_record::Direction::Both;
        of_stream(&stream_plan(address), &[point]).flows[0]
            .words
            .clone()
    };
    // 512 B each 55 us are 9.31 MB/s, 17 % of 53.2 MB/s.
    let alone = words("tcp://10.0.0.5:7700", 0.1748);
    assert!(
        alone.ends_with("the physical limit is 53.25 MB/s, of which 17.5 % is used"),
        "{alone}"
    );
    let both = words("tcp://10.0.0.5:7700", 0.4);
    assert!(
        both.ends_with(
            "the physical limit is 53.25 MB/s, of which both directions together use 40 %"
        ),
        "{both}"
    );
    let full = words(USB, 0.99);
    assert!(
        full.starts_with(
            "the bus, 9.309 MB/s; both directions together use 99 % of its 53.25 MB/s"
        ),
        "{full}"
    );
}

#[test]
fn a_link_that_carries_more_in_larger_transfers_is_not_said_to_carry_no_more() {
    let words = |address: &str, queue: u32| {
        let of = |bytes| Times {
            bytes,
            queue,
            achieved: f64::from(queue),
            ..Times::default()
        };
        let split = explain(address, &[of(512), of(4_096)]);
        (split[0].words.clone(), split[1].words.clone())
    };
    for (address, queue) in [("tcp://10.0.0.5:7700", 1), (USB, 4)] {
        let (small, large) = words(address, queue);
        assert!(
            small.ends_with("; with --transfer 4096, throughput is 8.00 times as high"),
            "{small}"
        );
        assert!(!large.contains("--transfer"), "{large}");
    }
}
