//! What a modelled bus must hold, whatever hangs on it. Virtual time only.

use crate::virtual_host;

use proptest::prelude::*;
use virtual_host::{Seen, Work, run};
use wiregauge_link::limits::Bus;
use wiregauge_responder::bus::{
    BusTiming, Carried, DeviceTiming, Direction, NakRetry, PipeSpec, PipeTiming, Step, Traffic,
};

impl Work {
    /// Transfers of one direction.
    pub const fn stream(direction: Direction, transfer: u64, queue: usize) -> Work {
        Work::Stream {
            direction,
            transfer,
            queue,
        }
    }

    /// Requests of 16 B.
    pub const fn exchange(answer: u64, depth: usize) -> Work {
        Work::Exchange {
            out: 16,
            answer,
            depth,
        }
    }
}

const IDEAL: DeviceTiming = DeviceTiming {
    transfer_ns: 0,
    to_host: always_ready(),
    from_host: always_ready(),
};

const fn always_ready() -> PipeTiming {
    PipeTiming {
        packet_ns: 0,
        byte_ps: 0,
        buffers: 1,
        nak_retry: NakRetry::AtOnce,
    }
}

/// Bytes a second of devices that run together, within the time that all of them were at work.
fn rate(seen: &[Seen], bytes: u64) -> f64 {
    seen.iter()
        .map(|one| bytes as f64 / one.period_ns() * 1e9)
        .sum()
}

#[test]
fn four_transfers_of_4_kib_in_a_queue_reach_95_percent_of_the_limit_and_never_pass_it() {
    for bus in [Bus::FullSpeed, Bus::HighSpeed] {
        let limit = bus.bytes_per_second() as f64;
        for direction in [Direction::In, Direction::Out] {
            for (transfer, queue) in [(4096, 4), (16_384, 4), (65_536, 32)] {
                let work = Work::stream(direction, transfer, queue);
                let seen = run(BusTiming::of(bus), IDEAL, 1, work, 400);
                let used = rate(&seen, transfer) / limit;
                assert!((0.95..=1.001).contains(&used), "{bus:?} {work:?}: {used}");
            }
        }
    }
}

#[test]
fn devices_on_one_bus_share_it_evenly_and_their_sum_stays_at_the_limit() {
    for devices in [2, 4] {
        for work in [
            Work::stream(Direction::In, 4096, 4),
            Work::exchange(8000, 4),
        ] {
            let bytes = match work {
                Work::Stream { transfer, .. } => transfer,
                Work::Exchange { out, answer, .. } => out + answer,
            };
            let seen = run(BusTiming::of(Bus::FullSpeed), IDEAL, devices, work, 300);
            let used = rate(&seen, bytes) / 1_216_000.0;
            assert!((0.95..=1.005).contains(&used), "{devices} {work:?}: {used}");
            let counts: Vec<usize> = seen.iter().map(|one| one.told_ns.len()).collect();
            let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
            assert!(most - least <= 4, "{work:?}: {counts:?}");
        }
    }
}

#[test]
fn a_small_exchange_takes_two_frames_and_one_more_if_the_device_is_asked_in_the_next_frame_only() {
    for (transfer_ns, nak_retry, frames) in [
        (0, NakRetry::AtOnce, 2.0),
        (40_000, NakRetry::AtOnce, 2.0),
        (40_000, NakRetry::NextFrame, 3.0),
    ] {
        let mut device = IDEAL;
        device.transfer_ns = transfer_ns;
        device.to_host.nak_retry = nak_retry;
        let work = Work::exchange(48, 1);
        let seen = run(BusTiming::of(Bus::FullSpeed), device, 1, work, 50);
        let name = format!("{transfer_ns} ns, {nak_retry:?}");
        assert_eq!(seen[0].period_ns(), frames * 1e6, "{name}");
    }
}

#[test]
fn a_double_buffered_fifo_that_is_asked_again_in_the_next_microframe_takes_two_packets_in_each() {
    let mut device = IDEAL;
    device.from_host = PipeTiming {
        packet_ns: 30_000,
        byte_ps: 0,
        buffers: 2,
        nak_retry: NakRetry::NextFrame,
    };
    let work = Work::stream(Direction::Out, 65_536, 4);
    let seen = run(BusTiming::of(Bus::HighSpeed), device, 1, work, 50);
    let a_packet = seen[0].period_ns() / 128.0;
    assert!((62_400.0..62_700.0).contains(&a_packet), "{a_packet}");
}

#[test]
fn device_time_a_transfer_counts_once_a_transfer_and_packet_time_once_a_packet() {
    let mut device = IDEAL;
    device.transfer_ns = 100_000;
    device.to_host.packet_ns = 20_000;
    let work = Work::stream(Direction::In, 5120, 4);
    let timing = BusTiming {
        completion_ns: 0,
        ..BusTiming::of(Bus::HighSpeed)
    };
    let seen = run(timing, device, 1, work, 200);
    // Ten packets on the wire, ten times the packet time, once the transfer time, and what is
    // lost at the ends of microframes.
    let least = 10.0 * (9_450.0 + 20_000.0) + 100_000.0;
    let period = seen[0].period_ns();
    assert!((least..least * 1.05).contains(&period), "{period} {least}");
}

