//! What a check is, and what several of them say.

use crate::{Finding, HostContext};
use wiregauge_run::Stored;

/// One thing that may hurt.
#[derive(Clone, Copy)]
pub struct Check {
    /// Its name, for `--only` and in reports.
    pub name: &'static str,
    /// What it looks at, in one line.
    pub about: &'static str,
    /// Looks. Nothing comes back where it does not apply: no such device, another system.
    pub look: fn(&HostContext) -> Vec<Finding>,
}

/// What the points of a run are called where a finding says how many were disturbed.
pub(super) const POINTS_DISTURBED: &str = "of its points";

/// What other programs cost an ordinary thread, and one with real-time priority.
pub(super) const BUSY_HOST_COST: &str = "on the authors' test host, with 4 busy threads on 2 CPUs, a thread \
                              woken each 1 ms started 7.0 ms late (p99); with --priority 50: 0.05 ms";
pub(super) const BUSY_HOST_SOURCE: &str = "bench/runs/2026-11-22-host";

/// The command of a run, with real-time priority.
pub(super) fn with_priority(run: &dyn Stored) -> String {
    let typed = run.conditions().command.iter().skip(1).map(String::as_str);
    match shlex::try_join(typed) {
        Ok(words) if !words.is_empty() => format!("wiregauge {words} --priority 50"),
        _ => format!("wiregauge {} {} --priority 50", run.kind(), run.address()),
    }
}
