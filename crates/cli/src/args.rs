//! Every flag, declared once: parser, help, completions and man page come from here.

use crate::values::{self, Count, Every, Requirement, Sizes};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

const OVERVIEW: &str = "\
Measures what passes between this computer and a device: how long an exchange takes, how steady it
is, how much data a second, and which package size and queue depth are best.

IN and OUT are seen from the host, as in USB. Sizes are whole frames in bytes, header included.

Exit codes: 0 done, 1 measured but a limit of --require was missed, 2 usage, 3 the link (or the
storage) failed, 130 interrupted. A failed or interrupted run keeps every sample that it took.";

/// fio for the wire between your computer and your device.
#[derive(Debug, Parser)]
#[command(name = "wiregauge", version, long_about = OVERVIEW, max_term_width = 100)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure request and response with a device: RTT, jitter, TRT, throughput, losses.
    #[command(after_help = EXCHANGE_EXAMPLES)]
    Exchange(Box<ExchangeArgs>),
    /// Be the device: answer on TCP, UDP, a Unix socket, a tty or a pseudo-terminal.
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(Box<ServeArgs>),
    /// Show a stored run as tables.
    #[command(
        after_help = "Examples:\n  wiregauge show last\n  wiregauge show 2026-11-21T14 --json | jq .points[0].rtt"
    )]
    Show(ShowArgs),
    /// Tell where the time of a stored run went, which side limits, and what to try.
    #[command(
        after_help = "Examples:\n  wiregauge explain last\n  wiregauge explain 2026-11-21T14 --json | jq .flows[].words"
    )]
    Explain(ExplainArgs),
    /// List the stored runs.
    #[command(
        after_help = "Examples:\n  wiregauge runs\n  WIREGAUGE_RUNS=./runs wiregauge runs --json"
    )]
    Runs(RunsArgs),
    /// Write a stored run as CSV, Parquet or JSON.
    #[command(
        after_help = "Examples:\n  wiregauge export last --csv echo.csv\n  wiregauge export last --parquet all.parquet\n  wiregauge export last --json -"
    )]
    Export(ExportArgs),
    /// Show the point of it all in half a minute, with no hardware.
    #[command(after_help = "Example:\n  wiregauge demo")]
    Demo(DemoArgs),
    /// Print a completion script for a shell.
    #[command(
        after_help = "Example:\n  wiregauge completions bash > ~/.local/share/bash-completion/completions/wiregauge"
    )]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write the man pages into a directory.
    #[command(
        after_help = "Example:\n  wiregauge man ~/.local/share/man/man1 && man wiregauge-exchange"
    )]
    Man {
        /// The directory; made if it is not there.
        directory: PathBuf,
    },
}

const EXCHANGE_EXAMPLES: &str = "\
Examples:
  # a device that speaks the wiregauge protocol: answers of 48 to 8000 B, one, two and four in flight
  wiregauge exchange tcp://10.0.0.5:7700 --in 48,100,200,500..8000:500 --out 16 --count 10000 --depth 1,2,4

  # any UDP echo server, one exchange every 300 ms, one CSV row an exchange
  wiregauge exchange udp://10.0.0.5:7 --protocol echo --out 1,10,20,50,100,200,500 --count 50 --interval 300ms --csv echo.csv

  # a new connection for each exchange: connection, access and transfer time apart
  wiregauge exchange tcp://10.0.0.5:7 --protocol echo --connect each --out 100

  # a board on USB-CDC: how many exchanges are over within 6 ms and 10 ms?
  wiregauge exchange serial:///dev/ttyACM0 --in 100,2000 --depth 1,2,4 --below 6ms,10ms

  # in a script: exit code 1 if a limit is missed
  wiregauge exchange tcp://10.0.0.5:7700 --rate 1000 --duration 10s --require 'p99<2ms' --require 'lost<0.1%'

Lists: 48,100,200 or 500..8000:500 (steps of 500) or 64..4k (doubling); k = 1024 in sizes.";

const SERVE_EXAMPLES: &str = "\
Examples:
  wiregauge serve tcp://127.0.0.1:7700
  wiregauge serve udp://0.0.0.0:7700                  # from other hosts too
  wiregauge serve pty:/tmp/board --bus full-speed --service-time 700us
  wiregauge serve tcp://:0 --drop 1% --stall every=1000:400ms --seed 7

Without a host the address is this host's loopback; port 0 takes any free one. OFTEN is a
probability (0.01 or 1%) or every=N.";

/// `--protocol`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProtocolArg {
    /// Any echo server: bytes come back as they were sent.
    Echo,
    /// wiregauge's own frames: sizes that differ, device time, integrity.
    Wiregauge,
}

/// `--connect`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ConnectArg {
    /// One link for the whole run.
    Once,
    /// A new link for each exchange.
    Each,
}

