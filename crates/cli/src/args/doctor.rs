//! The flags of `wiregauge doctor`.

use clap::Args;
use clap::builder::PossibleValuesParser;
use wiregauge_doctor::CHECKS;

/// Below the flags in its help.
pub const EXAMPLES: &str = "\
Examples:
  wiregauge doctor                                   # this host and what hangs on it
  wiregauge doctor serial:///dev/ttyACM0             # this host and the way to one device
  wiregauge doctor --run last                        # what a stored run ran on, and its pattern
  sudo wiregauge doctor --fix --only governor,idle-states
  sudo wiregauge doctor --undo                       # puts back what --fix changed
  wiregauge doctor --json | jq -r '.findings[] | select(.level == \"hurts\") | .remedy[]'

No device is opened, and without --fix nothing is changed. docs/doctor.md tells what each check looks
at, what that costs and who says so.";

/// `wiregauge doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// The device on the way to which is looked [default: whatever hangs on this host; with --run the
    /// device of the run].
    #[arg(value_name = "ADDRESS")]
    pub address: Option<String>,
    /// Judge by a stored run: a directory, a name (or its beginning), or `last`. What it kept of its host
    /// counts then, not what the host does now.
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Do these checks only, separated by commas.
    #[arg(long, value_name = "CHECK", value_delimiter = ',',
          value_parser = PossibleValuesParser::new(CHECKS.iter().map(|check| check.name)))]
    pub only: Vec<String>,
    /// Change the settings that can be changed safely, and note what they were for --undo. Most need root.
    #[arg(long)]
    pub fix: bool,
    /// Put back what --fix changed, the last change first; what others changed meanwhile is left.
    #[arg(long, conflicts_with_all = ["address", "run", "only", "fix"])]
    pub undo: bool,
    /// Print JSON for machines.
    #[arg(long)]
    pub json: bool,
}
