//! `wiregauge show`.

use super::Look;
use clap::{Args, ValueEnum};

pub(super) const EXAMPLES: &str = "\
Examples:
  wiregauge show last
  wiregauge show last --format md > issue.md       # tables, warnings, conditions, command
  wiregauge show last --format latex > tables.tex  # needs \\usepackage{booktabs}
  wiregauge show last --format csv > points.csv    # one row per point; columns: docs/report.md
  wiregauge show 2026-11-21T14 --json | jq .points[0].rtt";

/// What `wiregauge show` was asked for.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// A stored run: its directory, its name or the beginning of it, or `last`.
    pub run: String,
    /// Output format [default: text].
    #[arg(long, value_name = "FORMAT", help_heading = "Result")]
    pub format: Option<ShowFormat>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub look: Look,
}

/// What a run is shown as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShowFormat {
    /// Aligned tables for a terminal.
    Text,
    /// Markdown.
    #[value(alias = "markdown")]
    Md,
    /// LaTeX tables with booktabs.
    #[value(alias = "tex")]
    Latex,
    /// One row per point, or per point and direction.
    Csv,
    /// The complete run.json; same as --json.
    Json,
}
