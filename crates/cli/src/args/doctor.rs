//! The flags of `wiregauge doctor`.

use clap::Args;

/// Below the flags in its help.
pub const EXAMPLES: &str = "\
Examples:
  wiregauge doctor";

/// `wiregauge doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// The device on the way to which is looked [default: this host].
    #[arg(value_name = "ADDRESS")]
    pub address: Option<String>,
}
