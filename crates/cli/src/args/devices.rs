//! The flags of `wiregauge devices`.

use clap::Args;

/// Below the flags in its help.
pub const EXAMPLES: &str = "\
Examples:
  wiregauge devices
  wiregauge devices --probe                           # opens each device and sends it a HELLO
  wiregauge devices --json | jq -r '.usb[].address'

Opening a serial port resets some boards (Arduino), and a probe sends 104 bytes to every attached
device: unplug instruments that must not receive them. USB devices with a kernel driver are skipped.";

/// Arguments of `devices`.
#[derive(Debug, Args)]
pub struct DevicesArgs {
    /// Send a HELLO to each device and print the name it returns.
    ///
    /// Opens every serial port and every USB device without a kernel driver, and tries port 7700 of this
    /// host, its gateway and the hosts in its neighbour table; address ranges are never scanned.
    #[arg(long)]
    pub probe: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
