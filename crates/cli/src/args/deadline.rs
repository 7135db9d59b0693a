//! The flags of `wiregauge deadline`.

use crate::deadline_limit::{self, DeadlineLimit};
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

A cycle asks at its tick and misses if the right answer is not there in time. A run that was
measured as fast as possible is replayed on the ticks: a stall of 30 ms is 30 missed cycles of 1 ms,
not one. What is printed beyond the measured count, how, and when it is refused: docs/deadline.md.

--require: missed<SHARE (0.1% or 1e-6) counts the upper bound of the 95 % interval, so that a limit
is missed too where the run is too short to show that it is kept; longest<CYCLES the longest run of
consecutive misses that was seen.";

/// What `wiregauge deadline` was asked for.
#[derive(Clone, Debug, Args)]
pub struct DeadlineArgs {
    /// A directory, a name (or its beginning) of a stored run, or `last`.
    pub run: String,
    /// The loop's period [default: the run's own --interval or --rate].
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub period: Option<Duration>,
    /// The time in which an answer must be there [default: the period].
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub deadline: Option<Duration>,
    /// A cycle misses too if its answer comes further than this from the median response.
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub jitter: Option<Duration>,
    /// Tell what happens once in so many responses (such as 1e6), or why the run cannot [default:
    /// as rare as the run can tell].
    #[arg(long, value_name = "NUMBER", value_parser = deadline_limit::one_in)]
    pub beyond: Option<f64>,
    /// Exit with 1 if this is not shown to be kept, at any point: 'missed<0.1%', 'longest<3'.
    #[arg(long, value_name = "LIMIT", value_parser = deadline_limit::parse)]
    pub require: Vec<DeadlineLimit>,
    /// Only these points, counted from 0 in the order of the run.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub point: Vec<u32>,
    /// Only points with these sizes of the response.
    #[arg(long = "in", value_name = "BYTES", value_parser = values::sizes)]
    pub in_sizes: Option<values::Sizes>,
    /// Only points with these sizes of the request.
    #[arg(long = "out", value_name = "BYTES", value_parser = values::sizes)]
    pub out_sizes: Option<values::Sizes>,
    /// Only points with these depths.
    #[arg(long, value_name = "LIST", value_parser = values::sizes)]
    pub depth: Option<values::Sizes>,
    /// Draw it into this file, as SVG or PNG by its ending.
    #[arg(long, value_name = "FILE")]
    pub figure: Option<PathBuf>,
    /// Print JSON for machines.
    #[arg(long)]
    pub json: bool,
}
