//! Why the limit is where it is.

use serde::Serialize;
use std::fmt;

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
    /// The chosen setting misses it, though the measured value of another one meets it; by its index.
    Missed {
        /// Which constraint.
        constraint: usize,
    },
    /// Kept or not, the confirmation is too short to show it; by its index.
    Undecided {
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
    /// The slowest stage waits for the next request: more outstanding would get through.
    LatencyBound {
        /// The depth at which it would have no rest.
        saturates_at: f64,
    },
    /// The best depth lies between others that may be chosen.
    InnerDepth,
    /// The largest depth that may be chosen is best.
    LargestDepth,
    /// The largest size that may be chosen is best.
    LargestSize,
    /// The smallest size that may be chosen is best.
    SmallestSize,
    /// The best size lies between others that were probed.
    InnerOptimum,
}

impl Why {
    /// How [`Why::NothingKeeps`] ends: untrue where a probe came closer than the run that confirmed the choice.
    pub const CLOSEST: &str = "; this one is closest";
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Why::NothingKeeps { constraint } => write!(
                f,
                "no setting meets constraint {}{}",
                constraint + 1,
                Why::CLOSEST
            ),
            Why::Missed { constraint } => write!(
                f,
                "this setting misses constraint {}; the measured value of another setting meets it",
                constraint + 1
            ),
            Why::Undecided { constraint } => write!(
                f,
                "constraint {} is within the uncertainty of the confirming run: use a longer one (--confirm)",
                constraint + 1
            ),
            Why::ConstraintBinds { constraint } => write!(
                f,
                "constraint {} excludes better settings",
                constraint + 1
            ),
            Why::Saturated { depth } => write!(
                f,
                "the slowest stage is busy all the time from depth {depth:.1}: more outstanding requests only \
                 wait longer"
            ),
            Why::LatencyBound { saturates_at } => write!(
                f,
                "the slowest stage is idle between requests; the model predicts saturation at depth {saturates_at:.0}"
            ),
            Why::InnerDepth => f.write_str("no other depth that was probed is clearly better"),
            Why::LargestDepth => f.write_str("the largest depth allowed is best"),
            Why::LargestSize => f.write_str(
                "the largest size allowed is best: the fixed cost of an exchange is spread over more bytes",
            ),
            Why::SmallestSize => {
                f.write_str("the smallest size allowed is best: no larger one that was probed is better")
            }
            Why::InnerOptimum => f.write_str("no other size that was probed is clearly better"),
        }
    }
}
