//! The flags of `wiregauge tune`.

use super::stream::DirectionArg;
use super::{
    ConnectArg, HostArgs, KeepArgs, MissArgs, ModelArgs, ProtocolArg, UndecidedArg, WaitArg,
};
use crate::constraint::{self, Constraints};
use crate::values::{self, Count, Effort, Sizes};
use clap::{ArgGroup, Args};
use std::time::Duration;
use wiregauge_record::Figure;

/// Below the flags in its help.
pub const EXAMPLES: &str = "\
Examples:
  # which size and depth give the highest throughput if p99 must be below 10 ms?
  wiregauge tune serial:///dev/ttyACM0 --maximise in-throughput \\
    --subject-to 'p99<10ms' --in 48..8000 --depth 1..16

  # the shortest TRT with responses of 100 B
  wiregauge tune usb://1d6b:0104 --minimise trt --in 100 \\
    --subject-to 'rtt.p99.9<2ms,lost=0'

  # is polling, or spinning, worth it?
  wiregauge tune tcp://10.0.0.5:7700 --minimise rtt.p99 --in 64 --depth 1 \\
    --wait block,poll,spin

  # which depth gives a control loop the lowest cost?
  wiregauge tune serial:///dev/ttyACM0 --minimise control.cost --model loop.toml \\
    --in 48 --depth 1..8

  # a stream: which transfer size and queue?
  wiregauge tune usb://1d6b:0104 --maximise in-throughput \\
    --transfer 64..64k --queue 1..32

Figures: p50, p90, p99, p99.9, mean, sd, mean+sd, iqr, p99-p50, min, max3, max (of the RTT, or
with the prefix rtt., trt., device., connect., access. or transfer.), trt, lost, late,
duplicated, reordered, corrupted, in-throughput, out-throughput, throughput, exchanges,
achieved-depth, limit-used; with the model of a control loop control.cost and control.growth; for streams also gap.p99, stalls and others (documentation:
docs/tune.md).

Lists: 48,100,200 or 500..8000:500 (steps of 500). A..B without a step is searched finely: sizes
48..8000 are 48, every multiple of 16, and 8000; --depth 1..16 is every number.";

/// `wiregauge tune`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("aim").required(true).args(["maximise", "minimise"]))]
pub struct TuneArgs {
    /// The device: tcp://HOST:PORT, udp://HOST:PORT, unix://PATH, serial://PATH, usb://VID:PID, null://
    #[arg(value_name = "ADDRESS", value_parser = values::address)]
    pub address: String,

    /// Maximise this figure, such as in-throughput or exchanges.
    #[arg(long, alias = "maximize", value_name = "FIGURE", value_parser = constraint::figure)]
    pub maximise: Option<Figure>,
    /// Minimise this figure, such as trt or rtt.p99.
    #[arg(long, alias = "minimize", value_name = "FIGURE", value_parser = constraint::figure)]
    pub minimise: Option<Figure>,
    /// Constraints, such as 'p99<10ms, lost=0'. May be repeated. Exit with code 1 unless the confirming run
    /// meets them.
    #[arg(long, value_name = "LIMITS", value_parser = constraint::several)]
    pub subject_to: Vec<Constraints>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub undecided: UndecidedArg,

    /// Request sizes in bytes [default: 16; with echo 64].
    #[arg(long, value_name = "LIST", value_parser = values::choices_of_sizes, help_heading = "Exchanges")]
    pub out: Option<Sizes>,
    /// Response sizes in bytes [default: 48; with echo as --out].
    #[arg(long = "in", value_name = "LIST", value_parser = values::choices_of_sizes, help_heading = "Exchanges")]
    pub in_: Option<Sizes>,
    /// Numbers of outstanding requests [default: 1..16; with --connect each 1].
    #[arg(long, value_name = "LIST", value_parser = values::choices_of_depths, help_heading = "Exchanges")]
    pub depth: Option<Sizes>,
    /// How the measuring thread waits for an answer; a list tries each [default: block].
    #[arg(long, value_enum, value_delimiter = ',', help_heading = "Exchanges")]
    pub wait: Vec<WaitArg>,
    /// Open the link once, or for each exchange; a list tries both [default: once].
    #[arg(long, value_enum, value_delimiter = ',', help_heading = "Exchanges")]
    pub connect: Vec<ConnectArg>,
    /// Wire protocol [default: wiregauge; echo for null://].
    #[arg(long, value_enum, help_heading = "Exchanges")]
    pub protocol: Option<ProtocolArg>,
    /// Number of exchanges that an exhaustive search would measure at each setting; the search needs fewer
    /// [default: 1000].
    #[arg(long, value_name = "N", value_parser = values::positive_count, help_heading = "Exchanges")]
    pub count: Option<Count>,

    /// Tune a stream: direction of the data.
    #[arg(long, value_enum, help_heading = "Streams", conflicts_with_all = EXCHANGES)]
    pub direction: Option<DirectionArg>,
    /// Tune a stream: bytes per transfer [default: 64..64k].
    #[arg(long, value_name = "LIST", value_parser = values::choices_of_sizes, help_heading = "Streams", conflicts_with_all = EXCHANGES)]
    pub transfer: Option<Sizes>,
    /// Tune a stream: number of transfers submitted at once [default: 1; usb 1..32].
    #[arg(long, value_name = "LIST", value_parser = values::choices_of_queues, help_heading = "Streams", conflicts_with_all = EXCHANGES)]
    pub queue: Option<Sizes>,
    /// Time that an exhaustive search would measure each setting; the search needs less [default: 500ms].
    #[arg(long, value_name = "TIME", value_parser = values::duration, help_heading = "Streams", conflicts_with_all = EXCHANGES)]
    pub duration: Option<Duration>,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub model: ModelArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub misses: MissArgs,

    /// Length of the confirming run: a number of exchanges, or the duration of a stream. By default as long
    /// as --count or --duration, and longer if a constraint requires it. If it leaves a constraint open, up
    /// to two longer runs follow, within --budget, or of up to a minute each. If it misses one, the next best
    /// setting is confirmed.
    #[arg(long, value_name = "N|TIME", value_parser = values::effort)]
    pub confirm: Option<Effort>,
    /// Stop the search after TIME and confirm the best setting found so far. Longer confirmations must end
    /// by then.
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub budget: Option<Duration>,
    /// An exchange without a response after TIME is lost; a stream without a transfer after TIME fails [default:
    /// 1s; for a figure of a control loop 10 of its periods, at least 10ms].
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub timeout: Option<Duration>,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub host: HostArgs,
    /// Do not measure the floor before and after the confirming run: the RTT of a local echo, without the
    /// device.
    #[arg(long, help_heading = "Host")]
    pub no_calibration: bool,

    /// Baud rate of a serial line [default: unchanged].
    #[arg(long, help_heading = "Link")]
    pub baud: Option<u32>,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub keep: KeepArgs,
    /// Print JSON.
    #[arg(long, help_heading = "Result")]
    pub json: bool,
    /// Print only the setting and the tables: no progress, no notes.
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
