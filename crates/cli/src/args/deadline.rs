//! The flags of `wiregauge deadline`.

use clap::Args;

/// Below the flags in its help.
pub const EXAMPLES: &str = "\
Examples:
  wiregauge deadline last --period 1ms";

/// `wiregauge deadline`.
#[derive(Debug, Args)]
pub struct DeadlineArgs {
    /// A directory, a name (or its beginning) of a stored run, or `last`.
    pub run: String,
}
