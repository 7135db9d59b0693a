//! All checks, or some of them, and what they found, the worst first.

use crate::checks::{LINUX, WINDOWS};
use crate::{Finding, HostContext};

/// Looks with the checks of these names, or with all if there are none.
pub fn examine(context: &HostContext, only: &[String]) -> Vec<Finding> {
    let wanted = |name: &str| only.is_empty() || only.iter().any(|one| one == name);
    let checks = match context.windows() {
        Some(_) => WINDOWS,
        None => LINUX,
    };
    let mut findings: Vec<Finding> = checks
        .iter()
        .filter(|check| wanted(check.name))
        .flat_map(|check| (check.look)(context))
        .collect();
    // Stable: within a level the order of the checks stays.
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    findings
}
