//! `wiregauge report`.

use super::{ForceArg, MissArgs, ModelArgs};
use crate::point_filter::{PointFilter, filter};
use crate::values;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

pub(super) const EXAMPLES: &str = "\
Examples:
  wiregauge report last                       # writes report.html beside the run
  wiregauge report last -o report.html
  wiregauge report before after -o both.html  # both runs in the same figures
  wiregauge report last --points in=48,depth=1,4   # only these points
  wiregauge report last --figures figures --format svg
  wiregauge report last -o - > report.html
  wiregauge report last --period 2ms --deadline 500us --jitter 50us   # missed cycles of this loop
  wiregauge report last --model loop.toml     # with what the delays do to this control loop

The page is one file and works offline (documentation: docs/report.md). An existing file is
overwritten only with --force, or if it is a page of wiregauge or empty.

The page counts the missed cycles of a loop with this --period, --deadline and --jitter, as
wiregauge deadline does (documentation: docs/deadline.md). By default, period and deadline are the
interval of the run. With a plant and a controller (documentation: docs/control.md) the page has a
section on that control loop, which ignores responses after the --deadline. All runs must then be
runs of wiregauge exchange.";

const CYCLES: &str = "Missed cycles";

/// What `wiregauge report` was asked for.
#[derive(Clone, Debug, Args)]
#[command(
    mut_arg("period", |arg| arg.help_heading(CYCLES)),
    mut_arg("deadline", |arg| arg.help_heading(CYCLES).help(
        "Time by which a response must arrive; with a plant, later ones are ignored [default: the period; with a plant none \
         are ignored]"
    ))
)]
pub struct ReportArgs {
    /// Stored runs: directories, names or the beginnings of them, or `last`.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// Write the page to this file; `-` for standard output [default: report.html in the directory of the
    /// run, or in the current directory for several runs; none with --figures].
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write every figure to this directory; created if missing.
    #[arg(long, value_name = "DIR")]
    pub figures: Option<PathBuf>,
    /// Format of the figure files [default: svg,png].
    #[arg(
        long,
        value_name = "FORMAT",
        value_delimiter = ',',
        requires = "figures"
    )]
    pub format: Vec<FigureFormat>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub force: ForceArg,
    /// Only these points of the runs, such as in=48,depth=4; several values of a name are alternatives:
    /// in=48,1000. Names: in, out, depth; for streams direction, transfer, queue; for both link, and together
    /// (yes: at the same time as other links, or no); for loops rate, channels, notify.
    #[arg(long, value_name = "POINTS", value_parser = filter)]
    pub points: Option<PointFilter>,
    /// Print only warnings and errors: no progress, no file names.
    #[arg(long, short)]
    pub quiet: bool,
    /// The control loop whose verdicts, tables and figures are added.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Which answers become commands.
    #[command(flatten)]
    pub misses: MissArgs,
    /// Also count a cycle as missed if the response time differs from the median by more than this.
    #[arg(long, value_name = "TIME", value_parser = values::duration, help_heading = CYCLES)]
    pub jitter: Option<Duration>,
}

impl FigureFormat {
    /// Of the names of its files.
    pub fn ending(self) -> &'static str {
        match self {
            FigureFormat::Svg => "svg",
            FigureFormat::Png => "png",
        }
    }
}

/// What a figure is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FigureFormat {
    /// Vector graphics.
    Svg,
    /// Pixels on a white background.
    Png,
}
