//! `wiregauge report`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

pub(super) const EXAMPLES: &str = "\
Examples:
  wiregauge report last                            # a page beside the samples of the run
  wiregauge report last -o report.html
  wiregauge report before after -o both.html       # laid over each other
  wiregauge report last --figures figures --format svg
  wiregauge report last -o - > report.html

The page is one file that needs no network. What it shows: docs/report.md. A file that is there
already is replaced only if it is such a page, or empty.";

/// What `wiregauge report` was asked for.
#[derive(Clone, Debug, Args)]
pub struct ReportArgs {
    /// Directories, names (or their beginnings) of stored runs, or `last`.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// Write the page to this file; `-` for standard output [default: report.html in the run's own
    /// directory, of several runs in the present one; none with --figures].
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write every figure into this directory; made if it is not there, files of the same names are
    /// replaced.
    #[arg(long, value_name = "DIR")]
    pub figures: Option<PathBuf>,
    /// The formats of these files [default: svg,png].
    #[arg(
        long,
        value_name = "FORMAT",
        value_delimiter = ',',
        requires = "figures"
    )]
    pub format: Vec<FigureFormat>,
    /// Print warnings and errors only: no progress, no names of files.
    #[arg(long, short)]
    pub quiet: bool,
}

/// What a figure is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FigureFormat {
    /// For papers and pages: lines and text, sharp at any size.
    Svg,
    /// For slides: pixels, white behind.
    Png,
}
