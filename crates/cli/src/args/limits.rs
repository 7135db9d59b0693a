//! The flags of `wiregauge limits`.

use clap::Args;

/// Below the flags in its help.
pub const EXAMPLES: &str = "\
Examples:
  wiregauge limits usb --speed full --type bulk";

/// `wiregauge limits`.
#[derive(Debug, Args)]
pub struct LimitsArgs {
    /// The medium.
    pub medium: String,
}
