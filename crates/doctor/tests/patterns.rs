//! Patterns in runs: of readers that sleep or read byte by byte, of delayed acknowledgements, of packets
//! of length zero that were not sent. The runs are written here, so that each pattern is known; the
//! program's own tests have real ones.

#![allow(clippy::unwrap_used)]

use crate::made_up;

use made_up::{Host, hold_evidence, hold_title, one, plan, point, saw};
use std::path::Path;
use wiregauge_doctor::{Finding, Level, Target};
use wiregauge_record::{
    Conditions, Ending, Phase, Plan, Point, ResourceUse, Responder, Sample, Status, Summariser,
};
use wiregauge_run::{AnyRun, Exchange, RunWriter, State};

const MS: u64 = 1_000_000;
const US: u64 = 1_000;

/// The points of a run: bytes out, bytes in, and each exchange's RTT in nanoseconds; `None` was lost.
type Points = Vec<(u32, u32, Vec<Option<u64>>)>;

/// What a run is made of.
struct Made<'a> {
    address: &'a str,
    settings: &'a [(&'a str, &'a str)],
    /// The bus that the device says it is on.
    bus: Option<&'a str>,
    /// Time that the device says it needed, of each RTT, and for each byte of the request.
    device_ns: u64,
    device_ns_per_byte: u64,
    points: Points,
}

impl Default for Made<'_> {
    fn default() -> Self {
        Made {
            address: "tcp://10.0.0.5:7700",
            settings: &[],
            bus: None,
            device_ns: 0,
            device_ns_per_byte: 0,
            points: Vec::new(),
        }
    }
}

impl Made<'_> {
    fn write(&self, dir: &Path) -> AnyRun {
        let points = (0..).zip(&self.points);
        let points = points.map(|(index, &(out_bytes, in_bytes, _))| Point {
            index,
            ..point(out_bytes, in_bytes)
        });
        let plan = Plan {
            points: points.collect(),
            ..plan(self.address)
        };
        let responder = Responder {
            name: "test".into(),
            // A clock of whole nanoseconds, where the device tells its time.
            tick_hz: if self.device_ns > 0 { 1_000_000_000 } else { 0 },
            tick_bits: 64,
            bus: self.bus.map(str::to_owned),
            ..Responder::default()
        };
        let mut conditions = Conditions::default();
        conditions.link.settings = self
            .settings
            .iter()
            .map(|&(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        conditions.responder = Some(responder.clone());
        let mut writer: RunWriter<Exchange> = RunWriter::create(dir, &plan, &conditions).unwrap();
        for (point, (_, _, rtts)) in plan.points.iter().zip(&self.points) {
            let mut summariser = Summariser::new(&plan, *point, Some(&responder));
            let mut rows = writer.begin_point(*point).unwrap();
            let mut start_ns = 0;
            for (sequence, rtt) in (1..).zip(rtts) {
                let rtt_ns = rtt.unwrap_or(plan.timeout_ns);
                let sample = Sample {
                    sequence,
                    start_ns,
                    intended_ns: start_ns,
                    rtt_ns,
                    device_tx_ticks: self.device_ns
                        + self.device_ns_per_byte * u64::from(point.out_bytes),
                    bytes_out: point.out_bytes,
                    bytes_in: rtt.map_or(0, |_| point.in_bytes),
                    outstanding: 1,
                    status: if rtt.is_some() {
                        Status::Ok
                    } else {
                        Status::Lost
                    },
                    phase: Phase::Measured,
                    ..Sample::default()
                };
                summariser.push(&sample);
                rows.push(&sample, &[]).unwrap();
                start_ns += rtt_ns;
            }
            let summary = summariser.finish(Ending::Complete, 0, None, ResourceUse::default());
            writer.end_point(rows, summary).unwrap();
        }
        writer.finish(State::Complete).unwrap();
        AnyRun::open(dir).unwrap()
    }

    #[track_caller]
    fn look(&self, check: &str) -> Vec<Finding> {
        let dir = tempfile::tempdir().unwrap();
        let run = self.write(&dir.path().join("run"));
        Host::new().look_with(check, Target::None, Some(run))
    }

    #[track_caller]
    fn only(&self, check: &str) -> Finding {
        one(self.look(check))
    }

    #[track_caller]
    fn level(&self, check: &str) -> Level {
        self.only(check).level
    }
}

/// A run over TCP.
fn tcp(points: Points) -> Made<'static> {
    Made {
        points,
        ..Made::default()
    }
}

/// A run over TCP with one point, of 16 B.
fn tcp_point(rtts: Vec<Option<u64>>) -> Made<'static> {
    tcp(vec![(16, 16, rtts)])
}

/// A run on a full-speed bus.
fn on_bus(points: Points) -> Made<'static> {
    Made {
        address: "usb://2341:0043",
        bus: Some("full-speed"),
        ..tcp(points)
    }
}

/// A run over a pseudo-terminal.
fn on_pty(points: Points) -> Made<'static> {
    Made {
        address: "serial:///dev/pts/3",
        ..tcp(points)
    }
}

