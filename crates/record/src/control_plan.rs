//! What a run of a control loop over a link is to be.

use crate::plan::{HostPlan, LinkOptions};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A matrix as its rows.
pub type Rows = Vec<Vec<f64>>;

/// A linear system as its matrices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SystemMatrices {
    /// States x states.
    pub a: Rows,
    /// States x inputs.
    pub b: Rows,
    /// Outputs x states.
    pub c: Rows,
    /// Outputs x inputs.
    pub d: Rows,
}

/// The model of the loop, as docs/control.md describes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ControlModel {
    /// Plant and controller as they were given, such as `plant 1/s, PID 2,0,0`; empty in runs of earlier versions.
    #[serde(default)]
    pub words: String,
    /// The plant, in continuous time.
    pub plant: SystemMatrices,
    /// The controller, one step a period.
    pub controller: SystemMatrices,
    /// Intensity of the noise on the states.
    pub process_noise: Rows,
    /// Variance of the noise of a measurement.
    pub measurement_noise: Rows,
    /// Weights of the control error.
    pub output_cost: Rows,
    /// Weights of the command.
    pub input_cost: Rows,
    /// Lowest and highest command.
    pub limits: Option<Vec<(f64, f64)>>,
}

/// The one point of such a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ControlPoint {
    /// Position in the run: 0.
    pub index: u32,
    /// Nanoseconds from tick to tick.
    pub period_ns: u64,
    /// Samples outstanding at most.
    pub depth: u32,
    /// Reference of the first output in the second half of the run; 0: none.
    pub step: f64,
}

impl fmt::Display for ControlPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "control loop, period {} ms", self.period_ns as f64 / 1e6)
    }
}

/// A whole run of a control loop, before it is run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ControlPlan {
    /// The device that simulates the plant.
    pub address: String,
    /// What only some kinds of link understand.
    pub link: LinkOptions,
    /// The loop.
    pub model: ControlModel,
    /// Period, depth and step.
    pub point: ControlPoint,
    /// Cycles.
    pub cycles: u64,
    /// After so long without a reply an exchange is lost, in nanoseconds.
    pub timeout_ns: u64,
    /// The host.
    pub host: HostPlan,
}
