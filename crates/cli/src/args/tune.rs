//! The flags of `wiregauge tune`.

use super::stream::DirectionArg;
use super::{ConnectArg, HostArgs, KeepArgs, ProtocolArg, WaitArg};
use crate::constraint::{self, Constraints};
use crate::values::{self, Count, Effort, Sizes};
use clap::{ArgGroup, Args};
use std::path::PathBuf;
use std::time::Duration;
use wiregauge_record::Figure;

/// Below the flags in its help.
pub const EXAMPLES: &str = "\
Examples:
  # which size and depth carry the most, if 99 of 100 answers must come within 10 ms?
  wiregauge tune serial:///dev/ttyACM0 --maximise in-throughput --subject-to 'p99<10ms' --in 48..8000 --depth 1..16

  # the shortest repetition time of 100 B answers
  wiregauge tune usb://1d6b:0104 --minimise trt --in 100 --subject-to 'rtt.p99.9<2ms,lost=0'

  # is polling, or spinning, worth it?
  wiregauge tune tcp://10.0.0.5:7700 --minimise rtt.p99 --in 64 --depth 1 --wait block,poll,spin

  # a stream: which transfer size, how many at once?
  wiregauge tune usb://1d6b:0104 --maximise in-throughput --transfer 64..64k --queue 1..32

Figures: p50, p90, p99, p99.9, mean, sd, mean+sd, iqr, p99-p50, max3, max (of the RTT, or with rtt., trt.,
device., connect., access. or transfer. in front), trt, lost, late, duplicated, reordered, corrupted,
in-throughput, out-throughput, throughput, exchanges, achieved-depth, limit-used; of streams also gap.p99,
stalls and others: docs/tune.md.

Lists: 48,100,200 or 500..8000:500 (steps of 500). A range without steps is gone through finely: 48..8000
is 48, every multiple of 16, and 8000; 1..16 of --depth is every number.";

/// `wiregauge tune`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("aim").required(true).args(["maximise", "minimise"]))]
pub struct TuneArgs {
    /// The device: tcp://HOST:PORT, udp://HOST:PORT, unix://PATH, serial://PATH, usb://VENDOR:PRODUCT
    #[arg(value_name = "ADDRESS")]
    pub address: String,

    /// Look for the setting where this is largest, such as in-throughput or exchanges.
    #[arg(long, alias = "maximize", value_name = "FIGURE", value_parser = constraint::figure)]
    pub maximise: Option<Figure>,
    /// Look for the setting where this is smallest, such as trt or rtt.p99.
    #[arg(long, alias = "minimize", value_name = "FIGURE", value_parser = constraint::figure)]
    pub minimise: Option<Figure>,
    /// What must hold there, such as 'p99<10ms, lost=0'. May be given several times. Exit code 1 unless
    /// the run that confirms the setting shows it.
    #[arg(long, value_name = "LIMITS", value_parser = constraint::several)]
    pub subject_to: Vec<Constraints>,

    /// Sizes of a request in bytes [default: 16; with echo 64].
    #[arg(long, value_name = "LIST", value_parser = values::choices_of_sizes, help_heading = "Exchanges")]
    pub out: Option<Sizes>,
    /// Sizes of a response in bytes [default: 48; an echo's are those of --out].
    #[arg(long = "in", value_name = "LIST", value_parser = values::choices_of_sizes, help_heading = "Exchanges")]
    pub in_: Option<Sizes>,
    /// Requests kept outstanding [default: 1..16; with --connect each 1].
    #[arg(long, value_name = "LIST", value_parser = values::choices_of_numbers, help_heading = "Exchanges")]
    pub depth: Option<Sizes>,
    /// How the measuring thread waits for an answer [default: block]; several are tried.
    #[arg(long, value_enum, value_delimiter = ',', help_heading = "Exchanges")]
    pub wait: Vec<WaitArg>,
    /// Open the link once, or for each exchange [default: once]; both are tried.
    #[arg(long, value_enum, value_delimiter = ',', help_heading = "Exchanges")]
    pub connect: Vec<ConnectArg>,
    /// What the ends say to each other [default: wiregauge; echo for null://].
    #[arg(long, value_enum, help_heading = "Exchanges")]
    pub protocol: Option<ProtocolArg>,
    /// Exchanges at a setting, were every setting measured [default: 1000]. The search makes do with a
    /// part of them.
    #[arg(long, value_name = "N", value_parser = values::count, help_heading = "Exchanges")]
    pub count: Option<Count>,

    /// Tune a stream: which way the data flows.
    #[arg(long, value_enum, help_heading = "Streams", conflicts_with_all = EXCHANGES)]
    pub direction: Option<DirectionArg>,
    /// Tune a stream: bytes of one transfer [default: 64..64k].
    #[arg(long, value_name = "LIST", value_parser = values::choices_of_sizes, help_heading = "Streams", conflicts_with_all = EXCHANGES)]
    pub transfer: Option<Sizes>,
    /// Tune a stream: transfers submitted at once [default: 1; usb 1..32].
    #[arg(long, value_name = "LIST", value_parser = values::choices_of_numbers, help_heading = "Streams", conflicts_with_all = EXCHANGES)]
    pub queue: Option<Sizes>,
    /// How long a setting would be measured, were every setting measured [default: 500ms].
    #[arg(long, value_name = "TIME", value_parser = values::duration, help_heading = "Streams", conflicts_with_all = EXCHANGES)]
    pub duration: Option<Duration>,

    /// How long the run is that confirms the setting found: a number of exchanges, or the time of a
    /// stream [default: that of --count or --duration, and more where a constraint is to be shown].
    #[arg(long, value_name = "N|TIME", value_parser = values::effort)]
    pub confirm: Option<Effort>,
    /// Stop searching after this long; what was found until then is confirmed.
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub budget: Option<Duration>,
    /// After this long without an answer an exchange is lost; without a transfer a stream has failed.
    #[arg(long, value_name = "TIME", value_parser = values::duration, default_value = "1s")]
    pub timeout: Duration,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub host: HostArgs,
    /// Do not measure this host's own floor before and after the run that confirms.
    #[arg(long, help_heading = "Host")]
    pub no_calibration: bool,

    /// Baud rate of a serial line [default: as it is set].
    #[arg(long, help_heading = "Link")]
    pub baud: Option<u32>,

    /// Draw latency against throughput of what was measured, as .svg or .png.
    #[arg(long, value_name = "FILE", help_heading = "Result")]
    pub figure: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub keep: KeepArgs,
    /// Print JSON for machines.
    #[arg(long, help_heading = "Result")]
    pub json: bool,
    /// Print the setting and the tables only: no progress, no notes.
    #[arg(long, short, help_heading = "Result")]
    pub quiet: bool,
}

/// The flags of exchanges, which say nothing of a stream.
const EXCHANGES: [&str; 7] = [
    "out", "in_", "depth", "wait", "connect", "protocol", "count",
];

impl TuneArgs {
    /// True if a stream is to be tuned.
    pub fn is_of_streams(&self) -> bool {
        let sizes = self.transfer.is_some() || self.queue.is_some();
        sizes || self.direction.is_some() || self.duration.is_some()
    }
}
