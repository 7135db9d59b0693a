//! `wiregauge doctor`: find what slows this host and the way to a device, and what mends it.

use crate::Outcome;
use crate::args::DoctorArgs;
use crate::caller::Session;

/// Runs the command.
pub fn run(args: &DoctorArgs, _session: &Session<'_>) -> anyhow::Result<Outcome> {
    anyhow::bail!("not there yet: {:?}", args.address)
}
