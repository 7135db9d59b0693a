//! Every flag, declared once: parser, help, completions and man page come from here.

#[cfg(feature = "loop")]
mod closed_loop;
mod compare;
mod deadline;
mod devices;
mod doctor;
mod exchange;
mod explain;
mod gadget;
mod limits;
mod report;
mod serve;
mod shared;
mod show;
mod stream;
mod tune;
mod usb_virtual;

#[cfg(feature = "loop")]
pub use closed_loop::LoopArgs;
pub use compare::{CompareArgs, TableFormat};
pub use deadline::DeadlineArgs;
pub use devices::DevicesArgs;
pub use doctor::DoctorArgs;
pub use exchange::{ConnectArg, ExchangeArgs, WaitArg};
pub use explain::ExplainArgs;
pub use limits::{LimitsArgs, MediumArg};
pub use report::{FigureFormat, ReportArgs};
pub use serve::{BusArg, ServeArgs};
pub use shared::{HostArgs, KeepArgs, Look, ProtocolArg, ServeProtocolArg};
pub use show::{ShowArgs, ShowFormat};
pub use stream::StreamArgs;
pub use tune::TuneArgs;

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

const OVERVIEW: &str = "\
Measures what passes between this computer and a device: how long an exchange takes, how steady it
is, how much data a second, and which package size and queue depth are best.

IN and OUT are seen from the host, as in USB. Sizes are whole frames in bytes, header included.

Exit codes: 0 done, 1 a limit of --require was missed or a --fail-if met, 2 usage, 3 the link (or the
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
    #[command(after_help = exchange::EXAMPLES)]
    Exchange(Box<ExchangeArgs>),
    /// Measure data that flows without waiting for answers: rates, losses, gaps, buffers.
    #[command(after_help = stream::EXAMPLES)]
    Stream(Box<StreamArgs>),
    /// Loop a digitizer to a generator: the shortest latency that neither loses nor starves.
    #[cfg(feature = "loop")]
    #[command(after_help = closed_loop::EXAMPLES)]
    Loop(Box<LoopArgs>),
    /// Find the setting that serves an aim best, and prove it by a fresh run.
    #[command(after_help = tune::EXAMPLES)]
    Tune(Box<TuneArgs>),
    /// Be the device: answer on TCP, UDP, a Unix socket, a tty, a pseudo-terminal or a USB port.
    #[command(after_help = serve::EXAMPLES)]
    Serve(Box<ServeArgs>),
    /// Show a stored run as tables, for a terminal, an issue, a paper or a program.
    #[command(after_help = show::EXAMPLES)]
    Show(ShowArgs),
    /// Tell where the time of a stored run went, which side limits, what to try, and what to expect of
    /// other settings.
    #[command(after_help = explain::EXAMPLES)]
    Explain(ExplainArgs),
    /// Tell how often a control loop of some period would miss its deadline.
    #[command(after_help = deadline::EXAMPLES)]
    Deadline(DeadlineArgs),
    /// Make one page of a stored run or of several, or its figures as files.
    #[command(after_help = report::EXAMPLES)]
    Report(ReportArgs),
    /// Tell what differs between stored runs, and how sure that is.
    #[command(after_help = compare::EXAMPLES)]
    Compare(CompareArgs),
    /// Find what slows this host and the way to a device, and what mends it.
    #[command(after_help = doctor::EXAMPLES)]
    Doctor(DoctorArgs),
    /// Tell what a medium can carry at best.
    #[command(after_help = limits::EXAMPLES)]
    Limits(LimitsArgs),
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
    /// List the USB devices, serial ports and network responders that could be measured.
    #[command(after_help = devices::EXAMPLES)]
    Devices(DevicesArgs),
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