/// RTTs around one, some tens of microseconds off, a few far off.
fn around(ns: u64) -> Vec<Option<u64>> {
    let mut state = ns | 1;
    (0..200)
        .map(|i| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let noise = (state >> 33) % (60 * US);
            let late = if i % 67 == 0 { 3 * MS } else { 0 };
            Some(ns + noise + late)
        })
        .collect()
}

#[test]
fn a_reader_that_sleeps_10_ms_is_recognised() {
    let made = tcp(vec![
        (16, 16, around(10 * MS + 80 * US)),
        (16, 256, around(10 * MS + 90 * US)),
    ]);
    let found = made.only("polling");
    // One tick alone may be the device's own time.
    assert_eq!(found.level, Level::Note);
    hold_title(&found, "10 ms");
    for evidence in ["IN 16 B", "IN 256 B", "other possible cause"] {
        hold_evidence(&found, evidence);
    }
}

#[test]
fn a_sleeper_that_finds_every_second_request_there_already_is_recognised_too() {
    let rtts = [around(17 * US), around(10 * MS + 80 * US)].concat();
    hold_title(&tcp_point(rtts).only("polling"), "10 ms");
}

#[test]
fn rtts_on_several_ticks_are_a_comb() {
    let rtts = [around(MS + 70 * US), around(2 * MS + 70 * US)].concat();
    let found = tcp_point(rtts).only("polling");
    assert_eq!(found.level, Level::Hurts);
    hold_title(&found, "multiples of 1 ms");
}

#[test]
fn the_16_ms_of_an_ftdi_adapter_are_reported_with_its_remedy() {
    // The timer goes by USB frames: 15 to 17 ms.
    let rtts = (0..300).map(|i| Some(15 * MS + 200 * US + (i % 3) * 700 * US));
    let made = Made {
        address: "serial:///dev/ttyUSB0",
        settings: FTDI,
        ..tcp_point(rtts.collect())
    };
    let found = made.only("polling");
    hold_title(&found, "16 ms");
    assert!(found.cost.unwrap().text.contains("FTDI"));
    assert!(found.remedy[0].contains("--only ftdi-latency"));
}

#[test]
fn rtts_that_no_sleeping_reader_makes_show_no_rhythm() {
    let computing = Made {
        device_ns: 10 * MS,
        ..tcp_point(around(10 * MS + 80 * US))
    };
    let frames = (0..300).map(|i| Some((1 + i % 3) * MS + 5 * US)).collect();
    // Nothing distinguishes a poll that comes at any time from a device whose time varies so.
    let even = (1..400).map(|i| Some(i * 25 * US)).collect();
    for (name, made) in [
        ("a device that says it computed 10 ms", computing),
        ("frames of a bus", on_bus(vec![(16, 16, frames)])),
        ("evenly from 0 to 10 ms", tcp_point(even)),
    ] {
        assert_eq!(made.level("polling"), Level::Good, "{name}");
    }
    for us in [40, 137, 700, 3_300, 7_000, 12_000, 33_000] {
        let level = tcp_point(around(us * US)).level("polling");
        assert_eq!(level, Level::Good, "{us} us");
    }
    let few = tcp_point(vec![Some(10 * MS + 50 * US); 10]);
    assert!(few.look("polling").is_empty());
}

#[test]
fn a_run_whose_samples_are_gone_is_said_to_be_unreadable() {
    let made = tcp_point(around(10 * MS));
    let dir = tempfile::tempdir().unwrap();
    let run = made.write(&dir.path().join("run"));
    std::fs::remove_dir_all(dir.path().join("run/samples")).unwrap();
    let found = Host::new().look_with("polling", Target::None, Some(run));
    assert_eq!(found[0].level, Level::Unknown, "{found:#?}");
}

/// Sizes both ways, each with an RTT of `fixed` and so much a byte.
fn sizes(fixed: u64, ns_per_byte: u64) -> Points {
    [16, 64, 128, 256]
        .map(|bytes| (bytes, bytes, around(fixed + u64::from(bytes) * ns_per_byte)))
        .into()
}

#[test]
fn a_system_call_a_byte_is_recognised_where_the_wire_is_this_host() {
    let found = on_pty(sizes(20 * US, 6 * US)).only("byte-wise");
    assert_eq!(found.level, Level::Hurts);
    hold_evidence(&found, "5.987 us per byte");
    let source = found.cost.unwrap().source;
    assert!(source.contains("bench/runs/2026-11-22-languages"));
}

#[test]
fn a_usb_frame_a_byte_is_recognised() {
    let found = on_bus(sizes(2 * MS, MS)).only("byte-wise");
    assert_eq!(found.level, Level::Hurts);
    hold_title(&found, "a USB frame");
}

#[test]
fn what_the_device_itself_takes_for_each_byte_is_not_reading() {
    for (device_ns_per_byte, level) in [(6 * US, Level::Good), (0, Level::Hurts)] {
        let made = Made {
            device_ns: MS,
            device_ns_per_byte,
            ..on_pty(sizes(MS + 20 * US, 6 * US))
        };
        assert_eq!(made.level("byte-wise"), level, "{device_ns_per_byte}");
    }
}

