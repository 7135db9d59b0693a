//! Error bands hold as often as they claim: on random devices, some of a formula with noise, some on
//! a USB bus in virtual time, whose sizes go by packets and frames. Of each device some random
//! settings are measured, and one more, drawn alike, is predicted and then measured.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../../responder/tests/virtual_host/mod.rs"]
mod virtual_host;

use fastrand::Rng;
use virtual_host::{Work, run};
use wiregauge_model::{LinkModel, Observation, Setting};
use wiregauge_responder::bus::{
    BusTiming, DeviceTiming, Direction, HostTiming, NakRetry, PROFILES, PipeTiming, Span, Writes,
};

/// A device of which anything can be measured.
type Device = Box<dyn FnMut(Setting) -> Observation>;

/// Makes a device, and says what may be set on it.
type Kind = fn(Rng) -> (Device, Range);

/// Evenly on a logarithmic scale.
fn log_uniform(rng: &mut Rng, from: f64, to: f64) -> f64 {
    (from.ln() + rng.f64() * (to / from).ln()).exp()
}

/// What may be set on a device.
#[derive(Clone, Copy)]
struct Range {
    out: (u32, u32),
    in_: (u32, u32),
    deepest: u32,
}

fn setting(rng: &mut Rng, range: Range) -> Setting {
    let mut size = |(from, to): (u32, u32)| {
        if from == to {
            from
        } else {
            log_uniform(rng, f64::from(from), f64::from(to)).round() as u32
        }
    };
    let (out_bytes, in_bytes) = (size(range.out), size(range.in_));
    Setting {
        out_bytes,
        in_bytes,
        depth: rng.u32(1..=range.deepest),
    }
}

/// A latency, costs a byte, a slowest stage, some curvature that the model does not have, and noise:
/// of most devices a few percent.
fn numeric(mut rng: Rng) -> (Device, Range) {
    let fixed = log_uniform(&mut rng, 20e3, 5e6);
    let (out, in_) = (
        log_uniform(&mut rng, 0.1, 200.0),
        log_uniform(&mut rng, 0.1, 200.0),
    );
    let part = rng.f64();
    let exponent = if rng.bool() {
        1.0
    } else {
        0.9 + 0.2 * rng.f64()
    };
    let noise = log_uniform(&mut rng, 0.001, 0.08);
    let range = Range {
        out: (16, if rng.bool() { 16 } else { 1_024 }),
        in_: (16, 8_192),
        deepest: 16,
    };
    let device = move |at: Setting| {
        let bytes = out * f64::from(at.out_bytes) + in_ * f64::from(at.in_bytes).powf(exponent);
        let (alone, slowest) = (fixed + bytes, part * (0.2 * fixed + bytes));
        let depth = f64::from(at.depth);
        // Sum of four uniform numbers: near to normal.
        let normal = (0..4).map(|_| rng.f64() - 0.5).sum::<f64>() * 3f64.sqrt();
        let trt_ns = (alone / depth).max(slowest) * (1.0 + noise * normal);
        Observation {
            at,
            trt_ns,
            rtt_ns: trt_ns * depth * (1.0 - 0.02 * rng.f64()),
            error: noise,
        }
    };
    (Box::new(device), range)
}

/// A device of the profiles on their buses, with all of its times varied.
fn on_a_bus(mut rng: Rng) -> (Device, Range) {
    // Not those that are there for their hosts: the host is drawn below.
    let profiles = PROFILES
        .iter()
        .filter(|p| p.bus.host.writes == Writes::AsGiven);
    let profiles: Vec<_> = profiles.collect();
    let profile = profiles[rng.usize(..profiles.len())];
    let mut vary = |ns: u64| (ns as f64 * log_uniform(&mut rng, 0.5, 2.0)) as u64;
    let mut pipe = |timing: PipeTiming| PipeTiming {
        packet_ns: vary(timing.packet_ns + 2_000),
        byte_ps: vary(timing.byte_ps),
        ..timing
    };
    let (mut to_host, mut from_host) =
        (pipe(profile.device.to_host), pipe(profile.device.from_host));
    let transfer_ns = vary(profile.device.transfer_ns + 5_000);
    // Without lost ticks: a mean of few exchanges is no measurement then.
    let its_host = profile.bus.host;
    let delay_ns = vary(its_host.call.to_ns + its_host.poll.to_ns + 20_000);
    let spread_ns = vary(30_000 + its_host.write.to_ns);
    let host = HostTiming {
        write: Span::between(delay_ns, delay_ns + spread_ns),
        ..HostTiming::NONE
    };
    for way in [&mut to_host, &mut from_host] {
        way.buffers = rng.u8(1..=2);
        way.nak_retry = [NakRetry::AtOnce, NakRetry::NextFrame][rng.usize(..2)];
    }
    let bus = BusTiming {
        host,
        ..profile.bus
    };
    let device = DeviceTiming {
        transfer_ns,
        to_host,
        from_host,
    };
    let (range, work): (Range, fn(Setting) -> Work) = match rng.u8(..4) {
        0 => (
            Range {
                out: (0, 0),
                in_: (64, 65_536),
                deepest: 8,
            },
            |at| Work::Stream {
                direction: Direction::In,
                transfer: at.in_bytes.into(),
                queue: at.depth as usize,
            },
        ),
        _ => (
            Range {
                out: (16, if rng.bool() { 16 } else { 512 }),
                in_: (16, 8_192),
                deepest: 8,
            },
            |at| Work::Exchange {
                out: at.out_bytes.into(),
                answer: at.in_bytes.into(),
                depth: at.depth as usize,
            },
        ),
    };
    let device = move |at: Setting| {
        let count = 40 + 4 * at.depth as usize;
        let trt_ns = run(bus, device, 1, work(at), count)[0].period_ns();
        Observation {
            at,
            trt_ns,
            rtt_ns: trt_ns * f64::from(at.depth),
            error: 0.0,
        }
    };
    (Box::new(device), range)
}

