//! A link in a few numbers, fitted to what was measured of it: what an exchange (or a transfer) costs
//! by itself and for each byte, what its slowest stage needs, from which depth on that stage is
//! saturated; and what follows for settings that were not measured, with the error to expect.
//! Numbers in, numbers out: opens nothing. docs/explain.md has the formulas.

#![forbid(unsafe_code)]

mod figures;
mod fit;
mod knee;
mod nnls;
mod observation;
mod observe;
mod predict;
mod refits;
mod terms;

pub use figures::{Figures, Residual, Saturation, StageCost};
pub use observation::{Observation, Setting, response_size};
pub use predict::{Beyond, CannotPredict, How, MIN_FOR_PREDICTION, Prediction};
pub use terms::Steps;

use fit::Fit;
use refits::Refits;
use serde::{Serialize, Serializer};
use std::sync::OnceLock;
use thiserror::Error;

/// Fewer settings than this make no model.
pub const MIN_SETTINGS: usize = 3;

/// Why there is no model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotFitted {
    /// Too few settings.
    #[error(
        "a model requires {MIN_SETTINGS} points with different settings, a prediction {MIN_FOR_PREDICTION} (this run \
         has {settings})"
    )]
    TooFew {
        /// How many there are.
        settings: usize,
    },
    /// A time that is none.
    #[error("a measured time is not a positive number")]
    NoTime,
}

/// A link in a few numbers.
#[derive(Clone, Debug)]
pub struct LinkModel {
    /// One a setting, in the order of the settings.
    points: Vec<Observation>,
    fit: Fit,
    /// The same without some of the points: made when they are asked for, because it takes as many
    /// fits.
    refits: OnceLock<Refits>,
}

impl PartialEq for LinkModel {
    fn eq(&self, other: &LinkModel) -> bool {
        self.points == other.points
    }
}

impl Serialize for LinkModel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.figures().serialize(serializer)
    }
}

impl LinkModel {
    /// Fits a model to what was measured. Several observations of one setting count as their mean.
    pub fn fit(observations: &[Observation]) -> Result<LinkModel, NotFitted> {
        let good = |o: &Observation| o.trt_ns.is_finite() && o.trt_ns > 0.0 && o.error.is_finite();
        if !observations.iter().all(good) {
            return Err(NotFitted::NoTime);
        }
        let points = one_a_setting(observations);
        if points.len() < MIN_SETTINGS {
            return Err(NotFitted::TooFew {
                settings: points.len(),
            });
        }
        Ok(LinkModel {
            fit: Fit::of(&points),
            points,
            refits: OnceLock::new(),
        })
    }

    /// What it was fitted to: one a setting.
    pub fn points(&self) -> &[Observation] {
        &self.points
    }

    /// Numbers that the fit chose: the costs that are not 0 and, with several depths, the sharpness of the
    /// knee. With no more points than these, every error is 0 whatever the link does.
    pub fn parameters(&self) -> usize {
        let several_depths = self.fit.only_depth.is_none();
        let slowest = several_depths.then_some(self.fit.slowest);
        let costs = [Some(self.fit.alone), slowest].into_iter().flatten();
        let costs = costs.map(|cost| {
            let each = [
                cost.fixed_ns,
                cost.out_ns_a_byte,
                cost.in_ns_a_byte,
                cost.out_ns_a_step,
                cost.in_ns_a_step,
            ];
            each.into_iter().filter(|&cost| cost != 0.0).count()
        });
        // Sizes that always change together share a cost.
        let costs = costs.sum::<usize>().min(self.fit.coefficients);
        costs + usize::from(several_depths)
    }

    /// Mean time between the ends of two exchanges, in nanoseconds.
    pub fn trt_ns(&self, at: Setting) -> f64 {
        self.fit.trt_ns(at)
    }

    /// Mean time of one exchange, in nanoseconds.
    pub fn rtt_ns(&self, at: Setting) -> f64 {
        self.fit.rtt_ns(at)
    }

    /// The depth at which the slowest stage is busy all the time, of exchanges of these sizes: what
    /// one takes alone over what it takes there. `None` where no such stage was seen.
    pub fn saturation_depth(&self, out_bytes: u32, in_bytes: u32) -> Option<f64> {
        self.slowest_is_reported()
            .then(|| refits::saturation_depth(&self.fit, out_bytes, in_bytes))
            .flatten()
    }

    /// What the slowest stage takes of an exchange of these sizes, in nanoseconds; `None` where no such stage was
    /// seen.
    pub fn slowest_ns(&self, out_bytes: u32, in_bytes: u32) -> Option<f64> {
        let at = Setting {
            out_bytes,
            in_bytes,
            depth: 1,
        };
        (self.slowest_is_reported()).then(|| self.fit.slowest_ns(at))
    }

    fn refits(&self) -> &Refits {
        self.refits.get_or_init(|| Refits::of(&self.points))
    }

    fn slowest_is_reported(&self) -> bool {
        fit::slowest_is_reported(&self.fit, &self.points)
    }
}

fn one_a_setting(observations: &[Observation]) -> Vec<Observation> {
    let mut sorted = observations.to_vec();
    sorted.sort_by_key(|point| point.at);
    sorted
        .chunk_by(|a, b| a.at == b.at)
        .map(|same| {
            let n = same.len() as f64;
            let mean = |value: fn(&Observation) -> f64| same.iter().map(value).sum::<f64>() / n;
            let timed = same.iter().all(|point| point.rtt_ns > 0.0);
            Observation {
                at: same[0].at,
                trt_ns: mean(|point| point.trt_ns),
                rtt_ns: if timed {
                    mean(|point| point.rtt_ns)
                } else {
                    0.0
                },
                error: same.iter().map(|p| p.error * p.error).sum::<f64>().sqrt() / n,
            }
        })
        .collect()
}
