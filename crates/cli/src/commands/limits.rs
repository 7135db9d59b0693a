//! `wiregauge limits`: tell what a medium can carry at best.

use crate::Outcome;
use crate::args::LimitsArgs;
use crate::caller::Session;

/// Runs the command.
pub fn run(args: &LimitsArgs, _session: &Session<'_>) -> anyhow::Result<Outcome> {
    anyhow::bail!("not there yet: {:?}", args.medium)
}
