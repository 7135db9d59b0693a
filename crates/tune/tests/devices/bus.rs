//! A device on a modelled bus in virtual time: packets, frames, FIFOs, a host that needs some time.
//! Variations of the published devices; their steps are real ones.

use super::virtual_host::{Work, run};
use super::{Device, Figure, NINE_OF_TEN, scaled};
use fastrand::Rng;
use std::collections::HashMap;
use wiregauge_model::{Observation, Setting};
use wiregauge_responder::bus::{
    BusTiming, DeviceTiming, HostTiming, NakRetry, PROFILES, PipeTiming, Span, Writes,
};
use wiregauge_stats::{Distribution, Estimate, Series};
use wiregauge_tune::{Candidate, Measured};

/// Exchanges that the truth is taken from, and those left out before.
const TRUTH: usize = 400;
const BEFORE: usize = 20;

/// See the module.
pub struct Bus {
    bus: BusTiming,
    device: DeviceTiming,
    random: Rng,
    known: HashMap<Setting, True>,
}

impl Bus {
    pub fn new(seed: u64) -> Bus {
        let mut random = Rng::with_seed(seed);
        let r = &mut random;
        // Not those that are there for their hosts: the host is drawn below.
        let profiles = PROFILES
            .iter()
            .filter(|p| p.bus.host.writes == Writes::AsGiven);
        let profiles: Vec<_> = profiles.collect();
        let profile = profiles[r.usize(0..profiles.len())];
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
        let delay_ns = (30_000.0 * 40.0f64.powf(r.f64())) as u64;
        let spread_ns = (10_000.0 * 50.0f64.powf(r.f64())) as u64;
        let bus = BusTiming {
            host: HostTiming {
                write: Span::between(delay_ns, delay_ns + spread_ns),
                ..HostTiming::NONE
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

    /// When the host is observed of so many ends, and those before.
    fn observed(&self, at: Setting, count: usize) -> Vec<u64> {
        let work = Work::Exchange {
            out: u64::from(at.out_bytes),
            answer: u64::from(at.in_bytes),
            depth: at.depth as usize,
        };
        run(self.bus, self.device, 1, work, count).remove(0).told_ns
    }

    fn true_figures(&self, at: Setting) -> True {
        let depth = at.depth as usize;
        let observed = self.observed(at, BEFORE + depth + TRUTH);
        let (trt, rtt) = times(&observed, depth, BEFORE);
        // Several ends are observed at once: whole bursts are counted, or their rate would depend on
        // which of one ends the run.
        let begins: Vec<usize> = (BEFORE..observed.len())
            .filter(|&i| observed[i] != observed[i - 1])
            .collect();
        let (first, last) = (begins[0], begins[begins.len() - 1]);
        let half = |e: Estimate| e.high.map_or(0.0, |high| high / e.value - 1.0);
        True {
            trt_ns: (observed[last] - observed[first]) as f64 / (last - first) as f64,
            rtt_ns: rtt.mean.value,
            trt_half: half(trt.mean),
            rtt_half: half(rtt.mean),
        }
    }
}

/// TRT and RTT of what comes after so many others.
fn times(observed: &[u64], depth: usize, before: usize) -> (Distribution, Distribution) {
    let (mut trt, mut rtt) = (Series::new(), Series::new());
    for end in before + depth..observed.len() {
        trt.push(observed[end] - observed[end - 1]);
        // It was asked for when the one `depth` before it ended.
        rtt.push(observed[end] - observed[end - depth]);
    }
    let some = |series: Series| series.distribution().expect("some");
    (some(trt), some(rtt))
}

/// Times, and by which part an interval of the length of `TRUTH` reaches beyond.
#[derive(Clone, Copy)]
struct True {
    trt_ns: f64,
    rtt_ns: f64,
    trt_half: f64,
    rtt_half: f64,
}

impl Device for Bus {
    fn measure(&mut self, at: Candidate, exchanges: u64, figures: &[Figure]) -> Measured {
        let before = BEFORE + self.random.usize(0..100);
        let depth = at.setting.depth as usize;
        let observed = self.observed(at.setting, before + depth + exchanges as usize);
        let (trt, rtt) = times(&observed, depth, before);
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

    fn truth(&mut self, at: Candidate, figure: Figure, shown: Option<u64>) -> f64 {
        let known = match self.known.get(&at.setting) {
            Some(known) => *known,
            None => {
                let found = self.true_figures(at.setting);
                self.known.insert(at.setting, found);
                found
            }
        };
        let reach = NINE_OF_TEN / 1.96;
        let reach = shown.map_or(0.0, |n| reach * (TRUTH as f64 / n as f64).sqrt());
        let trt = known.trt_ns * (1.0 + reach * known.trt_half);
        match figure {
            Figure::InRate => f64::from(at.setting.in_bytes) * 1e9 / trt,
            Figure::Exchanges => 1e9 / trt,
            Figure::Trt => trt,
            Figure::Rtt => known.rtt_ns * (1.0 + reach * known.rtt_half),
            Figure::P99 => unreachable!("not asked of a bus"),
        }
    }
}
