//! The flags of `wiregauge doctor`.

use crate::values;
use clap::Args;
use clap::builder::PossibleValuesParser;
use wiregauge_doctor::CHECKS;

/// Below the flags in its help.
pub const EXAMPLES: &str = crate::platform::DOCTOR_EXAMPLES;

/// `wiregauge doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Check the connection to this device [default: all attached devices; with --run: the device of the
    /// run].
    #[arg(value_name = "ADDRESS", value_parser = values::address)]
    pub address: Option<String>,
    /// Check a stored run (directory, name or the beginning of it, or `last`): the recorded state of its
    /// host instead of the present one.
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Run only these checks, separated by commas.
    #[arg(long, value_name = "CHECK", value_delimiter = ',',
          value_parser = PossibleValuesParser::new(CHECKS.iter().map(|check| check.name)))]
    pub only: Vec<String>,
    /// Change the settings that are safe to change, and save the old values for --undo. Most need root
    /// (Windows: administrator).
    #[arg(long)]
    pub fix: bool,
    /// Restore what --fix changed, last change first; settings changed by others in the meantime are kept.
    #[arg(long, conflicts_with_all = ["address", "run", "only", "fix"])]
    pub undo: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
