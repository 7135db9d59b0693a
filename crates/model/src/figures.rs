//! The fitted numbers as they are handed out: with confidence, `None` where the points do not tell,
//! and the residual of each point.

use crate::fit::{Fit, REPORTED_SHARE, slowest_is_reported};
use crate::refits::{Refits, saturation_depth};
use crate::terms::{Cost, Ways};
use crate::{LinkModel, Observation, Setting, Steps};
use serde::Serialize;
use wiregauge_stats::Estimate;

/// What a stage costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageCost {
    /// An exchange by itself, in nanoseconds.
    pub fixed_ns: Estimate,
    /// A byte OUT, its part of a packet included, in nanoseconds; `None` where the size OUT was
    /// always the same.
    pub out_ns_a_byte: Option<Estimate>,
    /// A byte IN.
    pub in_ns_a_byte: Option<Estimate>,
    /// A whole packet (frame, segment) OUT beside its bytes, in nanoseconds; `None` without steps.
    pub out_ns_a_step: Option<Estimate>,
    /// The same IN.
    pub in_ns_a_step: Option<Estimate>,
}

/// From which depth on nothing is gained, at these sizes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Saturation {
    /// Bytes of a request.
    pub out_bytes: u32,
    /// Bytes of a response.
    pub in_bytes: u32,
    /// The depth.
    pub depth: Estimate,
}

/// How far the model is off at a point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Residual {
    /// What was measured.
    pub point: Observation,
    /// TRT by the model, in nanoseconds.
    pub model_ns: f64,
    /// The model's TRT over the measured one, less 1.
    pub off: f64,
    /// The same of a model without this point; `None` where there is none.
    pub off_without: Option<f64>,
}

/// All figures of a model. Intervals are 95 %, from the jackknife over the settings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Different settings that it was fitted to.
    pub settings: usize,
    /// Largest and smallest of each that was measured.
    pub from: Setting,
    /// See `from`.
    pub to: Setting,
    /// The depth of `base`: 1, or the only one that was measured.
    pub base_depth: u32,
    /// TRT at `base_depth`; `None` where no point tells.
    pub base: Option<StageCost>,
    /// Of each exchange, the time in the slowest stage; `None` where no point came near its
    /// saturation.
    pub slowest: Option<StageCost>,
    /// In the slowest stage, what is fixed and what the bytes cost pass at once: the larger of them
    /// counts, not their sum.
    pub overlap: bool,
    /// Where a size grows by whole packets, frames or segments.
    pub steps: Option<Steps>,
    /// The sizes of both ways always changed together, so a byte costs what it costs in either.
    pub together: bool,
    /// Depth of saturation at the smallest and at the largest sizes.
    pub saturation: Vec<Saturation>,
    /// The exponent p of the knee; `None` with one depth.
    pub sharpness: Option<f64>,
    /// Median time for which a place of the queue is empty between two, in nanoseconds.
    pub between_ns: f64,
    /// Bytes a second OUT that no size and depth exceeds; `None` if the cost of a byte is not significant.
    pub out_bytes_s: Option<Estimate>,
    /// Bytes a second IN that no size and depth exceeds; `None` if the cost of a byte is not significant.
    pub in_bytes_s: Option<Estimate>,
    /// Largest `off` of a point, without its sign.
    pub worst: f64,
    /// Each point.
    pub residuals: Vec<Residual>,
}

fn alone_is_reported(fit: &Fit, points: &[Observation]) -> bool {
    fit.only_depth.is_some()
        || points.iter().any(|point| {
            let knee = fit.knee(point.at);
            knee.by_alone * fit.alone.of(point.at, fit.steps) >= REPORTED_SHARE * knee.time
        })
}

/// Smallest and largest of each that was measured.
pub(crate) fn span(points: &[Observation]) -> (Setting, Setting) {
    let all = |pick: fn(u32, u32) -> u32| {
        points.iter().map(|point| point.at).reduce(|a, b| Setting {
            out_bytes: pick(a.out_bytes, b.out_bytes),
            in_bytes: pick(a.in_bytes, b.in_bytes),
            depth: pick(a.depth, b.depth),
        })
    };
    let none = Setting {
        out_bytes: 0,
        in_bytes: 0,
        depth: 1,
    };
    (all(u32::min).unwrap_or(none), all(u32::max).unwrap_or(none))
}

/// Sizes that differ among the points with this depth or a larger one.
fn vary(points: &[Observation], deeper_than: u32) -> (bool, bool) {
    let mut there = points.iter().filter(|point| point.at.depth > deeper_than);
    let Some(first) = there.next() else {
        return (false, false);
    };
    there.fold((false, false), |(out, in_), point| {
        (
            out || point.at.out_bytes != first.at.out_bytes,
            in_ || point.at.in_bytes != first.at.in_bytes,
        )
    })
}

