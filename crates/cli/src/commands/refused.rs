//! Runs of other kinds than a command takes.

use anyhow::anyhow;
use wiregauge_quantity::flag_time;
use wiregauge_run::{AnyRun, Control, Exchange, Loop, Run};

/// The run, if it is one of exchanges; `doing` is what cannot be done with others.
pub fn exchange_run<'a>(run: &'a AnyRun, doing: &str) -> anyhow::Result<&'a Run<Exchange>> {
    run.as_kind().ok_or_else(|| refused(doing, run))
}

/// Why a command does not take this run, and what to measure instead, if its link takes requests.
pub fn refused(doing: &str, run: &AnyRun) -> anyhow::Error {
    let interval = match run.as_kind::<Control>() {
        Some(run) => flag_time(run.file.plan.point.period_ns),
        None => "PERIOD".to_owned(),
    };
    let takes_requests = run.as_kind::<Loop>().is_none();
    let run = run.stored();
    let hint = match takes_requests {
        true => format!(
            "\n  hint: measure the link alone with wiregauge exchange {} --interval {interval}, then {doing} that run",
            run.address()
        ),
        false => String::new(),
    };
    anyhow!(
        "cannot {doing} {}: it is a {} run (wiregauge show {0} prints its tables){hint}",
        run.name(),
        run.kind()
    )
}
