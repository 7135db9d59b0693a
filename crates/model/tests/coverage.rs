//! Error bands hold as often as they claim: on random devices, some of a formula with noise, some on
//! a USB bus in virtual time, whose sizes go by packets and frames. Of each device some random
//! settings are measured, and one more, drawn alike, is predicted and then measured.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../../wiregauge/tests/virtual_host/mod.rs"]
mod virtual_host;

use fastrand::Rng;
use virtual_host::{Work, run};
use wiregauge::bus::{BusTiming, DeviceTiming, HostTiming, NakRetry, PROFILES, PipeTiming};
use wiregauge_model::{LinkModel, Observation, Setting};

/// A device of which anything can be measured.
type Device = Box<dyn FnMut(Setting) -> Observation>;

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
    let profile = &PROFILES[rng.usize(..PROFILES.len())];
    let mut vary = |ns: u64| (ns as f64 * log_uniform(&mut rng, 0.5, 2.0)) as u64;
    let mut pipe = |timing: PipeTiming| PipeTiming {
        packet_ns: vary(timing.packet_ns + 2_000),
        byte_ps: vary(timing.byte_ps),
        ..timing
    };
    let (mut to_host, mut from_host) =
        (pipe(profile.device.to_host), pipe(profile.device.from_host));
    let transfer_ns = vary(profile.device.transfer_ns + 5_000);
    let host = HostTiming {
        delay_ns: vary(profile.bus.host.delay_ns + 20_000),
        spread_ns: vary(profile.bus.host.spread_ns + 30_000),
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
    let range = Range {
        out: (16, if rng.bool() { 16 } else { 512 }),
        in_: (16, 8_192),
        deepest: 8,
    };
    let device = move |at: Setting| {
        let work = Work::Exchange {
            out: at.out_bytes.into(),
            answer: at.in_bytes.into(),
            depth: at.depth as usize,
        };
        let trt_ns = run(bus, device, 1, work, 40 + 4 * at.depth as usize)[0].period_ns();
        Observation {
            at,
            trt_ns,
            rtt_ns: trt_ns * f64::from(at.depth),
            error: 0.0,
        }
    };
    (Box::new(device), range)
}

#[derive(Debug, Default)]
struct Tally {
    held: u32,
    told: u32,
    beyond: u32,
    refused: u32,
    /// Width of the bands: their ends' ratio.
    widths: Vec<f64>,
    stepped: u32,
}

impl Tally {
    fn coverage(&self) -> f64 {
        f64::from(self.held) / f64::from(self.told)
    }

    fn width(&mut self) -> f64 {
        self.widths.sort_by(f64::total_cmp);
        self.widths[self.widths.len() / 2]
    }
}

/// Predicts one setting of each of so many devices.
fn tally(
    kind: fn(Rng) -> (Device, Range),
    devices: u64,
    points: usize,
    share: f64,
    seed: u64,
) -> Tally {
    let mut tally = Tally::default();
    let mut nth = 0;
    while u64::from(tally.told) < devices {
        nth += 1;
        let mut rng = Rng::with_seed(seed + nth * 7_919);
        let (mut device, range) = kind(rng.fork());
        let mut settings: Vec<Setting> = Vec::new();
        while settings.len() < points {
            let at = setting(&mut rng, range);
            if !settings.contains(&at) {
                settings.push(at);
            }
        }
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
        let truth = device(at).trt_ns;
        tally.told += 1;
        tally.held += u32::from((low..=high).contains(&truth));
        tally.widths.push(high / low);
        tally.stepped += u32::from(model.figures().steps.is_some());
    }
    tally
}

#[test]
fn explore() {
    for (name, kind) in [
        ("numeric", numeric as fn(Rng) -> (Device, Range)),
        ("bus", on_a_bus),
    ] {
        for (points, share) in [(9, 0.9), (20, 0.9)] {
            let begin = std::time::Instant::now();
            let mut t = tally(kind, 60, points, share, 1);
            let width = t.width();
            println!(
                "{name} {points} {share}: {:.3} beyond {} refused {} width {:.3} stepped {} {:?}",
                t.coverage(),
                t.beyond,
                t.refused,
                width,
                t.stepped,
                begin.elapsed()
            );
        }
    }
}
