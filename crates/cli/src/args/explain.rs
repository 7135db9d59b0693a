//! The flags of `wiregauge explain`.

use super::ForceArg;
use crate::asked::{self, Asked};
use crate::values;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

pub(super) const EXAMPLES: &str = "\
Examples:
  wiregauge explain last
  wiregauge explain last --predict in=3000,depth=3     # a size that was constant may be left out
  wiregauge explain last --predict transfer=8k,queue=2 --confidence 90%
  wiregauge explain 2026-11-21T14 --json | jq .models[0].model
  wiregauge explain bus.pcapng                         # a capture of a USB bus, or of usbmon
  wiregauge explain bus.pcapng --endpoint 0x81 --begin 1.5s --end 2s --figure frames.html";

/// `wiregauge explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A stored run: its directory, its name or the beginning of it, or `last`. Or a capture file of a USB
    /// bus: pcapng or pcap with packets (link types 288, 293 to 295) or URBs of usbmon (189, 220), or CSV of
    /// Total Phase's Data Center.
    #[arg(value_name = "RUN")]
    pub run: String,
    /// Predict TRT, RTT and throughput at a setting that was not measured, with a prediction interval:
    /// out=, in= and depth= of an exchange run; transfer=, queue= and direction= of a stream run. May be
    /// repeated.
    #[arg(long, value_name = "SETTING", value_parser = asked::parse, help_heading = "Prediction")]
    pub predict: Vec<Asked>,
    /// Confidence level of the prediction interval, such as 90%. n measured settings support at most
    /// n/(n+1) [default: the largest of 95%, 90% and 80% that they support].
    #[arg(long, value_name = "SHARE", value_parser = values::share, requires = "predict", help_heading = "Prediction")]
    pub confidence: Option<f64>,
    /// Show only this endpoint of a capture; with the bit 0x80 for IN, such as 0x81.
    #[arg(long, value_name = "ENDPOINT", value_parser = endpoint, help_heading = "Captures")]
    pub endpoint: Option<u8>,
    /// Leave out what the capture has before this time, counted from its first packet.
    #[arg(long, value_name = "TIME", value_parser = values::duration, help_heading = "Captures")]
    pub begin: Option<Duration>,
    /// Leave out what the capture has after this time, counted from its first packet.
    #[arg(long, value_name = "TIME", value_parser = values::duration, help_heading = "Captures")]
    pub end: Option<Duration>,
    /// Draw frames of the capture to this file (.svg, .png, or .html to zoom), each a row with its packets: those around
    /// the median data packet, or from --begin on.
    #[arg(long, value_name = "FILE", help_heading = "Captures")]
    pub figure: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub force: ForceArg,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `0x81`, `129`.
fn endpoint(text: &str) -> Result<u8, String> {
    let number = match text.strip_prefix("0x") {
        Some(hexadecimal) => u8::from_str_radix(hexadecimal, 16),
        None => text.parse(),
    };
    number
        .ok()
        .filter(|number| number & 0x70 == 0)
        .ok_or_else(|| format!("`{text}` is not an endpoint: use 0x81 for IN 1, 0x01 for OUT 1"))
}
