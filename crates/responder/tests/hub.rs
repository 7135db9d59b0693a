//! A full-speed device behind a high-speed hub against the same device on a full-speed port: what the hub's
//! transaction translator costs and what its host controller gains, beside the published pair of both. Two tables
//! of docs/models.md are made here.

use crate::models::hold_table;
use crate::virtual_host::{Work, run};
use std::fmt::Write;
use wiregauge_link::limits::Bus;
use wiregauge_responder::bus::{BusTiming, DeviceTiming, Direction, Profile};

/// kB/s of a stream of all devices together, or RTT in ms.
fn figure(bus: BusTiming, devices: usize, work: Work) -> f64 {
    // Completions come at the ends of (micro)frames: so many that one frame more or less hardly matters.
    let count = match work {
        Work::Stream { transfer: 1, .. } => 5_000,
        _ => 1_500,
    };
    let seen = run(bus, DeviceTiming::default(), devices, work, count);
    match work {
        Work::Stream { transfer, .. } => seen
            .iter()
            .map(|one| transfer as f64 / one.period_ns() * 1e6)
            .sum(),
        Work::Exchange { .. } => seen[0].period_ns() / 1e6,
    }
}

/// Words, unit, devices, and what they do.
fn cases() -> [(&'static str, &'static str, usize, Work); 8] {
    use Direction::{In, Out};
    let (many_in, many_out) = (Work::stream(In, 4096, 4), Work::stream(Out, 4096, 4));
    let [queued, single] = [16, 1].map(|queue| Work::stream(Out, 1, queue));
    [
        ("IN 4 KiB, 4 queued", "kB/s", 1, many_in),
        ("OUT 4 KiB, 4 queued", "kB/s", 1, many_out),
        ("the same IN, two devices together", "kB/s", 2, many_in),
        ("OUT 1 B, 16 queued", "kB/s", 1, queued),
        ("OUT 1 B, one at a time", "kB/s", 1, single),
        ("RTT, 48 B", "ms", 1, Work::exchange(48, 1)),
        ("RTT, 1000 B", "ms", 1, Work::exchange(1000, 1)),
        ("RTT, 8000 B", "ms", 1, Work::exchange(8000, 1)),
    ]
}

fn both(devices: usize, work: Work) -> (f64, f64) {
    let bus = BusTiming::of(Bus::FullSpeed);
    let direct = figure(bus, devices, work);
    (direct, figure(bus.behind_hub(), devices, work))
}

/// J. Augustyn, A. Tutaj, table 2, R = 0: bytes of the answer, RTT in ms on UHCI (a full-speed port) and on EHCI
/// (behind a high-speed hub).
const PUBLISHED: [(u64, f64, f64); 5] = [
    (48, 9.47, 8.13),
    (100, 9.48, 8.36),
    (1000, 11.10, 8.33),
    (3500, 12.30, 12.10),
    (8000, 18.80, 16.30),
];

/// RTT in ms of the paper's device and host.
fn of_profile(name: &str, answer: u64) -> f64 {
    let profile = Profile::find(name).expect("a profile of the paper");
    // As in the tables of the profiles.
    let count = if answer > 2000 { 2_000 } else { 5_000 };
    let work = Work::exchange(answer, 1);
    let seen = run(profile.bus, profile.device, 1, work, count);
    let rtts = &seen[0].rtt_ns[count / 10..];
    rtts.iter().map(|rtt| *rtt as f64).sum::<f64>() / rtts.len() as f64 / 1e6
}

#[test]
fn the_tables_of_the_hub_are_those_of_the_model() {
    let mut text = String::from(
        "| a device that is always ready | on a full-speed port | behind a high-speed hub | ratio |\n\
         | --- | --- | --- | --- |\n",
    );
    for (words, unit, devices, work) in cases() {
        let (direct, hub) = both(devices, work);
        let ratio = hub / direct;
        let row = match unit {
            "ms" => format!("| {words} | {direct:.2} ms | {hub:.2} ms | {ratio:.2} |"),
            _ => format!("| {words} | {direct:.1} kB/s | {hub:.1} kB/s | {ratio:.2} |"),
        };
        writeln!(text, "{row}").expect("a string takes it");
    }
    hold_table("hub", &text);
    let mut text = String::from(
        "| answer, B | published, port: RTT, ms | hub | ratio | model, port | hub | ratio | deviation |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for (answer, port, hub) in PUBLISHED {
        let model_port = of_profile("at91sam3u-uhci", answer);
        let model_hub = of_profile("at91sam3u-ehci", answer);
        let (ratio, model) = (hub / port, model_hub / model_port);
        writeln!(
            text,
            "| {answer} | {port:.2} | {hub:.2} | {ratio:.2} | {model_port:.2} | {model_hub:.2} | {model:.2} | {:+.1} % |",
            (model / ratio - 1.0) * 100.0
        )
        .expect("a string takes it");
    }
    hold_table("hub-published", &text);
}

#[test]
fn behind_a_hub_eighteen_full_packets_fit_in_a_frame_instead_of_nineteen() {
    for direction in [Direction::In, Direction::Out] {
        let (direct, hub) = both(1, Work::stream(direction, 4096, 4));
        let packets = |kilobytes_s: f64| kilobytes_s / 64.0;
        // 51.3 us a packet, and 2.9 us more for its start and complete splits.
        assert!((18.95..=19.05).contains(&packets(direct)), "{direct}");
        assert!((17.95..=18.05).contains(&packets(hub)), "{hub}");
    }
    // While one device waits for its splits, the translator serves the other.
    let (direct, hub) = both(2, Work::stream(Direction::In, 4096, 4));
    assert!(hub > 0.99 * direct, "{hub} {direct}");
}

#[test]
fn a_small_exchange_is_faster_behind_a_hub_as_published_and_a_stream_is_slower() {
    let (direct, hub) = both(1, Work::exchange(48, 1));
    assert!(hub < direct / 4.0, "{hub} {direct}");
    let (direct, hub) = both(1, Work::stream(Direction::In, 4096, 4));
    assert!(hub < direct, "{hub} {direct}");
    for (answer, port, hub) in PUBLISHED {
        let model = of_profile("at91sam3u-ehci", answer) / of_profile("at91sam3u-uhci", answer);
        let published = hub / port;
        assert!(model < 1.0 && published < 1.0, "{answer} B");
        let deviation = model / published - 1.0;
        let holds = deviation.abs() < 0.2;
        assert!(holds, "{answer} B: {model} against {published}");
    }
}
