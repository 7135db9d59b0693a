//! `wiregauge compare`.

use crate::fail_if::{self, FailIf};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

pub(super) const EXAMPLES: &str = "\
Examples:
  wiregauge compare before after
  wiregauge compare before after --fail-if 'p99 > 5% worse' --fail-if 'lost > 0.1% more'
  wiregauge compare before after --fail-if 'in=48,depth=4: throughput > 3% worse'
  wiregauge compare mon,tue,wed thu,fri,sat --only p50,p99 --format md --figures .

All intervals of a comparison hold together with 95 %: two runs of the same thing seldom differ,
however many points they have. What one run cannot know, and what several tell: docs/compare.md.

--fail-if '[POINT:] FIGURE > PERCENT% worse' is met (exit code 1) where the estimate is beyond the
bound and the difference is shown; what could not be decided is printed and meets nothing. FIGURE is
mean, p50, p90, p99, p99.9, trt, throughput, lost or below(2ms) of exchanges; rate, gap.p99,
transfer.p99, lost, corrupted or buffer(24MB/s) of streams. Instead of worse: better, different, more,
less. Of lost, corrupted and below, PERCENT counts points of percent. POINT is such as in=48,depth=4.";

/// What `wiregauge compare` was asked for.
#[derive(Clone, Debug, Args)]
pub struct CompareArgs {
    /// A directory, a name (or its beginning) of a stored run, or `last`; several with commas
    /// between.
    pub before: String,
    /// The same, of the runs that are compared with those.
    pub after: String,
    /// Exit with 1 if this is so, at any point: 'p99 > 5% worse', 'in=48: lost > 0.1% more'.
    #[arg(long, value_name = "CONDITION", value_parser = fail_if::parse)]
    pub fail_if: Vec<FailIf>,
    /// Compare these figures only. The fewer, the smaller a difference can be shown: choose before
    /// you look.
    #[arg(long, value_name = "FIGURE", value_delimiter = ',', value_parser = fail_if::figure)]
    pub only: Vec<String>,
    /// How to print the tables.
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "text",
        conflicts_with = "json"
    )]
    pub format: TableFormat,
    /// Write a figure of it into this directory, as SVG and PNG; made if it is not there.
    #[arg(long, value_name = "DIR")]
    pub figures: Option<PathBuf>,
    /// Print JSON for machines.
    #[arg(long)]
    pub json: bool,
}

/// How tables are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// Aligned, for a terminal.
    Text,
    /// Markdown.
    #[value(alias = "markdown")]
    Md,
}
