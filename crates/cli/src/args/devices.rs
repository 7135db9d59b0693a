//! The flags of `wiregauge devices`.

use clap::Args;

/// Below the flags in its help.
pub const EXAMPLES: &str = "\
Examples:
  wiregauge devices
  wiregauge devices --probe                           # opens each and asks it for its name
  wiregauge devices --json | jq -r '.usb[].address'

Opening a serial port resets some boards (Arduino), and a probe sends 104 bytes to whatever is behind
it: leave instruments unplugged that do not like that. USB devices with a kernel driver are not asked.";

/// Arguments of `devices`.
#[derive(Debug, Args)]
pub struct DevicesArgs {
    /// Ask each device that could be a responder for its name.
    ///
    /// Opens every serial port and every USB device that no driver holds, and tries port 7700 of this
    /// host, its gateway and the neighbours that it already talks to; address ranges are never searched.
    #[arg(long)]
    pub probe: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
