//! What is asked of whoever measures, and what comes back.

use crate::Candidate;
use serde::{Deserialize, Serialize};
use wiregauge_model::Observation;
use wiregauge_stats::Estimate;

/// Which end of the objective is best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sense {
    /// The largest.
    Maximise,
    /// The smallest.
    Minimise,
}

impl Sense {
    /// True if `a` is better than `b`.
    pub fn prefers(self, a: f64, b: f64) -> bool {
        match self {
            Sense::Maximise => a > b,
            Sense::Minimise => a < b,
        }
    }

    /// +1 if more is better, -1 if less is.
    pub(crate) fn sign(self) -> f64 {
        match self {
            Sense::Maximise => 1.0,
            Sense::Minimise => -1.0,
        }
    }
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

impl Bound {
    /// The value that must not be passed.
    pub fn limit(self) -> f64 {
        match self {
            Bound::Below(limit)
            | Bound::Above(limit)
            | Bound::AtMost(limit)
            | Bound::AtLeast(limit) => limit,
        }
    }

    /// True if it bounds from above.
    pub fn is_upper(self) -> bool {
        matches!(self, Bound::Below(_) | Bound::AtMost(_))
    }

    /// How far a value is from violating it, as a part of the limit; below 0 if it does.
    pub fn room(self, value: f64) -> f64 {
        let side = if self.is_upper() { 1.0 } else { -1.0 };
        side * (self.limit() - value) / self.limit().abs().max(f64::MIN_POSITIVE)
    }

    /// The end of an interval that is nearest to violating it; the value where there is none.
    pub(crate) fn worst_of(self, found: Estimate) -> f64 {
        let end = match self.is_upper() {
            true => found.high,
            false => found.low,
        };
        end.unwrap_or(found.value)
    }

    /// Whether a value keeps it.
    pub fn keeps(self, value: f64) -> bool {
        match self {
            Bound::Below(limit) => value < limit,
            Bound::Above(limit) => value > limit,
            Bound::AtMost(limit) => value <= limit,
            Bound::AtLeast(limit) => value >= limit,
        }
    }
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
    /// For the model; `None` if nothing was answered: the candidate is out.
    pub observation: Option<Observation>,
    /// The objective; `None` if it could not be had: the candidate is out.
    pub objective: Option<Estimate>,
    /// The figure of each constraint, in their order; `None` if it could not be had, which keeps
    /// nothing.
    pub constraints: Vec<Option<Estimate>>,
}

impl Measured {
    /// A probe at which the link failed.
    pub fn failed(exchanges: u64, constraints: usize) -> Measured {
        Measured {
            exchanges,
            observation: None,
            objective: None,
            constraints: vec![None; constraints],
        }
    }

    pub(crate) fn has_failed(&self) -> bool {
        let objective = self.objective.filter(|o| o.value.is_finite());
        self.observation.is_none() || objective.is_none()
    }
}

/// What may be spent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// What exhaustive search would take at each candidate.
    pub exchanges: u64,
    /// What the confirmation takes. `None`: `exchanges`, ten times as many where constraints are to
    /// be shown kept, but no more than two fifths of what may be spent.
    pub confirm: Option<u64>,
    /// The share of exhaustive search's exchanges that may be spent, with the confirmation.
    pub share: f64,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort {
            exchanges: 1000,
            confirm: None,
            share: 0.2,
        }
    }
}
