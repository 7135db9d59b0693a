//! `wiregauge compare`.

use super::UndecidedArg;
use crate::fail_if::{self, FailIf};
use clap::{Args, ValueEnum};
use wiregauge_compare::Figure;

pub(super) const EXAMPLES: &str = "\
Examples:
  wiregauge compare before after
  wiregauge compare before after --fail-if 'p99 > 5% worse' --fail-if 'lost > 0.1% more'
  wiregauge compare before after --fail-if 'in=48,depth=4: exchanges > 3% worse'
  wiregauge compare mon,tue,wed thu,fri,sat --only p50,p99 --format md

All confidence intervals of a comparison hold jointly with 95 %: two runs of the same thing rarely
differ, however many points they have. Why several runs per side are better: docs/compare.md.

--fail-if '[POINT:] FIGURE > PERCENT% worse' is met (exit code 1) if the whole interval of the
difference is beyond PERCENT. It is undecided (exit code 1, with --undecided pass 0) if the interval
contains PERCENT or there is none, or one side did not measure the point.
FIGURE is a name of --require with an interval: mean, p50, p90, p99, p99.9, the same of trt.,
exchanges, throughput, lost or below(2ms) for exchanges, and the median of a part that both sides
measured: device.p50, host+wire.p50 (docs/compare.md); throughput, gap.p99 (and .mean, .p50, .p90,
.p99.9), the same of transfer., lost, corrupted or buffer(24MB/s) for streams.
Instead of worse: better, different, more, less. For lost, corrupted and below, PERCENT means
percentage points. POINT: in=48,depth=4.";

/// What `wiregauge compare` was asked for.
#[derive(Clone, Debug, Args)]
pub struct CompareArgs {
    /// The runs before: directory, name or the beginning of it, or `last`; separate several with commas.
    pub before: String,
    /// The runs after, written the same way.
    pub after: String,
    /// Exit with code 1 if this condition is met at any point: 'p99 > 5% worse', 'in=48: lost > 0.1% more'.
    #[arg(long, value_name = "CONDITION", value_parser = fail_if::parse)]
    pub fail_if: Vec<FailIf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub undecided: UndecidedArg,
    /// Compare only these figures. Fewer figures detect smaller differences: choose them before you look at
    /// the results.
    #[arg(long, value_name = "FIGURE", value_delimiter = ',', value_parser = fail_if::figure)]
    pub only: Vec<Figure>,
    /// Print all figures, not only the important ones and those that differ.
    #[arg(long)]
    pub full: bool,
    /// Format of the tables.
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "text",
        conflicts_with = "json"
    )]
    pub format: TableFormat,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// How tables are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// Aligned text for a terminal.
    Text,
    /// Markdown.
    #[value(alias = "markdown")]
    Md,
}
