//! What commands say that do not take a run of a control loop.

use wiregauge_quantity::flag_time;
use wiregauge_run::{Control, Run};

/// Why a command does not take a run of a control loop, and what to use instead.
pub fn refused(doing: &str, run: &Run<Control>) -> String {
    let plan = &run.file.plan;
    format!(
        "cannot {doing} {}: it is a run of a control loop (wiregauge show {0} prints its tables, with --format md also \
         for a file)\n  hint: measure the link alone with wiregauge exchange {} --interval {}, then {doing} that run",
        run.name(),
        plan.address,
        flag_time(plan.point.period_ns)
    )
}
