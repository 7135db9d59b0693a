//! A device as a formula that the fitted model does not have: a rounded knee of random sharpness,
//! packets in each way, heavy tails whose weight changes with depth.

use super::{Device, Figure, NINE_OF_TEN, scaled};
use fastrand::Rng;
use wiregauge_model::{Observation, Setting};
use wiregauge_record::Connect;
use wiregauge_stats::{Estimate, Series};
use wiregauge_tune::{Candidate, Measured};

#[derive(Clone, Debug)]
enum Tail {
    /// exp(sigma z), of mean 1.
    LogNormal { sigma: f64 },
    /// Pareto's second kind, of mean 1.
    Lomax { alpha: f64 },
}

#[derive(Clone, Debug)]
struct Stage {
    fixed_ns: f64,
    out_byte_ns: f64,
    in_byte_ns: f64,
    packet_ns: f64,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Numeric {
    whole_way: Stage,
    slowest: Stage,
    packet_bytes: u32,
    sharpness: f64,
    tail: Tail,
    /// Part of the RTT that varies.
    restless: f64,
    /// By which power of the depth it calms down.
    calming: f64,
    wait: [f64; 3],
    open_ns: f64,
    random: Rng,
}

pub fn log_uniform(random: &mut Rng, from: f64, to: f64) -> f64 {
    from * (to / from).powf(random.f64())
}

impl Stage {
    fn ns(&self, at: Setting, packet: u32) -> f64 {
        let packets = at.out_bytes / packet + at.in_bytes / packet + 2;
        self.fixed_ns
            + self.out_byte_ns * f64::from(at.out_bytes)
            + self.in_byte_ns * f64::from(at.in_bytes)
            + self.packet_ns * f64::from(packets)
    }
}

impl Numeric {
    pub fn new(seed: u64) -> Numeric {
        let mut random = Rng::with_seed(seed);
        let r = &mut random;
        let latency = log_uniform(r, 2e4, 5e6);
        let byte = log_uniform(r, 0.5, 2000.0);
        let bottleneck = log_uniform(r, 0.02, 0.8);
        let packet_bytes = [64, 512, 1460][r.usize(0..3)];
        let packet_ns = byte * f64::from(packet_bytes) * r.f64() * 0.3;
        Numeric {
            whole_way: Stage {
                fixed_ns: latency,
                out_byte_ns: byte * (0.2 + r.f64()),
                in_byte_ns: byte,
                packet_ns,
            },
            slowest: Stage {
                fixed_ns: latency * bottleneck,
                out_byte_ns: byte * 0.1,
                in_byte_ns: byte * (0.1 + 0.9 * r.f64()),
                packet_ns: packet_ns * r.f64(),
            },
            packet_bytes,
            sharpness: 2.0 + 8.0 * r.f64(),
            tail: match r.bool() {
                true => Tail::LogNormal {
                    sigma: 0.3 + 0.9 * r.f64(),
                },
                false => Tail::Lomax {
                    alpha: 2.5 + 3.0 * r.f64(),
                },
            },
            restless: 0.02 + 0.4 * r.f64(),
            calming: 0.5 * r.f64(),
            wait: [1.0, 1.0 + 0.2 * r.f64(), 0.6 + 0.5 * r.f64()],
            open_ns: latency * r.f64() * 2.0,
            random,
        }
    }

    fn trt_ns(&self, at: Candidate) -> f64 {
        let depth = f64::from(at.setting.depth);
        let open = match at.connect {
            Connect::Once => 0.0,
            Connect::Each => self.open_ns,
        };
        let wait = self.wait[at.wait as usize];
        let alone = open + wait * self.whole_way.ns(at.setting, self.packet_bytes);
        let slowest = self.slowest.ns(at.setting, self.packet_bytes);
        let p = self.sharpness;
        ((alone / depth).powf(p) + slowest.powf(p)).powf(1.0 / p)
    }

    fn rtt_ns(&self, at: Candidate) -> f64 {
        self.trt_ns(at) * f64::from(at.setting.depth)
    }

    fn restless(&self, at: Candidate) -> f64 {
        self.restless * f64::from(at.setting.depth).powf(-self.calming)
    }

    /// RTT that is longer than this share of all, over the mean.
    fn quantile(&self, at: Candidate, share: f64) -> f64 {
        let w = self.restless(at);
        let x = match self.tail {
            Tail::LogNormal { sigma } => (sigma * probit(share) - sigma * sigma / 2.0).exp(),
            Tail::Lomax { alpha } => (alpha - 1.0) * ((1.0 - share).powf(-1.0 / alpha) - 1.0),
        };
        1.0 - w + w * x
    }
}

/// The inverse of the normal distribution.
fn probit(share: f64) -> f64 {
    use statrs::distribution::{ContinuousCDF, Normal};
    Normal::standard().inverse_cdf(share)
}

impl Device for Numeric {
    fn measure(&mut self, at: Candidate, exchanges: u64, figures: &[Figure]) -> Measured {
        let mut series = Series::new();
        let rtt = self.rtt_ns(at);
        for _ in 0..exchanges {
            let share = self.random.f64().clamp(1e-9, 1.0 - 1e-9);
            series.push((rtt * self.quantile(at, share)) as u64);
        }
        let rtt = series.distribution().expect("some");
        let depth = f64::from(at.setting.depth);
        let figure = |figure: &Figure| -> Estimate {
            match figure {
                Figure::InRate => scaled(rtt.mean, |ns| {
                    f64::from(at.setting.in_bytes) * depth * 1e9 / ns
                }),
                Figure::Exchanges => scaled(rtt.mean, |ns| depth * 1e9 / ns),
                Figure::Trt => scaled(rtt.mean, |ns| ns / depth),
                Figure::Rtt => rtt.mean,
                Figure::P99 => rtt.p99,
            }
        };
        let half = rtt.mean.high.map_or(0.0, |high| high - rtt.mean.value);
        Measured {
            exchanges,
            observation: Some(Observation {
                at: at.setting,
                trt_ns: rtt.mean.value / depth,
                rtt_ns: rtt.mean.value,
                error: half / 1.96 / rtt.mean.value,
            }),
            objective: Some(figure(&figures[0])),
            constraints: figures[1..].iter().map(|f| Some(figure(f))).collect(),
        }
    }

    fn truth(&mut self, at: Candidate, figure: Figure, shown: Option<u64>) -> f64 {
        match figure {
            Figure::InRate => f64::from(at.setting.in_bytes) * 1e9 / self.trt_ns(at),
            Figure::Exchanges => 1e9 / self.trt_ns(at),
            Figure::Trt => self.trt_ns(at),
            Figure::Rtt => self.rtt_ns(at),
            Figure::P99 => {
                let further = shown.map_or(0.0, |n| NINE_OF_TEN * (0.99 * 0.01 / n as f64).sqrt());
                self.rtt_ns(at) * self.quantile(at, (0.99 + further).min(0.999_99))
            }
        }
    }
}
