//! Why the limit is where it is.

use crate::field::{Field, expected_gain};
use crate::search::Told;
use crate::space::Grid;
use crate::{Choice, Kept};
use serde::Serialize;
use std::fmt;
use wiregauge_model::LinkModel;

/// A reason why the best is no better.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Why {
    /// No candidate was found that keeps it; by its index among the constraints.
    NothingKeeps {
        /// Which constraint.
        constraint: usize,
    },
    /// Something else is better, but for this constraint; by its index.
    ConstraintBinds {
        /// Which constraint.
        constraint: usize,
    },
    /// The slowest stage has no rest: more outstanding only wait longer.
    Saturated {
        /// From this depth on.
        depth: f64,
    },
    /// The slowest stage waits for the next request: more outstanding would gain.
    LatencyBound {
        /// The depth at which it would have no rest.
        saturates_at: f64,
    },
    /// The largest size that may be chosen is still worth its fixed cost.
    LargestSize,
    /// The smallest size that may be chosen is best.
    SmallestSize,
    /// The largest depth that may be chosen is best.
    LargestDepth,
    /// Sizes beyond gain less than their cost.
    InnerOptimum,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Why::NothingKeeps { constraint } => {
                write!(f, "no setting was found that keeps constraint {}", constraint + 1)
            }
            Why::ConstraintBinds { constraint } => {
                write!(f, "constraint {} forbids what would be better", constraint + 1)
            }
            Why::Saturated { depth } => write!(
                f,
                "the slowest stage is busy all the time from depth {depth:.1} on: more outstanding only wait longer"
            ),
            Why::LatencyBound { saturates_at } => write!(
                f,
                "the link waits for each answer: the slowest stage would be busy all the time from depth {saturates_at:.1} on"
            ),
            Why::LargestSize => f.write_str(
                "the largest size allowed is best: each exchange has a fixed cost, and more bytes share it",
            ),
            Why::SmallestSize => {
                f.write_str("the smallest size allowed is best: each byte costs time")
            }
            Why::LargestDepth => f.write_str("the largest depth allowed is best"),
            Why::InnerOptimum => f.write_str("larger and smaller sizes were both worse"),
        }
    }
}

/// A candidate would be better than the choice by this part, for a constraint to be what binds.
const BETTER: f64 = 0.01;

pub(crate) fn reasons(
    grid: &Grid,
    field: &Field,
    best: &Choice,
    model: Option<&LinkModel>,
    told: &[Told],
) -> Vec<Why> {
    let mut why = Vec::new();
    let Some(place) = grid.place(&best.at) else {
        return why;
    };
    let here = field.at(place);
    if !best.constraints.is_empty() && !best.keeps_all() {
        let worst = (best.constraints.iter())
            .position(|v| v.kept == Kept::Violated)
            .or_else(|| best.constraints.iter().position(|v| v.kept != Kept::Kept));
        if let (Some(constraint), true) = (worst, here.shown < 0.5) {
            why.push(Why::NothingKeeps { constraint });
        }
    }
    // What was probed and is better, but must not be.
    let forbidden = told.iter().map(|t| t.place).filter(|&other| {
        let there = field.at(other);
        there.shown < 0.5 && there.mean - there.sd > here.mean + BETTER
    });
    let nearest = forbidden.max_by(|a, b| field.at(*a).slack.total_cmp(&field.at(*b).slack));
    if let Some(constraint) = nearest.and_then(|place| field.tightest(place))
        && why.is_empty()
    {
        why.push(Why::ConstraintBinds { constraint });
    }
    let setting = best.at.setting;
    let extent = grid.extent();
    let is_deepest = extent[2] > 1 && place.0[2] + 1 == extent[2];
    match model.and_then(|m| m.saturation_depth(setting.out_bytes, setting.in_bytes)) {
        Some(depth) if f64::from(setting.depth) >= depth => why.push(Why::Saturated { depth }),
        Some(saturates_at) => why.push(Why::LatencyBound { saturates_at }),
        None => {}
    }
    if is_deepest {
        why.push(Why::LargestDepth);
    }
    let sized: Vec<usize> = (0..2).filter(|&axis| extent[axis] > 1).collect();
    let _ = expected_gain;
    if !sized.is_empty() {
        let at_end = |last: bool| {
            sized
                .iter()
                .all(|&axis| place.0[axis] == if last { extent[axis] - 1 } else { 0 })
        };
        why.push(match (at_end(true), at_end(false)) {
            (true, _) => Why::LargestSize,
            (_, true) => Why::SmallestSize,
            _ => Why::InnerOptimum,
        });
    }
    why
}
