//! What a check is, and what several of them say.

use crate::{Finding, HostContext};
use wiregauge_record::{HostLoad, is_on_this_host};
use wiregauge_run::{Exchange, Loop, Stored, Stream};

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

/// Shows which programs use the processors now.
pub(super) const WHO_RUNS: &str = match cfg!(windows) {
    true => "tasklist /v",
    false => "ps -eo pcpu,pid,args --sort=-pcpu | head",
};

/// The command of a run, with real-time priority and without the directory in which it was stored; `None` where the
/// device is a program on this host, which that priority delays.
fn with_priority(run: &dyn Stored) -> Option<String> {
    if is_on_this_host(run.address()) {
        return None;
    }
    let mut typed = run.conditions().command.iter().skip(1).map(String::as_str);
    let mut words = Vec::new();
    while let Some(word) = typed.next() {
        match word {
            "--store" => {
                typed.next();
            }
            _ if word.starts_with("--store=") => {}
            _ => words.push(word),
        }
    }
    let command = match shlex::try_join(words) {
        Ok(words) if !words.is_empty() => words,
        _ => format!("{} {}", run.kind(), run.address()),
    };
    Some(format!(
        "wiregauge {command} --priority 50  # try whether it helps"
    ))
}

/// A finding with that command, or else with one that shows what else runs.
pub(super) fn with_remedy(finding: Finding, run: &dyn Stored) -> Finding {
    finding.remedy(with_priority(run).unwrap_or(WHO_RUNS.into()))
}

/// What took CPU time from a run: the load that it made itself (`--host-load`), or other programs.
pub(super) fn others(run: &dyn Stored) -> &'static str {
    let plans = [
        run.as_kind::<Exchange>().map(|run| &run.file.plan.host),
        run.as_kind::<Stream>().map(|run| &run.file.plan.host),
        run.as_kind::<Loop>().map(|run| &run.file.plan.host),
    ];
    let mut plans = plans.into_iter().flatten();
    match plans.any(|host| host.load != HostLoad::default()) {
        true => "the load of --host-load",
        false => "other programs",
    }
}
