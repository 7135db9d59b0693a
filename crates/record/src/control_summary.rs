//! What the cycles of a control loop over a link amount to. Stored in `run.json` of a control run.

use crate::control_plan::ControlPoint;
use crate::point_summary::Ending;
use serde::{Deserialize, Serialize};
use wiregauge_stats::{Distribution, Estimate};

/// A step of the reference as it was measured at the samples, noise included.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredStep {
    /// Final value of the first output without noise.
    pub target: f64,
    /// Largest sample above the final value, as a share of it; 0: none.
    pub overshoot: f64,
    /// Seconds until the samples stay within 2 %; `None`: not within the run.
    pub settling_s: Option<f64>,
}

/// What a prediction from delays says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Predicted {
    /// Where the delays are from: the name of an exchange run; `None`: this run's own.
    pub run: Option<String>,
    /// Cycles that were used.
    pub cycles: u64,
    /// Cost at the samples, with the 95 % interval in which a measured one is expected; `None`: unbounded.
    pub cost: Option<Estimate>,
    /// Independent samples that the measured cost is worth by the poles of the model, each the square of a normal number; `None`
    /// without noise.
    #[serde(default)]
    pub independent: Option<f64>,
    /// Whether the measured cost is in the interval; `None` without an interval.
    pub is_within: Option<bool>,
    /// Lowest and highest overshoot of a step without noise that begins at different cycles; `None` without a step.
    pub overshoot: Option<(f64, f64)>,
}

impl Predicted {
    /// Independent samples that a cost must be worth, or it has no interval.
    pub const FEWEST_INDEPENDENT: f64 = 10.0;
}

/// The summary of a control run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ControlSummary {
    /// Which point.
    pub point: ControlPoint,
    /// How it ended.
    pub ending: Ending,
    /// Cycles that began.
    pub cycles: u64,
    /// Samples without a reply.
    pub samples_lost: u64,
    /// Commands without a reply.
    pub commands_lost: u64,
    /// Samples that came after a newer one.
    pub overtaken: u64,
    /// Ticks that passed without a sample.
    pub unsent: u64,
    /// From sample to command by the device's clock, in nanoseconds; `None` if there was none.
    pub delay: Option<Distribution>,
    /// Cycles at the start that are left out of the cost: the loop begins at rest.
    pub left_out: u64,
    /// Mean over the samples of (y-r)' Qy (y-r) + u' Qu u, before the step if there is one; `None`: too few cycles.
    pub cost: Option<Estimate>,
    /// The step, if there was one.
    pub step: Option<MeasuredStep>,
    /// The cycle in which output or command was beyond 1e100.
    pub diverged_at: Option<u64>,
    /// Cycles whose command was at a limit of the model; the predicted cost does not know limits.
    pub clipped: u64,
    /// Predictions.
    pub predicted: Vec<Predicted>,
}
