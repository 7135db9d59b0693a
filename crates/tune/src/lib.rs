//! Finds the best setting of a link in few probes: a fitted model says where the optimum must be, the
//! next probe goes there, and what is found is confirmed by a fresh one. Knows no link: whoever
//! measures asks [`Search::next`] and answers with [`Search::tell`].

#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};
use wiregauge_model::{Observation, Setting};
use wiregauge_record::{Connect, Wait};
use wiregauge_stats::Estimate;

/// What may be set: every combination is a candidate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Space {
    /// Bytes of a request; of a stream OUT, of a transfer.
    pub out_bytes: Vec<u32>,
    /// Bytes of a response; of a stream IN, of a transfer.
    pub in_bytes: Vec<u32>,
    /// Outstanding at once; of a stream, its queue.
    pub depth: Vec<u32>,
    /// How the measuring thread waits; one entry where that is not to be chosen.
    pub wait: Vec<Wait>,
    /// How often the link is opened; one entry where that is not to be chosen.
    pub connect: Vec<Connect>,
}

/// One candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// Sizes and depth.
    pub setting: Setting,
    /// How the measuring thread waits.
    pub wait: Wait,
    /// How often the link is opened.
    pub connect: Connect,
}

/// Which end of the objective is best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sense {
    /// The largest.
    Maximise,
    /// The smallest.
    Minimise,
}

/// A constraint on one figure; which figure, the caller knows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// Less than this.
    Below(f64),
    /// More than this.
    Above(f64),
    /// No more than this (`lost = 0` is no more than 0).
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
}

/// Why a probe is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// To fit the model.
    Explore,
    /// Because the optimum is believed near.
    Refine,
    /// A fresh run at what was found.
    Confirm,
}

/// What is to be measured next.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// Where.
    pub at: Candidate,
    /// How many exchanges.
    pub exchanges: u64,
    /// Why.
    pub purpose: Purpose,
}

/// What a probe gave. The caller reads the figures of objective and constraints out of its summary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Exchanges that it took.
    pub exchanges: u64,
    /// For the model; `None` if nothing was answered.
    pub observation: Option<Observation>,
    /// The objective; `None` if it could not be had.
    pub objective: Option<Estimate>,
    /// The figure of each constraint, in their order.
    pub constraints: Vec<Option<Estimate>>,
}
