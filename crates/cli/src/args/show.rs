//! `wiregauge show`.

use super::Look;
use clap::{Args, ValueEnum};

pub(super) const EXAMPLES: &str = "\
Examples:
  wiregauge show last
  wiregauge show last --format md > issue.md       # tables, warnings, conditions, command
  wiregauge show last --format latex > tables.tex  # needs \\usepackage{booktabs}
  wiregauge show last --format csv > points.csv    # one row a point; docs/report.md has the columns
  wiregauge show 2026-11-21T14 --json | jq .points[0].rtt";

/// What `wiregauge show` was asked for.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// A directory, a name (or its beginning) of a stored run, or `last`.
    pub run: String,
    /// For whom: text for a terminal, md for an issue, latex for a paper, csv and json for programs
    /// [default: text].
    #[arg(long, value_name = "FORMAT", help_heading = "Result")]
    pub format: Option<ShowFormat>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub look: Look,
}

/// What a run is shown as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShowFormat {
    /// Aligned tables.
    Text,
    /// Markdown.
    #[value(alias = "markdown")]
    Md,
    /// Tables for booktabs.
    #[value(alias = "tex")]
    Latex,
    /// One row a point, or a point and way.
    Csv,
    /// All of run.json; short: --json.
    Json,
}
