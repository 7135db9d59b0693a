//! A warning as it is printed.

use super::codes::Code;
use std::fmt;

/// A warning: one line, and what it means for this run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Such as `W07`; [`WARNINGS`](super::WARNINGS) explains it.
    pub code: &'static str,
    /// What was found, and where.
    pub finding: String,
    /// Consequence and remedy, with the punctuation before it; may be empty.
    advice: String,
}

impl Warning {
    pub(in crate::tables) fn new(
        code: Code,
        finding: String,
        advice: impl Into<String>,
    ) -> Warning {
        Warning {
            code: code.name(),
            finding,
            advice: advice.into(),
        }
    }
}

/// Adds a warning about some points or rows, if there are any.
pub(super) fn add<W>(found: &mut Vec<W>, places: Vec<u32>, make: impl FnOnce(Vec<u32>) -> W) {
    if !places.is_empty() {
        found.push(make(places));
    }
}

/// Finding, consequence and remedy.
impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.finding, self.advice)
    }
}