/// `--wait`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WaitArg {
    /// Sleep in the read.
    Block,
    /// Sleep in poll, then read.
    Poll,
    /// Never sleep; costs a core.
    Spin,
}

/// `--bus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BusArg {
    /// USB full speed: frames of 1 ms, 19 packets of 64 B.
    FullSpeed,
    /// USB high speed: microframes of 125 us, 13 packets of 512 B.
    HighSpeed,
}

/// `wiregauge exchange`.
#[derive(Debug, Args)]
pub struct ExchangeArgs {
    /// The device: tcp://HOST:PORT, udp://HOST:PORT, unix://PATH, serial://PATH, null://
    pub address: String,

    /// What the ends say to each other [default: wiregauge; echo for null://].
    #[arg(long, value_enum)]
    pub protocol: Option<ProtocolArg>,
    /// Sizes of a request in bytes [default: 16; with echo 64].
    #[arg(long, value_name = "LIST", value_parser = values::sizes)]
    pub out: Option<Sizes>,
    /// Sizes of a response in bytes [default: 48; an echo's are those of --out].
    #[arg(long = "in", value_name = "LIST", value_parser = values::sizes)]
    pub in_: Option<Sizes>,
    /// Requests kept outstanding; the literature's queue length R is one less. Check the achieved
    /// depth in the result.
    #[arg(long, value_name = "LIST", value_parser = values::sizes, default_value = "1")]
    pub depth: Sizes,
    /// Exchanges at each point [default: 1000].
    #[arg(long, value_name = "N", value_parser = values::count, conflicts_with = "duration")]
    pub count: Option<Count>,
    /// Measure each point so long instead of counting.
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub duration: Option<Duration>,
    /// Exchanges run and stored, but left out of the statistics, at each point; the first one is
    /// always kept apart.
    #[arg(long, value_name = "N", value_parser = values::count, default_value = "0")]
    pub warmup: Count,
    /// Start one exchange every so often; late ones are also charged from their intended start.
    #[arg(long, value_name = "TIME", value_parser = values::duration, conflicts_with = "rate")]
    pub interval: Option<Duration>,
    /// The same as exchanges a second.
    #[arg(long, value_name = "N", value_parser = values::rate)]
    pub rate: Option<Every>,
    /// After this long without an answer an exchange is lost.
    #[arg(long, value_name = "TIME", value_parser = values::duration, default_value = "1s")]
    pub timeout: Duration,
    /// Losses in a row (for each one outstanding) after which the link has failed.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub give_up: u32,
    /// Open the link once, or for each exchange.
    #[arg(long, value_enum, default_value = "once")]
    pub connect: ConnectArg,
    /// Report the share of exchanges below each of these times.
    #[arg(long, value_name = "TIMES", value_parser = values::duration, value_delimiter = ',')]
    pub below: Vec<Duration>,
    /// Exit with code 1 unless this holds at every point, such as p99<2ms, lost<0.1%, trt<3ms.
    #[arg(long, value_name = "LIMIT", value_parser = values::requirement)]
    pub require: Vec<Requirement>,

    /// How the measuring thread waits for an answer.
    #[arg(long, value_enum, default_value = "block", help_heading = "Host")]
    pub wait: WaitArg,
    /// Real-time priority (SCHED_FIFO) of the measuring thread, 1 to 99; needs CAP_SYS_NICE.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=99), help_heading = "Host")]
    pub priority: Option<u8>,
    /// Keep the measuring thread on this processor, and the rest of wiregauge off it.
    #[arg(long, value_name = "CPU", help_heading = "Host")]
    pub pin: Option<u32>,
    /// Lock all memory; needs CAP_IPC_LOCK.
    #[arg(long, help_heading = "Host")]
    pub lock_memory: bool,
    /// Load this host while measuring: threads that compute, threads that copy memory.
    #[arg(long, value_name = "cpu=N,memory=N", value_parser = values::host_load, help_heading = "Host")]
    pub host_load: Option<wiregauge_record::HostLoad>,
    /// Do not measure this host's own floor before and after.
    #[arg(long, help_heading = "Host")]
    pub no_calibration: bool,

    /// Baud rate of a serial line [default: as it is set].
    #[arg(long, help_heading = "Link")]
    pub baud: Option<u32>,
    /// TCP: acknowledge at once (costs a system call a read).
    #[arg(long, help_heading = "Link")]
    pub quick_ack: bool,

    /// Also write one CSV row an exchange to this file.
    #[arg(long, value_name = "FILE", help_heading = "Result")]
    pub csv: Option<PathBuf>,
    /// Keep the bytes of every answer with its sample (and in the CSV file).
    #[arg(long, help_heading = "Result")]
    pub keep_data: bool,
    /// Store the run in this directory [default: a new one among the stored runs].
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with = "no_store",
        help_heading = "Result"
    )]
    pub store: Option<PathBuf>,
    /// Do not store the run.
    #[arg(long, help_heading = "Result")]
    pub no_store: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub look: Look,
}

