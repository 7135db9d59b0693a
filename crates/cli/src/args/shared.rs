//! Flags that several commands have.

use crate::values;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use wiregauge_program::flags::ForceArg;
use wiregauge_record::Protocol;

/// `--protocol`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProtocolArg {
    /// Any echo server.
    Echo,
    /// The wiregauge protocol: independent sizes, device time, checksums.
    Wiregauge,
    /// One line of text for each request and response, as SCPI instruments do.
    Lines,
}

/// `--protocol` of exchanges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExchangeProtocolArg {
    /// Any echo server.
    Echo,
    /// The wiregauge protocol: independent sizes, device time, checksums.
    Wiregauge,
    /// One line of text for each request and response; the text is generated.
    Lines,
    /// Your own text: --send, and where its reply ends.
    Text,
    /// An instrument: queries of IEEE 488.2, block data, the error queue.
    Scpi,
    /// Modbus: RTU on serial lines, else Modbus TCP.
    Modbus,
    /// Any USB device: the standard request GET_STATUS, a control transfer IN of 2 bytes.
    GetStatus,
}

/// An argument whose values are those of a recorded type.
macro_rules! same_as {
    ($arg:ident => $recorded:ident: $($value:ident),+) => {
        impl From<$arg> for $recorded {
            fn from(arg: $arg) -> $recorded {
                match arg {
                    $($arg::$value => $recorded::$value),+
                }
            }
        }
    };
}

pub(super) use same_as;

same_as!(ProtocolArg => Protocol: Echo, Wiregauge, Lines);
same_as!(ExchangeProtocolArg => Protocol: Echo, Wiregauge, Lines, Text, Scpi, Modbus,
    GetStatus);

/// The protocol given, or the default of an address: a null link only echoes.
pub fn protocol_of(given: Option<impl Into<Protocol>>, address: &str) -> Protocol {
    match given {
        Some(given) => given.into(),
        None if address.starts_with("null:") => Protocol::Echo,
        None => Protocol::Wiregauge,
    }
}

/// What is asked of the host for the measuring threads.
#[derive(Clone, Debug, Default, Args)]
pub struct HostArgs {
    /// Real-time priority (SCHED_FIFO) of the measuring thread, 1 to 99; needs CAP_SYS_NICE.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=99), help_heading = "Host")]
    pub priority: Option<u8>,
    /// Pin the measuring thread to this CPU, and keep all other wiregauge threads off it.
    #[arg(long, value_name = "CPU", help_heading = "Host")]
    pub pin: Option<u32>,
    /// Lock memory, which prevents page faults; needs CAP_IPC_LOCK.
    #[arg(long, help_heading = "Host")]
    pub lock_memory: bool,
    /// Synthetic load while measuring: number of compute threads and of memory-copy threads.
    #[arg(long, value_name = "cpu=N,memory=N", value_parser = values::host_load, help_heading = "Host")]
    pub host_load: Option<wiregauge_record::HostLoad>,
}

/// Where the run is kept.
#[derive(Clone, Debug, Default, Args)]
pub struct KeepArgs {
    /// Store the run in this directory [default: a new one in $WIREGAUGE_RUNS or
    /// ~/.local/share/wiregauge/runs]. `wiregauge runs` does not list a run stored elsewhere: give DIR as its
    /// name.
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
    /// Store this text with the run, such as 'new cable, hub removed': at most 1000 characters; may have several
    /// lines.
    #[arg(long, value_name = "TEXT", value_parser = values::note, help_heading = "Result")]
    pub note: Option<String>,
    /// If the storage is full, measure on, and count what could not be stored [default: end the run].
    #[arg(long, help_heading = "Result")]
    pub keep_going: bool,
    #[command(flatten, next_help_heading = "Result")]
    #[allow(missing_docs)]
    pub force: ForceArg,
}

/// `--undecided`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Undecided {
    /// Exit code 0.
    Pass,
    /// Exit code 1.
    Fail,
}

/// What an undecided limit does.
#[derive(Clone, Debug, Args)]
pub struct UndecidedArg {
    /// Exit code if the samples do not decide a limit: its value is within the 95 % interval, or there are too few
    /// samples for an interval.
    #[arg(long, value_enum, value_name = "OUTCOME", default_value = "fail")]
    pub undecided: Undecided,
}

/// Which points of a stored run are used.
#[derive(Clone, Debug, Default, Args)]
pub struct PointArgs {
    /// Only these points of the run, counted from 0.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub point: Vec<u32>,
    /// Only points with these response sizes.
    #[arg(long = "in", value_name = "BYTES", value_parser = values::sizes)]
    pub in_sizes: Option<values::Sizes>,
    /// Only points with these request sizes.
    #[arg(long = "out", value_name = "BYTES", value_parser = values::sizes)]
    pub out_sizes: Option<values::Sizes>,
    /// Only points with these depths.
    #[arg(long, value_name = "LIST", value_parser = values::sizes)]
    pub depth: Option<values::Sizes>,
}

/// How results are printed.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Look {
    /// Print JSON.
    #[arg(long, help_heading = "Result")]
    pub json: bool,
    /// Print only tables, warnings and limits: no progress, no notes.
    #[arg(long, short, help_heading = "Result")]
    pub quiet: bool,
    /// Print all tables and the full text of warnings.
    #[arg(long, help_heading = "Result")]
    pub full: bool,
    /// Print the confidence interval of every percentile.
    #[arg(long, help_heading = "Result")]
    pub confidence: bool,
    /// The error of a failed run is printed after its tables, not in them.
    #[arg(skip)]
    pub error_follows: bool,
}
