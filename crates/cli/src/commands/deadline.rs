//! `wiregauge deadline`: tell how often a control loop of some period would miss its deadline.

use crate::Outcome;
use crate::args::DeadlineArgs;
use crate::caller::Session;

/// Runs the command.
pub fn run(args: &DeadlineArgs, _session: &Session<'_>) -> anyhow::Result<Outcome> {
    anyhow::bail!("not there yet: {:?}", args.run)
}
