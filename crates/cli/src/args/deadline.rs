//! The flags of `wiregauge deadline`.

use super::{ForceArg, PointArgs, UndecidedArg};
use crate::constraint::{self, Constraint};
use crate::deadline_limit;
use crate::values;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Below the flags in its help.
pub const EXAMPLES: &str = "\
Examples:
  wiregauge deadline last --period 1ms
  wiregauge deadline last --period 1ms --jitter 50us --figure deadline.svg
  wiregauge deadline last --period 2ms --deadline 500us --in 48 --depth 1
  wiregauge deadline last --period 1ms --require 'missed<0.1%' --require 'longest<3'
  wiregauge deadline last --period 1ms --beyond 1e6

Each cycle sends a request at its tick and misses if the right answer does not arrive in time. A run
measured as fast as possible is replayed on the ticks: a stall of 30 ms is 30 missed cycles of 1 ms,
not one. How rarer events are extrapolated, and when not: docs/deadline.md.

--require: missed<SHARE (0.1% or 1e-6) is met if the whole 95 % interval is below, so a run that is
too short leaves it undecided; missed<CYCLES counts those of this run; longest<CYCLES is its longest
burst of consecutive misses.";

/// What `wiregauge deadline` was asked for.
#[derive(Clone, Debug, Args)]
pub struct DeadlineArgs {
    /// A stored run: its directory, its name or the beginning of it, or `last`.
    pub run: String,
    /// Period of the loop [default: the --interval or --rate of the run].
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub period: Option<Duration>,
    /// Time by which an answer must arrive [default: the period].
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub deadline: Option<Duration>,
    /// Also count a miss if the response time differs from the median by more than this.
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub jitter: Option<Duration>,
    /// Extrapolate to the response time exceeded once in NUMBER responses, such as 1e6 [default: as far as
    /// the run supports].
    #[arg(long, value_name = "NUMBER", value_parser = deadline_limit::one_in)]
    pub beyond: Option<f64>,
    /// Exit with code 1 unless every point meets this limit: 'missed<0.1%', 'longest<3'.
    #[arg(long, value_name = "LIMIT", value_parser = constraint::of_cycles)]
    pub require: Vec<Constraint>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub undecided: UndecidedArg,
    /// Points of the run.
    #[command(flatten)]
    pub points: PointArgs,
    /// Write a figure to this file (.svg or .png).
    #[arg(long, value_name = "FILE")]
    pub figure: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub force: ForceArg,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