#[test]
fn a_step_a_cheap_byte_and_too_few_sizes_are_not_reading_byte_by_byte() {
    // 20 ns a byte is a copy; two whole frames more behind 1216 B are the bus's; one size is no line.
    let step = [600, 1100, 1300, 1400].map(|bytes| {
        let frames = if bytes > 1216 { 4 } else { 2 };
        (16, bytes, around(frames * MS))
    });
    for made in [
        on_pty(sizes(20 * US, 20)),
        tcp(sizes(200 * US, 800)),
        on_bus(step.into()),
    ] {
        for found in made.look("byte-wise") {
            assert_eq!(found.level, Level::Good, "{found:#?}");
        }
    }
    let made = tcp(vec![(16, 16, around(MS)), (256, 256, around(9 * MS))]);
    assert!(made.look("byte-wise").is_empty());
}

#[test]
fn answers_that_wait_for_a_delayed_acknowledgement_are_recognised() {
    for (ms, at) in [(40, 41), (200, 203)] {
        let mut made = tcp_point([around(200 * US), around(at * MS)].concat());
        let found = made.only("delayed-ack");
        assert_eq!(found.level, Level::Hurts);
        hold_title(&found, &format!("{ms} ms"));
        assert!(found.remedy.iter().any(|one| one.contains("--quick-ack")));
        made.address = "udp://10.0.0.5:7700";
        assert!(made.look("delayed-ack").is_empty(), "only TCP acknowledges");
    }
}

#[test]
fn a_fast_tcp_link_and_a_device_that_needs_41_ms_wait_for_no_acknowledgement() {
    let fast = tcp(vec![(16, 16, around(200 * US)), (16, 256, around(90 * MS))]);
    assert_eq!(fast.level("delayed-ack"), Level::Good);
    let slow = Made {
        device_ns: 41 * MS,
        ..tcp_point(around(41 * MS))
    };
    assert_eq!(slow.level("delayed-ack"), Level::Good);
}

/// An FTDI adapter.
const FTDI: &[(&str, &str)] = &[("driver", "ftdi_sio"), ("USB speed (Mbit/s)", "12")];

/// A CDC port at full speed.
const CDC: &[(&str, &str)] = &[("driver", "cdc_acm"), ("USB speed (Mbit/s)", "12")];

fn acm(points: Points) -> Made<'static> {
    Made {
        address: "serial:///dev/ttyACM0",
        settings: CDC,
        ..tcp(points)
    }
}

#[test]
fn sizes_that_fill_their_packets_and_are_lost_want_a_packet_of_length_zero() {
    let lost = vec![None; 20];
    let made = acm(vec![
        (16, 63, around(2 * MS)),
        (16, 64, lost),
        (16, 65, around(2 * MS)),
        (16, 128, around(2 * MS)),
    ]);
    let found = made.only("zero-length");
    assert_eq!(found.level, Level::Hurts);
    hold_evidence(&found, "IN 64 B, depth 1: 20 of 20");
    hold_evidence(&found, "for comparison");
    // An even number of packets comes through.
    assert!(!saw(&found, "IN 128 B"), "{found:#?}");
}

#[test]
fn a_step_at_such_a_size_against_both_neighbours_is_found_too() {
    let made = acm(vec![
        (16, 100, around(2 * MS)),
        (16, 128, around(60 * MS)),
        (16, 150, around(2 * MS)),
    ]);
    assert_eq!(made.level("zero-length"), Level::Hurts);
}

#[test]
fn without_another_size_it_is_a_note() {
    let made = acm(vec![(16, 64, vec![None; 20])]);
    let found = made.only("zero-length");
    assert_eq!(found.level, Level::Note);
    hold_title(&found, "no other size");
}

#[test]
fn losses_everywhere_longer_times_for_more_bytes_and_other_links_want_none() {
    let lossy = || -> Vec<Option<u64>> {
        let some = around(2 * MS).into_iter().enumerate();
        some.map(|(i, rtt)| rtt.filter(|_| i % 4 != 0)).collect()
    };
    let lossy = acm([63, 64, 65].map(|bytes| (16, bytes, lossy())).into());
    let longer = [(100, 2), (64_000, 60), (200_000, 200)];
    let longer = acm(longer
        .map(|(bytes, ms)| (16, bytes, around(ms * MS)))
        .into());
    for (name, made) in [("losses everywhere", lossy), ("longer times", longer)] {
        assert_eq!(made.level("zero-length"), Level::Good, "{name}");
    }
    let points = || vec![(16, 63, around(MS)), (16, 64, vec![None; 20])];
    let ftdi = Made {
        address: "serial:///dev/ttyUSB0",
        settings: FTDI,
        ..tcp(points())
    };
    for (name, made) in [("TCP", tcp(points())), ("FTDI", ftdi)] {
        assert!(made.look("zero-length").is_empty(), "{name}");
    }
}

#[test]
fn without_a_run_there_is_no_pattern() {
    for check in ["polling", "byte-wise", "delayed-ack", "zero-length"] {
        assert!(Host::new().look(check, Target::None).is_empty());
    }
}
