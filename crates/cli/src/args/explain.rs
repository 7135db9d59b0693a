//! The flags of `wiregauge explain`.

use crate::asked::{self, Asked};
use clap::Args;

pub(super) const EXAMPLES: &str = "\
Examples:
  wiregauge explain last
  wiregauge explain last --predict in=3000,depth=3     # what never changed may be left out
  wiregauge explain last --predict transfer=8k,queue=2 --confidence 90%
  wiregauge explain 2026-11-21T14 --json | jq .models[0].model";

/// `wiregauge explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A directory, a name (or its beginning) of a stored run, or `last`.
    pub run: String,
    /// Tell the TRT, RTT and throughput to expect at a setting that was not measured, with an error
    /// band: out=, in= and depth= of an exchange run; transfer=, queue= and direction= of a stream
    /// run. May be repeated.
    #[arg(long, value_name = "SETTING", value_parser = asked::parse, help_heading = "Prediction")]
    pub predict: Vec<Asked>,
    /// How often the error band holds, such as 90%. n measured settings carry n/(n+1) at most
    /// [default: the largest of 95%, 90% and 80% that they carry].
    #[arg(long, value_name = "SHARE", value_parser = asked::share, requires = "predict", help_heading = "Prediction")]
    pub confidence: Option<f64>,
    /// Print JSON for machines.
    #[arg(long)]
    pub json: bool,
}
