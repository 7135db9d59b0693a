//! What commands say that do not take a run of a control loop.

use wiregauge_run::{Control, Run};

/// Why a command does not take a run of a control loop.
pub fn refused(doing: &str, run: &Run<Control>) -> String {
    format!(
        "cannot {doing} {}: it is a run of a control loop (wiregauge show {0})\nhint: measure the link with wiregauge \
         exchange {} --interval PERIOD",
        run.name(),
        run.file.plan.address
    )
}
