//! Runs of other kinds than a command takes.

use anyhow::anyhow;
use wiregauge_quantity::flag_time;
use wiregauge_run::{AnyRun, Control, Exchange, Run};

/// The run, if it is one of exchanges; `doing` is what cannot be done with others.
pub fn exchange_run<'a>(run: &'a AnyRun, doing: &str) -> anyhow::Result<&'a Run<Exchange>> {
    run.as_kind().ok_or_else(|| refused(doing, run))
}

/// Why a command does not take this run, and what to measure instead.
pub fn refused(doing: &str, run: &AnyRun) -> anyhow::Error {
    let (address, interval) = match run.as_kind::<Control>() {
        Some(run) => {
            let plan = &run.file.plan;
            (plan.address.as_str(), flag_time(plan.point.period_ns))
        }
        None => ("ADDRESS", "PERIOD".to_owned()),
    };
    let run = run.stored();
    anyhow!(
        "cannot {doing} {}: it is a {} run (wiregauge show {0} prints its tables)\n  hint: measure the link alone with \
         wiregauge exchange {address} --interval {interval}, then {doing} that run",
        run.name(),
        run.kind()
    )
}
