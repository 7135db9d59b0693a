//! What keeps the choice from being better.

use serde::Serialize;

/// What would have to be allowed for a better choice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Why {
    /// Something else is better, but for this constraint; by its index.
    ConstraintBinds {
        /// Which constraint.
        constraint: usize,
    },
    /// The largest depth that may be chosen is best.
    LargestDepth,
    /// The largest size that may be chosen is best.
    LargestSize,
    /// The smallest size that may be chosen is best.
    SmallestSize,
}

impl Why {
    /// In words, with the constraints as they were given.
    pub fn words(self, constraints: &[&str]) -> String {
        let end = match self {
            Why::ConstraintBinds { constraint } => {
                let text = constraints.get(constraint).unwrap_or(&"a constraint");
                return format!("`{text}` excludes better settings");
            }
            Why::LargestDepth => "largest depth",
            Why::LargestSize => "largest size",
            Why::SmallestSize => "smallest size",
        };
        format!("the {end} allowed is best: a wider range may have a better one")
    }
}
