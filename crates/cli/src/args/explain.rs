//! The flags of `wiregauge explain`.

use crate::asked::{self, Asked};
use clap::Args;

pub(super) const EXAMPLES: &str = "\
Examples:
  wiregauge explain last
  wiregauge explain last --predict in=3000,depth=3     # a size that was constant may be left out
  wiregauge explain last --predict transfer=8k,queue=2 --confidence 90%
  wiregauge explain 2026-11-21T14 --json | jq .models[0].model";

/// `wiregauge explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A stored run: its directory, its name or the beginning of it, or `last`.
    pub run: String,
    /// Predict TRT, RTT and throughput at a setting that was not measured, with a prediction interval:
    /// out=, in= and depth= of an exchange run; transfer=, queue= and direction= of a stream run. May be
    /// repeated.
    #[arg(long, value_name = "SETTING", value_parser = asked::parse, help_heading = "Prediction")]
    pub predict: Vec<Asked>,
    /// Confidence level of the prediction interval, such as 90%. n measured settings support at most
    /// n/(n+1) [default: the largest of 95%, 90% and 80% that they support].
    #[arg(long, value_name = "SHARE", value_parser = asked::share, requires = "predict", help_heading = "Prediction")]
    pub confidence: Option<f64>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
