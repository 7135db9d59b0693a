//! Why a tail is not extrapolated.

use serde::Serialize;

/// Why nothing is said of what lies beyond the samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "reason")]
pub enum NoTail {
    /// Too few independent values lie over the threshold.
    TooFew {
        /// How many.
        independent: f64,
        /// How many there must be.
        needed: f64,
        /// About how many values in all would have that many.
        values_needed: f64,
    },
    /// The long ones came more often in one part of the run than in another.
    Unsteady,
    /// Some of the longest lie apart from all others: levels, or a cause of their own.
    Gap {
        /// How many.
        apart: u64,
        /// The largest of the others.
        from: f64,
        /// The smallest of those apart.
        to: f64,
    },
    /// The values over the threshold stand on a few levels, such as those of a clock or a poll.
    Levels {
        /// How many different values there are.
        distinct: u64,
        /// How many values lie over the threshold.
        over: u64,
    },
    /// The fit contradicts what was counted.
    Disagrees {
        /// The value.
        value: f64,
        /// How many exceed it.
        counted: u64,
        /// How many should, by the fit.
        fitted: f64,
    },
    /// The values over the threshold do not follow the distribution.
    Misfit {
        /// Anderson and Darling's statistic.
        statistic: f64,
        /// What it exceeds in one case of a hundred where they do.
        by_chance: f64,
    },
    /// The shape changes from this threshold to a higher one, so it would change further.
    Unstable {
        /// The shape at this threshold.
        shape: f64,
        /// The shape at the next.
        higher: f64,
        /// How far they may differ.
        by_chance: f64,
    },
    /// The values do not support so rare a share.
    TooFar {
        /// Requested share, as one in so many.
        asked: f64,
        /// Rarest share that the values support, as one in so many.
        carried: f64,
        /// About how many values in all would support it.
        values_needed: f64,
    },
}