/// Which settings are measured.
#[derive(Clone, Copy)]
enum Points {
    /// So many, drawn as the one that is predicted.
    Random(usize),
    /// Five sizes IN by four depths, as a sweep is typed.
    Grid,
}

impl Points {
    fn settings(self, rng: &mut Rng, range: Range) -> Vec<Setting> {
        let mut settings: Vec<Setting> = Vec::new();
        match self {
            Points::Random(wanted) => {
                while settings.len() < wanted {
                    let at = setting(rng, range);
                    if !settings.contains(&at) {
                        settings.push(at);
                    }
                }
            }
            Points::Grid => {
                let (from, to) = (f64::from(range.in_.0), f64::from(range.in_.1));
                for nth in 0..5 {
                    let in_bytes = (from * (to / from).powf(f64::from(nth) / 4.0)).round() as u32;
                    settings.extend([1, 2, 4, range.deepest].map(|depth| Setting {
                        out_bytes: range.out.0,
                        in_bytes,
                        depth,
                    }));
                }
            }
        }
        settings
    }
}

#[derive(Debug, Default)]
struct Tally {
    held: u64,
    printed: u64,
    beyond: u64,
    refused: u64,
    /// Half the width of each band as a part of its value, logarithmic.
    reach: Vec<f64>,
}

impl Tally {
    fn coverage(&self) -> f64 {
        self.held as f64 / self.printed as f64
    }

    /// Three standard errors of a coverage of `share`.
    fn chance(&self, share: f64) -> f64 {
        3.0 * (share * (1.0 - share) / self.printed as f64).sqrt()
    }

    fn median_reach(&self) -> f64 {
        let mut reach = self.reach.clone();
        reach.sort_by(f64::total_cmp);
        reach[reach.len() / 2]
    }
}

/// Predicts one setting of each of so many devices, so that no two predictions depend on each other.
fn tally(kind: Kind, devices: u64, points: Points, share: f64, seed: u64) -> Tally {
    let mut tally = Tally::default();
    for nth in 0.. {
        if tally.printed == devices {
            break;
        }
        let mut rng = Rng::with_seed(seed + nth * 7_919);
        let (mut device, mut range) = kind(rng.fork());
        if matches!(points, Points::Grid) {
            range.out.1 = range.out.0;
        }
        let settings = points.settings(&mut rng, range);
        let measured: Vec<Observation> = settings.into_iter().map(&mut device).collect();
        let model = LinkModel::fit(&measured).unwrap();
        let at = setting(&mut rng, range);
        let Ok(predicted) = model.predict(at, share) else {
            tally.refused += 1;
            continue;
        };
        let (Some(low), Some(high)) = (predicted.low, predicted.high) else {
            tally.beyond += 1;
            continue;
        };
        assert_eq!(predicted.share, share);
        tally.printed += 1;
        tally.held += u64::from((low..=high).contains(&device(at).trt_ns));
        tally.reach.push((high / low).ln() / 2.0);
    }
    tally
}

#[test]
fn a_band_holds_as_often_as_it_claims() {
    let kinds: [(&str, Kind, usize, f64); 3] = [
        ("formula", numeric, 12, 0.8),
        ("formula", numeric, 19, 0.9),
        ("bus", on_a_bus, 12, 0.8),
    ];
    for (name, kind, points, share) in kinds {
        let tally = tally(kind, 110, Points::Random(points), share, 11);
        let coverage = tally.coverage();
        let least = share - tally.chance(share);
        assert!(
            coverage >= least,
            "{name}, {points} points, {share}: {coverage}"
        );
        // A band without end would hold, too.
        let reach = tally.median_reach();
        assert!(
            reach < 0.35,
            "{name}, {points} points, {share}: half the width is {reach}"
        );
    }
}

/// The table of docs/explain.md: `FULL=1 cargo test --release -p wiregauge-model --test tests coverage --
/// --ignored --nocapture`. Otherwise a fifth of the devices.
#[test]
#[ignore = "a minute; run in release"]
fn coverage_over_many_devices() {
    let devices = match std::env::var_os("FULL") {
        Some(_) => 500,
        None => 100,
    };
    let kinds: [(&str, Kind); 2] = [("formula", numeric), ("bus", on_a_bus)];
    let designs = [
        ("9 random", Points::Random(9), 0.8),
        ("12 random", Points::Random(12), 0.9),
        ("20 random", Points::Random(20), 0.9),
        ("20 random", Points::Random(20), 0.95),
        ("60 random", Points::Random(60), 0.9),
        ("5 x 4 grid", Points::Grid, 0.9),
    ];
    println!("| devices | measured | claimed | held | half width, median | refused | beyond |");
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: |");
    for (name, kind) in kinds {
        for (measured, points, share) in designs {
            let tally = tally(kind, devices, points, share, 23);
            println!(
                "| {name} | {measured} | {:.0} % | {:.1} % | {:.1} % | {} | {} |",
                share * 100.0,
                tally.coverage() * 100.0,
                tally.median_reach() * 100.0,
                tally.refused,
                tally.beyond
            );
            assert!(
                tally.coverage() >= share - tally.chance(share),
                "{name}, {measured}, {share}: {tally:?}"
            );
        }
    }
}