/// What a test does to a bus.
#[derive(Clone, Debug)]
enum Deed {
    Submit {
        pipe: usize,
        bytes: u64,
        close: bool,
    },
    Offer {
        pipe: usize,
        bytes: u64,
        in_ns: u64,
    },
    Pass {
        ns: u64,
    },
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        (0..8usize, 0..5000u64, any::<bool>()).prop_map(|(pipe, bytes, close)| Deed::Submit {
            pipe,
            bytes,
            close
        }),
        (0..4usize, 0..5000u64, 0..3_000_000u64).prop_map(|(pipe, bytes, in_ns)| Deed::Offer {
            pipe,
            bytes,
            in_ns
        }),
        (0..2_000_000u64).prop_map(|ns| Deed::Pass { ns }),
    ]
}

fn packets_of(timing: BusTiming, device: DeviceTiming, deeds: &[Deed]) -> Vec<Carried> {
    let mut traffic = Traffic::new(timing);
    let pipes: Vec<_> = (0..8)
        .map(|at| {
            traffic.add(PipeSpec {
                direction: if at % 2 == 0 {
                    Direction::In
                } else {
                    Direction::Out
                },
                packet_bytes: timing.packet_bytes,
                device,
                interval_ns: if at < 6 { 0 } else { timing.frame_ns },
            })
        })
        .collect();
    let (mut now, mut key, mut carried) = (0, 0, Vec::new());
    let end = [Deed::Pass { ns: 1_000_000_000 }];
    for deed in deeds.iter().chain(&end) {
        match *deed {
            Deed::Submit { pipe, bytes, close } => {
                key += 1;
                traffic.submit(pipes[pipe], key, bytes, close, now);
            }
            Deed::Offer { pipe, bytes, in_ns } => {
                traffic.offer(pipes[pipe * 2], bytes, true, now + in_ns);
            }
            Deed::Pass { ns } => {
                now += ns;
                while let Step::Carried(packet) = traffic.step(now) {
                    assert!(packet.begin_ns < now && packet.begin_ns + 1 >= now.saturating_sub(ns));
                    carried.push(packet);
                }
            }
        }
    }
    carried
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_is_asked_no_frame_carries_more_than_its_quota_and_no_two_packets_at_once(
        deeds in prop::collection::vec(deed(), 1..80),
        high in any::<bool>(),
        hub in any::<bool>(),
        next_frame in any::<bool>(),
        transfer_ns in 0..300_000u64,
        packet_ns in 0..100_000u64,
        buffers in 1..3u8,
    ) {
        let bus = if high { Bus::HighSpeed } else { Bus::FullSpeed };
        let mut timing = BusTiming::of(bus);
        if hub && !high {
            timing = timing.behind_hub();
        }
        let pipe = PipeTiming {
            packet_ns,
            byte_ps: 0,
            buffers,
            nak_retry: if next_frame { NakRetry::NextFrame } else { NakRetry::AtOnce },
        };
        let device = DeviceTiming { transfer_ns, to_host: pipe, from_host: pipe };
        let packets = packets_of(timing, device, &deeds);
        let mut frames = std::collections::HashMap::<u64, u64>::new();
        for packet in &packets {
            *frames.entry(packet.begin_ns / timing.frame_ns).or_default() += packet.bytes;
            prop_assert_eq!(packet.begin_ns / timing.frame_ns, (packet.end_ns - 1) / timing.frame_ns);
        }
        for bytes in frames.into_values() {
            prop_assert!(bytes <= timing.quota_bytes);
        }
        let mut by_time = packets.clone();
        by_time.sort_by_key(|packet| packet.begin_ns);
        for pair in by_time.windows(2) {
            prop_assert!(pair[0].end_ns <= pair[1].begin_ns);
        }
        prop_assert_eq!(packets, packets_of(timing, device, &deeds));
    }
}

#[test]
fn a_device_that_took_nothing_was_not_ready_until_it_takes_again() {
    let timing = BusTiming::of(Bus::FullSpeed);
    let mut traffic = Traffic::new(timing);
    let pipe = traffic.add(PipeSpec {
        direction: Direction::Out,
        packet_bytes: timing.packet_bytes,
        device: IDEAL,
        interval_ns: 0,
    });
    traffic.hold(pipe, true);
    traffic.submit(pipe, 1, 64, false, 0);
    assert!(!matches!(traffic.step(5_000_000), Step::Carried(_)));
    traffic.hold(pipe, false);
    let Step::Carried(packet) = traffic.step(10_000_000) else {
        panic!("it takes it");
    };
    assert!(packet.asked_ns <= 1_000_000, "{packet:?}");
    assert!(packet.ready_ns >= 5_000_000, "{packet:?}");
}