impl LinkModel {
    /// All its figures. The first call takes as many fits as there are settings (at most 40).
    pub fn figures(&self) -> Figures {
        let (fit, refits, points) = (&self.fit, self.refits(), &self.points[..]);
        let (from, to) = span(points);
        let divisor = f64::from(fit.only_depth.unwrap_or(1));
        let base = alone_is_reported(fit, points)
            .then(|| stage(refits, fit, |fit| fit.alone, divisor, vary(points, 0)));
        let varied = vary(points, from.depth);
        let slowest = slowest_is_reported(fit, points)
            .then(|| stage(refits, fit, |fit| fit.slowest, 1.0, varied));
        let mut ends = vec![(from.out_bytes, from.in_bytes), (to.out_bytes, to.in_bytes)];
        ends.dedup();
        let saturation = ends.into_iter().filter_map(|(out_bytes, in_bytes)| {
            let depth = self.saturation_depth(out_bytes, in_bytes)?;
            base.as_ref()?;
            Some(Saturation {
                out_bytes,
                in_bytes,
                depth: refits.estimate(depth, |fit| saturation_depth(fit, out_bytes, in_bytes)),
            })
        });
        let rate = |side: Side| {
            slowest.as_ref()?;
            let cost = |fit: &Fit| ns_a_byte(fit, points, side);
            rate(&refits.estimate(cost(fit), |fit| Some(cost(fit))))
        };
        let residuals = self.residuals();
        Figures {
            settings: points.len(),
            from,
            to,
            base_depth: fit.only_depth.unwrap_or(1),
            saturation: saturation.collect(),
            out_bytes_s: rate(Side::Out),
            in_bytes_s: rate(Side::In),
            base,
            slowest,
            overlap: fit.overlap,
            steps: fit.steps,
            together: matches!(Ways::of(points), Ways::Together { .. }),
            sharpness: fit.only_depth.is_none().then_some(fit.sharpness),
            between_ns: fit.between_ns,
            worst: residuals.iter().fold(0.0, |most, r| r.off.abs().max(most)),
            residuals,
        }
    }

    /// How far off it is at each point.
    pub fn residuals(&self) -> Vec<Residual> {
        let refits = self.refits();
        self.points
            .iter()
            .zip(&refits.group)
            .map(|(&point, &group)| {
                let off = |fit: &Fit| fit.trt_ns(point.at) / point.trt_ns - 1.0;
                Residual {
                    point,
                    model_ns: self.trt_ns(point.at),
                    off: off(&self.fit),
                    off_without: refits.without[group].as_ref().map(off),
                }
            })
            .collect()
    }

    /// The point at which it is furthest off.
    pub fn worst(&self) -> Option<Residual> {
        let all = self.residuals().into_iter();
        all.max_by(|a, b| a.off.abs().total_cmp(&b.off.abs()))
    }
}

fn stage(
    refits: &Refits,
    fit: &Fit,
    cost: fn(&Fit) -> Cost,
    divisor: f64,
    (out, in_): (bool, bool),
) -> StageCost {
    let all = |figure: fn(Cost, Option<Steps>) -> f64| {
        let of = move |fit: &Fit| figure(cost(fit), fit.steps) / divisor;
        refits.estimate(of(fit), |fit| Some(of(fit)))
    };
    let stepped = fit.steps.is_some();
    StageCost {
        fixed_ns: all(|cost, _| cost.fixed_ns),
        out_ns_a_byte: out.then(|| all(out_ns_a_byte)),
        in_ns_a_byte: in_.then(|| all(in_ns_a_byte)),
        out_ns_a_step: (out && stepped).then(|| all(|cost, _| cost.out_ns_a_step)),
        in_ns_a_step: (in_ && stepped).then(|| all(|cost, _| cost.in_ns_a_step)),
    }
}

fn out_ns_a_byte(cost: Cost, steps: Option<Steps>) -> f64 {
    let whole = steps.map_or(1.0, |steps| f64::from(steps.bytes()));
    cost.out_ns_a_byte + cost.out_ns_a_step / whole
}

fn in_ns_a_byte(cost: Cost, steps: Option<Steps>) -> f64 {
    let whole = steps.map_or(1.0, |steps| f64::from(steps.bytes()));
    cost.in_ns_a_byte + cost.in_ns_a_step / whole
}

#[derive(Clone, Copy)]
enum Side {
    Out,
    In,
}

/// Nanoseconds in the slowest stage for each byte of this side. Of sizes that change together, each way has its part.
fn ns_a_byte(fit: &Fit, points: &[Observation], side: Side) -> f64 {
    match (Ways::of(points), side) {
        (Ways::Together { slope, .. }, Side::Out) => {
            out_ns_a_byte(fit.slowest, fit.steps) * (1.0 + slope)
        }
        (Ways::Together { slope, .. }, Side::In) => {
            in_ns_a_byte(fit.slowest, fit.steps) * (1.0 + slope) / slope
        }
        (Ways::Apart { .. }, Side::Out) => out_ns_a_byte(fit.slowest, fit.steps),
        (Ways::Apart { .. }, Side::In) => in_ns_a_byte(fit.slowest, fit.steps),
    }
}

/// Bytes a second of endless exchanges, were they the slowest stage's only work; `None` if a byte may cost nothing.
fn rate(ns_a_byte: &Estimate) -> Option<Estimate> {
    let lowest = ns_a_byte.low.filter(|&low| low > 0.0)?;
    Some(Estimate {
        value: 1e9 / ns_a_byte.value,
        low: ns_a_byte.high.map(|high| 1e9 / high),
        high: Some(1e9 / lowest),
    })
}
