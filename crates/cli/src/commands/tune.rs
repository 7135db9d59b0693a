//! `wiregauge tune`: find the setting that serves an aim best, and prove it by a fresh run.

use crate::Outcome;
use crate::args::TuneArgs;
use crate::caller::Session;

/// Runs the command.
pub fn run(args: &TuneArgs, _session: &Session<'_>) -> anyhow::Result<Outcome> {
    anyhow::bail!("not there yet: {:?}", args.address)
}
