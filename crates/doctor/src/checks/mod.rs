//! The checks, each in a file of its own.

use crate::{Finding, Sight};

/// One thing that may hurt.
#[derive(Clone, Copy)]
pub struct Check {
    /// Its name, for `--only` and in reports.
    pub name: &'static str,
    /// What it looks at, in one line.
    pub about: &'static str,
    /// Looks. Nothing comes back where it does not apply: no such device, another system.
    pub look: fn(&Sight) -> Vec<Finding>,
}

/// All of them, in the order in which they are told.
pub const CHECKS: &[Check] = &[];
