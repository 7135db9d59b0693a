//! One figure of a point (a throughput, a percentile, a share) as it is believed to be everywhere: a
//! quantity of the fitted link times a ratio that is learned from the probes.

use crate::gaussian::{Kernel, Process, Spot};
use wiregauge_model::LinkModel;
use wiregauge_model::Setting;
use wiregauge_stats::Estimate;

/// A figure that was measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub spot: Spot,
    pub setting: Setting,
    pub exchanges: u64,
    pub figure: Estimate,
}

/// What of the link a figure may go with.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Base {
    /// Nothing: the same everywhere.
    Level,
    Trt,
    Rtt,
    /// Exchanges a second.
    Exchanges,
    InRate,
    OutRate,
    BothRate,
}

const BASES: [Base; 7] = [
    Base::Level,
    Base::Trt,
    Base::Rtt,
    Base::Exchanges,
    Base::InRate,
    Base::OutRate,
    Base::BothRate,
];

impl Base {
    /// Its logarithm; `None` where it does not exist, such as the rate of no bytes.
    fn log(self, model: Option<&LinkModel>, at: Setting) -> Option<f64> {
        let (out, input) = (f64::from(at.out_bytes), f64::from(at.in_bytes));
        let bytes = match self {
            Base::Level => return Some(0.0),
            Base::Rtt => return positive_log(model?.rtt_ns(at)),
            Base::Trt => return positive_log(model?.trt_ns(at)),
            Base::Exchanges => 1.0,
            Base::InRate => input,
            Base::OutRate => out,
            Base::BothRate => out + input,
        };
        positive_log(bytes / model?.trt_ns(at))
    }
}

fn positive_log(value: f64) -> Option<f64> {
    (value > 0.0 && value.is_finite()).then(|| value.ln())
}

/// Two-sided 95 % of a normal distribution.
pub(crate) const Z: f64 = 1.96;

/// What is taken for the relative standard deviation of one exchange where no probe had an interval.
const UNKNOWN_SD: f64 = 0.5;

/// Nothing is believed to be known better than this, relatively.
const FINEST: f64 = 3e-4;

/// What is tried for the kernel; the most likely is taken.
struct Kernels {
    /// How far the ratio of a figure to its base may stray.
    sigmas: &'static [f64],
    /// Over which part of the axes that fades.
    reaches: &'static [f64],
    /// Part of the variance that the intervals say. Where ends of exchanges fall on a frame's grid,
    /// their mean is known far better than the spread of single ones lets hope.
    calms: &'static [f64],
}

/// To choose the base by.
const ROUGH: Kernels = Kernels {
    sigmas: &[0.005, 0.02, 0.1, 0.4],
    reaches: &[0.5],
    calms: &[1.0, 0.1],
};

/// Where each candidate was probed itself, and neighbours prove little.
const ALONE: Kernels = Kernels {
    sigmas: &[0.05, 0.1, 0.2, 0.5],
    reaches: &[0.05],
    calms: &[1.0, 0.1, 0.01],
};

const THOROUGH: Kernels = Kernels {
    sigmas: &[0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0],
    reaches: &[0.15, 0.5, 1.5],
    calms: &[1.0, 0.1, 0.01],
};

const LABEL_SIGMA: f64 = 0.5;

/// What is believed of the stray before anything was measured: a few points that happen to lie on the
/// model prove little.
const USUAL_SIGMA: f64 = 0.05;

/// Numbers of a model of one size that changes: of the whole way and of the slowest stage, of each the
/// fixed cost and the cost a byte.
const FITTED: usize = 4;

/// A figure everywhere.
pub(crate) struct Surrogate {
    /// `None` if it is taken as it is, because it was zero or less somewhere.
    base: Option<Base>,
    /// What it is divided by where it is taken as it is.
    unit: f64,
    process: Process,
    /// Variance of one exchange on the scale of the surrogate.
    noise: f64,
}

impl Surrogate {
    /// `None` without readings. `unit` is a value of the figure that matters, such as a bound; `is_whole`, that
    /// every candidate is probed.
    pub fn fit(
        readings: &[Reading],
        model: Option<&LinkModel>,
        unit: f64,
        is_whole: bool,
    ) -> Option<Surrogate> {
        let kernels = if is_whole { &ALONE } else { &THOROUGH };
        if readings.is_empty() {
            return None;
        }
        let spots: Vec<Spot> = readings.iter().map(|r| r.spot).collect();
        if readings.iter().any(|r| r.figure.value <= 0.0) {
            let unit = match readings.iter().flat_map(reach).fold(unit.abs(), f64::max) {
                0.0 => 1.0,
                most => most,
            };
            let values: Vec<f64> = readings.iter().map(|r| r.figure.value / unit).collect();
            let own = |r: &Reading| {
                let width = r.figure.high? - r.figure.low?;
                Some((width / unit / (2.0 * Z)).powi(2))
            };
            let (variances, noise) = variances(readings, own);
            let (_, process) = most_likely(&spots, &values, &variances, 0, kernels)?;
            return Some(Surrogate {
                base: None,
                unit,
                process,
                noise,
            });
        }
        let (variances, noise) = variances(readings, |r| relative_variance(r.figure));
        let values = |base: Base| -> Option<Vec<f64>> {
            (readings.iter())
                .map(|r| Some(r.figure.value.ln() - base.log(model, r.setting)?))
                .collect()
        };
        let fitted = |base| if base == Base::Level { 0 } else { FITTED };
        let rough = BASES.iter().filter_map(|&base| {
            let (likely, _) =
                most_likely(&spots, &values(base)?, &variances, fitted(base), &ROUGH)?;
            Some((base, likely))
        });
        let (base, _) = rough.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let (_, process) = most_likely(&spots, &values(base)?, &variances, fitted(base), kernels)?;
        Some(Surrogate {
            base: Some(base),
            unit: 1.0,
            process,
            noise,
        })
    }

