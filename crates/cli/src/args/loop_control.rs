//! The flags of `wiregauge loop-control`.

use super::{HostArgs, KeepArgs, Look, ModelArgs};
use crate::values;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Below the flags in its help.
pub const EXAMPLES: &str = "\
Examples:
  # the device is the plant; both ends read the same model
  wiregauge serve pty:/tmp/servo --plant loop.toml
  wiregauge loop-control serial:///tmp/servo --model loop.toml --duration 60s

  # a step of the reference at half of the run, without noise
  wiregauge serve pty:/tmp/still --plant loop.toml --noise 0
  wiregauge loop-control serial:///tmp/still --model loop.toml --noise 0 --step 1

  # compare with the prediction from a separate measurement of the link
  wiregauge exchange serial:///tmp/servo --in 48 --depth 8 --interval 6ms --timeout 60ms
  wiregauge loop-control serial:///tmp/servo --model loop.toml --against last

In each period an empty message samples the plant, then a message carries the command that the
controller computes from that sample. The delay of the loop is the time from sample to command
by the device's clock. A cycle whose sample is lost keeps the last command. A tick that passes
while the program is late, or while --depth samples are outstanding, is counted as unsent.

The cost is the mean over the samples of (y-r)' Qy (y-r) + u' Qu u. It is compared with the cost
that the model predicts from the delays of this run, and with --against from those of another.";

/// What `wiregauge loop-control` was asked for.
#[derive(Clone, Debug, Args)]
pub struct LoopControlArgs {
    /// The device that simulates the plant, such as tcp://10.0.0.5:7700 or serial:///dev/ttyACM0.
    #[arg(value_name = "ADDRESS", value_parser = values::address)]
    pub address: String,
    /// The loop.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Duration of the run.
    #[arg(long, value_name = "TIME", value_parser = values::duration, default_value = "10s", conflicts_with = "count")]
    pub duration: Duration,
    /// Number of cycles.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// Set the reference of the first output to SIZE at half of the run; before, and without this flag, it is 0.
    #[arg(long, value_name = "SIZE", value_parser = values::step, allow_hyphen_values = true)]
    pub step: Option<f64>,
    /// Samples outstanding at most; a tick beyond them passes unsent.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024), default_value_t = 16)]
    pub depth: u32,
    /// Time after which a message without reply is lost [default: 10 periods, at least 10 ms].
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub timeout: Option<Duration>,
    /// Compare with the prediction from this exchange run of the same link: its directory, its name or the beginning
    /// of it, or `last`.
    #[arg(long, value_name = "RUN")]
    pub against: Option<String>,
    /// Point of that run, counted from 0 [default: its only one].
    #[arg(long, value_name = "N", requires = "against")]
    pub point: Option<u32>,
    /// Baud rate of a serial line [default: unchanged].
    #[arg(long, help_heading = "Link")]
    pub baud: Option<u32>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub host: HostArgs,
    /// Also write a CSV file with one row per cycle.
    #[arg(long, value_name = "FILE", value_parser = values::file(), help_heading = "Result")]
    pub csv: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub keep: KeepArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub look: Look,
}