/// How results are printed.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Look {
    /// Print JSON for machines.
    #[arg(long, help_heading = "Result")]
    pub json: bool,
    /// Print the tables only: no progress, no notes.
    #[arg(long, short, help_heading = "Result")]
    pub quiet: bool,
    /// Print the confidence interval of every percentile.
    #[arg(long, help_heading = "Result")]
    pub confidence: bool,
}

/// `wiregauge serve`.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Where: tcp://HOST:PORT, udp://HOST:PORT, unix://PATH, serial://PATH, pty: or pty:PATH
    pub address: String,
    /// What to speak.
    #[arg(long, value_enum, default_value = "wiregauge")]
    pub protocol: ProtocolArg,
    /// Clients at once, at most.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub max_clients: u32,
    /// Largest request or response in bytes, at most 16M.
    #[arg(long, value_name = "BYTES", value_parser = values::size, default_value = "1M")]
    pub max_size: u32,
    /// The name that it gives [default: from the model].
    #[arg(long)]
    pub name: Option<String>,
    /// Baud rate of a tty.
    #[arg(long)]
    pub baud: Option<u32>,

    /// Time that the device computes for each exchange.
    #[arg(long, value_name = "TIME", value_parser = values::duration, help_heading = "Model")]
    pub service_time: Option<Duration>,
    /// Added to it at random, evenly from 0 to this.
    #[arg(long, value_name = "TIME", value_parser = values::duration, help_heading = "Model")]
    pub jitter: Option<Duration>,
    /// Carry everything over a modelled USB bus.
    #[arg(long, value_enum, help_heading = "Model")]
    pub bus: Option<BusArg>,

    /// Send no answer.
    #[arg(long, value_name = "OFTEN", value_parser = values::often, help_heading = "Faults")]
    pub drop: Option<wiregauge::serve::Often>,
    /// Send an answer with a wrong bit.
    #[arg(long, value_name = "OFTEN", value_parser = values::often, help_heading = "Faults")]
    pub corrupt: Option<wiregauge::serve::Often>,
    /// Send the answer twice.
    #[arg(long, value_name = "OFTEN", value_parser = values::often, help_heading = "Faults")]
    pub duplicate: Option<wiregauge::serve::Often>,
    /// Hold the answer back by 5 ms, so that later ones overtake it.
    #[arg(long, value_name = "OFTEN", value_parser = values::often, help_heading = "Faults")]
    pub reorder: Option<wiregauge::serve::Often>,
    /// Lose a byte in the middle of the answer.
    #[arg(long, value_name = "OFTEN", value_parser = values::often, help_heading = "Faults")]
    pub lose_byte: Option<wiregauge::serve::Often>,
    /// Insert a byte in the middle of the answer.
    #[arg(long, value_name = "OFTEN", value_parser = values::often, help_heading = "Faults")]
    pub insert_byte: Option<wiregauge::serve::Often>,
    /// Do nothing for a while, such as every=1000:400ms.
    #[arg(long, value_name = "OFTEN:TIME", value_parser = values::stall, help_heading = "Faults")]
    pub stall: Option<(wiregauge::serve::Often, u64)>,
    /// Be gone after so many exchanges.
    #[arg(long, value_name = "N", help_heading = "Faults")]
    pub disconnect_after: Option<u64>,
    /// Seed of all that is random.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Do not tell of clients that come and leave.
    #[arg(long, short)]
    pub quiet: bool,
}

/// `wiregauge show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// A directory, a name (or its beginning) of a stored run, or `last`.
    pub run: String,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub look: Look,
}

/// `wiregauge explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A directory, a name (or its beginning) of a stored run, or `last`.
    pub run: String,
    /// Print JSON for machines.
    #[arg(long)]
    pub json: bool,
}

/// `wiregauge runs`.
#[derive(Debug, Args)]
pub struct RunsArgs {
    /// Print JSON for machines.
    #[arg(long)]
    pub json: bool,
}

/// `wiregauge export`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("format").required(true).multiple(true).args(["csv", "parquet", "json"]))]
pub struct ExportArgs {
    /// A directory, a name (or its beginning) of a stored run, or `last`.
    pub run: String,
    /// One row an exchange; `-` (or nothing) for standard output.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub csv: Option<PathBuf>,
    /// All samples in one Parquet file.
    #[arg(long, value_name = "FILE")]
    pub parquet: Option<PathBuf>,
    /// Plan, conditions and summaries; `-` (or nothing) for standard output.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// With --csv: the bytes of each answer too, in hexadecimal, if the run kept them.
    #[arg(long)]
    pub data: bool,
}

/// `wiregauge demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Store the runs in this directory [default: among the stored runs].
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
}