    /// Mean and standard deviation on its own scale: the logarithm of the figure, or the figure in
    /// units.
    pub fn at(&self, spot: &Spot, setting: Setting, model: Option<&LinkModel>) -> (f64, f64) {
        let (mean, sd) = self.process.at(spot);
        let base = self.base.and_then(|base| base.log(model, setting));
        (mean + base.unwrap_or(0.0), sd)
    }

    /// A value of the figure on its own scale.
    pub fn scaled(&self, value: f64) -> f64 {
        match self.base {
            Some(_) if value > 0.0 => value.ln(),
            Some(_) => f64::NEG_INFINITY,
            None => value / self.unit,
        }
    }

    /// Standard deviation, on its own scale, of what so many exchanges would measure.
    pub fn noise(&self, exchanges: u64) -> f64 {
        (self.noise / exchanges.max(1) as f64).sqrt()
    }

    /// Exchanges that measure it to this standard deviation.
    pub fn exchanges_for(&self, sd: f64) -> u64 {
        (self.noise / (sd * sd)).ceil() as u64
    }
}

/// The most likely of some kernels, with the logarithm of how likely it is. `fitted` numbers of the base
/// come from the same points, which therefore do not say how far it strays from others.
fn most_likely(
    spots: &[Spot],
    values: &[f64],
    variances: &[f64],
    fitted: usize,
    kernels: &Kernels,
) -> Option<(f64, Process)> {
    let n = spots.len();
    let free = n.saturating_sub(fitted).max(1) as f64 / n as f64;
    let mut best: Option<(f64, Process)> = None;
    for &calm in kernels.calms {
        let variances: Vec<f64> = variances.iter().map(|v| v * calm).collect();
        for &sigma in kernels.sigmas {
            for &reach in kernels.reaches {
                let kernel = Kernel {
                    sigma,
                    reach,
                    label_sigma: LABEL_SIGMA,
                };
                let Some(process) = Process::new(kernel, spots, values, &variances) else {
                    continue;
                };
                let prior = log_prior(sigma, USUAL_SIGMA) + log_prior(calm, 1.0);
                let likely = free * process.evidence + prior;
                if best.as_ref().is_none_or(|(other, _)| likely > *other) {
                    best = Some((likely, process));
                }
            }
        }
    }
    best
}

/// A value and the ends of its interval, without their signs.
fn reach(reading: &Reading) -> impl Iterator<Item = f64> {
    let Estimate { value, low, high } = reading.figure;
    let ends = [Some(value), low, high];
    ends.into_iter().flatten().map(f64::abs)
}

/// Of a normal distribution of the logarithm, a factor of e wide, but for a constant.
fn log_prior(value: f64, usual: f64) -> f64 {
    -0.5 * (value / usual).ln().powi(2)
}

/// From an interval, as a part of the value. One side is enough.
fn relative_variance(figure: Estimate) -> Option<f64> {
    let up = figure.high.map(|high| (high / figure.value).ln());
    let down = (figure.low)
        .filter(|low| *low > 0.0)
        .map(|low| (figure.value / low).ln());
    let half = match (up, down) {
        (Some(up), Some(down)) => (up + down) / 2.0,
        // What bounds on one side only is an extreme of few samples.
        (Some(one), None) | (None, Some(one)) => one * 1.5,
        (None, None) => return None,
    };
    half.is_finite().then(|| (half / Z).powi(2))
}

/// The variance of each reading, and that of a single exchange. Intervals of short probes scatter
/// much themselves, so none is believed to be better than half of what all say together.
fn variances(readings: &[Reading], own: impl Fn(&Reading) -> Option<f64>) -> (Vec<f64>, f64) {
    let of_one = |r: &Reading| Some(own(r)? * r.exchanges as f64);
    let mut singles: Vec<f64> = readings.iter().filter_map(of_one).collect();
    singles.sort_by(f64::total_cmp);
    let single = match singles.get(singles.len() / 2) {
        Some(middle) => *middle,
        None => UNKNOWN_SD * UNKNOWN_SD,
    };
    let each = readings.iter().map(|r| {
        let pooled = single / r.exchanges.max(1) as f64;
        own(r).map_or(pooled, |own| own.max(pooled / 2.0)) + FINEST * FINEST
    });
    (each.collect(), single)
}
