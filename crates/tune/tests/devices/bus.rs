//! A device on a modelled bus in virtual time: packets, frames, FIFOs, a host that needs some time.
//! Variations of the published devices; their steps are real ones.

use super::virtual_host::{Work, run};
use super::{Device, Figure, scaled};
use fastrand::Rng;
use std::collections::HashMap;
use wiregauge::bus::{BusTiming, DeviceTiming, HostTiming, NakRetry, PROFILES, PipeTiming};
use wiregauge_model::{Observation, Setting};
use wiregauge_stats::{Distribution, Series};
use wiregauge_tune::{Candidate, Measured};

/// Exchanges that the truth is taken from, and those left out before.
const TRUTH: usize = 400;
const BEFORE: usize = 20;

/// See the module.
pub struct Bus {
    bus: BusTiming,
    device: DeviceTiming,
    random: Rng,
    known: HashMap<Setting, (Distribution, Distribution)>,
}

impl Bus {
    pub fn new(seed: u64) -> Bus {
        let mut random = Rng::with_seed(seed);
        let r = &mut random;
        let profile = &PROFILES[r.usize(0..PROFILES.len())];
        let mut factor = |ns: u64| (ns as f64 * (0.3 + 1.7 * r.f64())) as u64;
        let mut pipe = |pipe: PipeTiming| PipeTiming {
            packet_ns: factor(pipe.packet_ns),
            byte_ps: factor(pipe.byte_ps),
            ..pipe
        };
        let (to_host, from_host) = (pipe(profile.device.to_host), pipe(profile.device.from_host));
        let device = DeviceTiming {
            transfer_ns: factor(profile.device.transfer_ns.max(20_000)),
            to_host: PipeTiming {
                nak_retry: [NakRetry::AtOnce, NakRetry::NextFrame][r.usize(0..2)],
                ..to_host
            },
            from_host,
        };
        let bus = BusTiming {
            host: HostTiming {
                delay_ns: (30_000.0 * 40.0f64.powf(r.f64())) as u64,
                spread_ns: (10_000.0 * 50.0f64.powf(r.f64())) as u64,
            },
            ..profile.bus
        };
        Bus {
            bus,
            device,
            random,
            known: HashMap::new(),
        }
    }

    /// TRT and RTT of so many exchanges after so many others.
    fn times(&self, at: Setting, before: usize, count: usize) -> (Distribution, Distribution) {
        let depth = at.depth as usize;
        let work = Work::Exchange {
            out: u64::from(at.out_bytes),
            answer: u64::from(at.in_bytes),
            depth,
        };
        let told = &run(self.bus, self.device, 1, work, before + depth + count)[0].told_ns;
        let (mut trt, mut rtt) = (Series::new(), Series::new());
        for end in before + depth..before + depth + count {
            trt.push(told[end] - told[end - 1]);
            // It was asked for when the one `depth` before it ended.
            rtt.push(told[end] - told[end - depth]);
        }
        let some = |series: Series| series.distribution().expect("some");
        (some(trt), some(rtt))
    }
}

impl Device for Bus {
    fn measure(&mut self, at: Candidate, exchanges: u64, figures: &[Figure]) -> Measured {
        let before = BEFORE + self.random.usize(0..100);
        let (trt, rtt) = self.times(at.setting, before, exchanges as usize);
        let in_bytes = f64::from(at.setting.in_bytes);
        let figure = |figure: &Figure| match figure {
            Figure::InRate => scaled(trt.mean, |ns| in_bytes * 1e9 / ns),
            Figure::Exchanges => scaled(trt.mean, |ns| 1e9 / ns),
            Figure::Trt => trt.mean,
            Figure::Rtt => rtt.mean,
            Figure::P99 => rtt.p99,
        };
        let half = trt.mean.high.map_or(0.0, |high| high - trt.mean.value);
        Measured {
            exchanges,
            observation: Some(Observation {
                at: at.setting,
                trt_ns: trt.mean.value,
                rtt_ns: rtt.mean.value,
                error: half / 1.96 / trt.mean.value,
            }),
            objective: Some(figure(&figures[0])),
            constraints: figures[1..].iter().map(|f| Some(figure(f))).collect(),
        }
    }

    fn truth(&mut self, at: Candidate, figure: Figure, _: Option<u64>) -> f64 {
        let known = match self.known.get(&at.setting) {
            Some(known) => known.clone(),
            None => {
                let times = self.times(at.setting, BEFORE, TRUTH);
                self.known.insert(at.setting, times.clone());
                times
            }
        };
        let (trt, rtt) = known;
        match figure {
            Figure::InRate => f64::from(at.setting.in_bytes) * 1e9 / trt.mean.value,
            Figure::Exchanges => 1e9 / trt.mean.value,
            Figure::Trt => trt.mean.value,
            Figure::Rtt => rtt.mean.value,
            Figure::P99 => rtt.p99.value,
        }
    }
}
