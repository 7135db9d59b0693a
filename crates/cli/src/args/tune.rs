//! The flags of `wiregauge tune`.

use clap::Args;

/// Below the flags in its help.
pub const EXAMPLES: &str = "\
Examples:
  wiregauge tune serial:///dev/ttyACM0 --maximise in-throughput --subject-to 'p99 < 10ms' --in 48..8000 --depth 1..16";

/// `wiregauge tune`.
#[derive(Debug, Args)]
pub struct TuneArgs {
    /// The device.
    #[arg(value_name = "ADDRESS")]
    pub address: String,
}
