//! The flags of `wiregauge control`.

use super::{ForceArg, MissArgs, ModelArgs, PointArgs, UndecidedArg};
use crate::control_limit::{self, ControlLimit};
use clap::Args;
use std::path::PathBuf;

/// Below the flags in its help.
pub const EXAMPLES: &str = "\
Examples:
  wiregauge control last --plant '1000/(s^2+s)' --pid 0.96,0,0.049 --period 6ms
  wiregauge control last --model loop.toml
  wiregauge control last --model loop.toml --figures figures
  wiregauge control last --model loop.toml --on-miss zero-at-deadline --deadline 4ms
  wiregauge control last --model loop.toml --in 48 --depth 1..4 --json
  wiregauge control last --model loop.toml --require 'control.cost<20,holds'

The model as a file has the keys period, plant, [controller] (pid, transfer, or a, b, c, d), [noise],
[cost], [limits] and [misses]: docs/control.md.

A run with the period of the loop (--interval 6ms) has one cycle per exchange, from its intended
start. Other runs are replayed: each request is sent at the next tick at which fewer than --depth
requests are outstanding.

Prints whether the loop holds, at which points and at what cost, and for each point three verdicts:
on this trace (exact replay of the measured delays), in the long run (stationary statistics of the
delays), in any order (a proof for every sequence of such delays). --full: also margins, step
responses, and what a buffer would gain.

--require: control.cost<NUMBER tests the upper bound of the 95 % interval, so a run that is too short
for one misses it; control.growth<NUMBER tests the growth per cycle on this trace; held, holds and
proved are the verdicts on this trace, in the long run and in any order.";

/// What `wiregauge control` was asked for.
#[derive(Clone, Debug, Args)]
pub struct ControlArgs {
    /// A stored run: its directory, its name or the beginning of it, or `last`.
    pub run: String,
    /// The loop.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Which responses become commands.
    #[command(flatten)]
    pub misses: MissArgs,
    /// Points of the run.
    #[command(flatten)]
    pub points: PointArgs,
    /// Exit with code 1 unless every point meets this limit: a figure such as 'control.cost<20' or
    /// 'control.growth<1', or a verdict: held, holds or proved.
    #[arg(long, value_name = "LIMIT", value_parser = control_limit::parse, value_delimiter = ',')]
    pub require: Vec<ControlLimit>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub undecided: UndecidedArg,
    /// Write figures to this directory as SVG: step response and cost.
    #[arg(long, value_name = "DIR")]
    pub figures: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub force: ForceArg,
    /// Print all tables and notes.
    #[arg(long)]
    pub full: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
