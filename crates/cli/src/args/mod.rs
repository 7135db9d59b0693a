//! Every flag, declared once: parser, help, completions and man page come from here.

#[cfg(feature = "loop")]
mod closed_loop;
mod compare;
mod control;
mod deadline;
mod devices;
mod doctor;
mod exchange;
mod explain;
mod groups;
mod limits;
mod loop_control;
mod loop_model;
mod query;
mod report;
mod shared;
mod show;
mod stream;
mod tune;

#[cfg(feature = "loop")]
pub use closed_loop::LoopArgs;
pub use compare::{CompareArgs, TableFormat};
pub use control::ControlArgs;
pub use deadline::DeadlineArgs;
pub use devices::DevicesArgs;
pub use doctor::DoctorArgs;
pub use exchange::{ConnectArg, ExchangeArgs, TimestampsArg, WaitArg};
pub use explain::ExplainArgs;
pub use limits::{LimitsArgs, MediumArg};
pub use loop_control::LoopControlArgs;
pub use loop_model::{MissArgs, ModelArgs};
pub use query::QueryArgs;
pub use report::{FigureFormat, ReportArgs};
pub use shared::{
    ExchangeProtocolArg, HostArgs, KeepArgs, Look, PointArgs, ProtocolArg, Undecided, UndecidedArg,
    protocol_of,
};
pub use show::{ShowArgs, ShowFormat};
pub use stream::{StreamArgs, StreamProtocolArg, StreamTypeArg};
pub use tune::TuneArgs;
pub use wiregauge_program::flags::{CanArgs, ForceArg};

use crate::values;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

const OVERVIEW: &str = "\
Measures the link between a computer and a device: round-trip time, jitter, throughput and
losses, and how they depend on message size and queue depth.

IN and OUT are seen from the host, as in USB. Sizes are in bytes and include the header.

Exit codes: 0 success, 1 a limit (--require, --subject-to, --fail-if) was missed, or is undecided
(--undecided pass: then 0), 2 usage error, 3 the link or the storage failed, 130 interrupted.
Whatever ends a run, at most the last second of samples is missing.";

/// Below the options in the help of the program.
const HELP: &str = "\
Examples:
  wiregauge demo
  wiregauge devices
  wiregauge exchange /dev/ttyACM0 --protocol echo --out 64 --depth 1,2,4
  wiregauge report last -o report.html

Help of a command: wiregauge help COMMAND; of a warning: wiregauge help W07.
All warnings: wiregauge help warnings.";

/// Below the flags in the help of `wiregauge runs`.
const RUNS: &str = "\
Examples:
  wiregauge runs
  WIREGAUGE_RUNS=./runs wiregauge runs --json

Lists the runs in ~/.local/share/wiregauge/runs, or in $WIREGAUGE_RUNS. A run that was stored in
another directory (--store DIR) is not listed; name it by that directory. The run that `wiregauge
tune` confirmed its setting with is listed as what it is, exchange or stream.";

/// Measure the link between a computer and a device, as fio measures disks.
#[derive(Debug, Parser)]
#[command(name = "wiregauge", version, long_about = OVERVIEW, max_term_width = 100,
          after_help = HELP, help_template = groups::template())]
