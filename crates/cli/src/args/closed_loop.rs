//! The flags of `wiregauge loop`.

use super::{HostArgs, KeepArgs, Look};
use crate::stage_list::{self, PathList, SampleRates, StageList};
use crate::values::{self, Sizes};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;
use wiregauge_record::LoopWait;

/// Below the flags in its help.
pub const EXAMPLES: &str = "\
Examples:
  # no hardware: how short can the loop of a 125 MS/s digitizer be on this computer?
  wiregauge loop virtual --rate 125M --notify 64k

  # the same, then test the preload found for one minute
  wiregauge loop virtual --rate 125M --channels 1 --notify 64k --hold 60s

  # several rates, block sizes and stages
  wiregauge loop virtual --rate 62.5M,125M,250M,500M --notify 4k..256k \\
    --process copy,fir:64

  # on a GPU over several paths, and on the CPU
  wiregauge loop virtual --rate 125M --notify 64k..1M \\
    --gpu=cpu,pinned,graph,mapped,persistent

  # with real-time priority, sleep until 50 us before each block
  sudo wiregauge loop virtual --rate 125M --notify 64k --priority 50 \\
    --wait hybrid:50us

  # a virtual device in its own process with shared memory, like a driver daemon
  wiregauge loop virtual:process --rate 10M --notify 64k

  # a sound card with its output wired to its input, in blocks of 64 stereo frames
  wiregauge loop alsa:hw:0 --rate 48k --channels 2 --notify 256 --find

Terms: the preload is the number of bytes of silence that the output starts with; it
determines the latency of the loop. A block (--notify) is what the device hands over at once. A
stall is an overrun (input lost) or an underrun (output without data). The duty is the share of
the time that processing takes.
Sizes: 64k is 65,536 bytes; lists as 16k,64k or 4k..256k (doubling). Rates are samples/s
of each channel, 16 bits each.";

/// `wiregauge loop`.
#[derive(Debug, Args)]
pub struct LoopArgs {
    /// The digitizer and generator: virtual, virtual:thread, virtual:process, or a sound card such as
    /// alsa:hw:0
    #[arg(value_name = "DEVICE")]
    pub device: String,

    /// Sample rate of each channel in samples/s, such as 48k or 62.5M.
    #[arg(long, value_name = "LIST", value_parser = stage_list::sample_rates, default_value = "125M")]
    pub rate: SampleRates,
    /// Number of channels, interleaved, 16 bits each.
    #[arg(long, value_name = "LIST", value_parser = values::sizes, default_value = "1")]
    pub channels: Sizes,
    /// Block size in bytes: the device hands over whole blocks.
    #[arg(long, value_name = "LIST", value_parser = values::sizes, default_value = "64k")]
    pub notify: Sizes,
    /// Size of each ring buffer in bytes [default: a quarter of a second of data; virtual: 1 MiB to 256
    /// MiB].
    #[arg(long, value_name = "BYTES", value_parser = values::size)]
    pub ring: Option<u32>,
    /// Do not search: run with a preload of this many bytes and count stalls.
    #[arg(long, value_name = "BYTES", value_parser = values::size, conflicts_with_all = ["find", "hold"])]
    pub preload: Option<u32>,
    /// Processing stages, in this order: copy, gain:0.5, fir:64, biquad:0.1, threshold:0.2.
    #[arg(long, value_name = "STAGES", value_parser = stage_list::stages, default_value = "copy")]
    pub process: StageList,
    /// Process the blocks on a GPU (CUDA), over these paths: pageable, pinned, streams:4, graph, mapped,
    /// persistent; cpu for comparison. Without a list: all GPU paths.
    #[arg(long, value_name = "LIST", value_parser = stage_list::paths, num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    pub gpu: Option<PathList>,
    /// With --gpu: number of the GPU, as its driver counts.
    #[arg(long, value_name = "N", requires = "gpu", default_value_t = 0)]
    pub gpu_device: u32,
    /// How to wait for a block: sleep, spin, or hybrid:50us (sleep, then spin for the last 50 us).
    #[arg(long, value_name = "HOW", value_parser = stage_list::loop_wait, default_value = "sleep")]
    pub wait: LoopWait,
    /// Duration of each point.
    #[arg(long, value_name = "TIME", value_parser = values::duration, default_value = "10s")]
    pub duration: Duration,
    /// Start-up time before each point, excluded from all figures.
    #[arg(long, value_name = "TIME", value_parser = values::duration, default_value = "200ms")]
    pub settle: Duration,
    /// After the measurement, run with the shortest preload that it found, and with longer ones until one has no
    /// stall.
    #[arg(long)]
    pub find: bool,
    /// How long a preload must run without a stall; implies --find [default: --duration].
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub hold: Option<Duration>,
    /// Do not measure the floor of this host, its memory bandwidth and the single stages.
    #[arg(long)]
    pub no_calibration: bool,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub host: HostArgs,

    /// Also write a CSV file with one row per block.
    #[arg(long, value_name = "FILE", value_parser = values::file(), help_heading = "Result")]
    pub csv: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub keep: KeepArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub look: Look,
}