pub struct Arguments {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// What a user types to start a responder, before its address.
pub const SERVE: &str = "wiregauge serve";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure request/response exchanges: RTT, jitter, throughput, losses.
    #[command(after_help = exchange::EXAMPLES)]
    Exchange(Box<ExchangeArgs>),
    /// Measure one-way data streams: rates, losses, gaps, buffer sizes.
    #[command(after_help = stream::EXAMPLES)]
    Stream(Box<StreamArgs>),
    /// Measure the latency of a digitizer-to-generator loop (acquire, process, output).
    #[cfg(feature = "loop")]
    #[command(after_help = closed_loop::EXAMPLES)]
    Loop(Box<LoopArgs>),
    /// Find the best settings and confirm them with a new run.
    #[command(after_help = tune::EXAMPLES)]
    Tune(Box<TuneArgs>),
    /// Run a responder, the other end of a link.
    #[command(after_help = wiregauge_serve::examples(SERVE))]
    Serve(Box<wiregauge_serve::ServeArgs>),
    /// Show a stored run as tables: text, Markdown, LaTeX, CSV, JSON.
    #[command(after_help = show::EXAMPLES)]
    Show(ShowArgs),
    /// Explain what limits a run, and predict other settings.
    #[command(after_help = explain::EXAMPLES)]
    Explain(ExplainArgs),
    /// Report how often a control loop would miss its deadline.
    #[command(after_help = deadline::EXAMPLES)]
    Deadline(DeadlineArgs),
    /// Report what the measured delays do to a control loop: stability, cost, step response.
    #[command(after_help = control::EXAMPLES)]
    Control(Box<ControlArgs>),
    /// Close a control loop over a link with a device that simulates the plant.
    #[command(after_help = loop_control::EXAMPLES)]
    LoopControl(Box<LoopControlArgs>),
    /// Make an HTML report of one or more runs, or write their figures to files.
    #[command(after_help = report::EXAMPLES)]
    Report(ReportArgs),
    /// Compare stored runs, with confidence intervals.
    #[command(after_help = compare::EXAMPLES)]
    Compare(CompareArgs),
    /// Find and fix what slows down this host and its connection to a device.
    #[command(after_help = doctor::EXAMPLES)]
    Doctor(DoctorArgs),
    /// Compute the maximum throughput of USB, serial lines, CAN, TCP and UDP.
    #[command(after_help = limits::EXAMPLES)]
    Limits(LimitsArgs),
    /// List stored runs.
    #[command(after_help = RUNS)]
    Runs(RunsArgs),
    /// Export a stored run as CSV, Parquet or JSON.
    #[command(
        after_help = "Examples:\n  wiregauge export last --csv echo.csv\n  wiregauge export last --parquet all.parquet\n  wiregauge export last --json -",
        override_usage = "wiregauge export <RUN> <--csv [FILE]|--parquet FILE|--json [FILE]> [OPTIONS]"
    )]
    Export(ExportArgs),
    /// List USB, HID and USBTMC devices, CAN interfaces, serial ports and network responders.
    #[command(after_help = devices::EXAMPLES)]
    Devices(DevicesArgs),
    /// 30-second demo, no hardware needed.
    #[command(after_help = "Example:\n  wiregauge demo")]
    Demo(DemoArgs),
    /// Print a shell completion script.
    #[command(
        after_help = "Example:\n  wiregauge completions bash > ~/.local/share/bash-completion/completions/wiregauge"
    )]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write the man pages to a directory.
    #[command(
        after_help = "Example:\n  wiregauge man ~/.local/share/man/man1 --force && man wiregauge-exchange"
    )]
    Man {
        /// The directory; created if missing.
        directory: PathBuf,
        #[command(flatten)]
        #[allow(missing_docs)]
        force: ForceArg,
    },
}

/// `wiregauge runs`.
#[derive(Debug, Args)]
pub struct RunsArgs {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `wiregauge export`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("format").required(true).multiple(true).args(["csv", "parquet", "json"]))]
pub struct ExportArgs {
    /// A stored run: its directory, its name or the beginning of it, or `last`.
    pub run: String,
    /// One row per exchange; `-` (or no value) for standard output.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub csv: Option<PathBuf>,
    /// All samples in one Parquet file.
    #[arg(long, value_name = "FILE", value_parser = values::file())]
    pub parquet: Option<PathBuf>,
    /// Plan, conditions and summaries; `-` (or no value) for standard output.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// With --csv: also the bytes of each answer, in hexadecimal, if the run kept them.
    #[arg(long, requires = "csv")]
    pub data: bool,
    /// With --json, of an exchange run: compute the figures again from the stored samples.
    #[arg(long, requires = "json")]
    pub recompute: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub force: ForceArg,
}

/// `wiregauge demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Store the runs in this directory [default: with the other stored runs].
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
}
