//! The flags of `wiregauge stream`.

use super::shared::same_as;
use super::{HostArgs, KeepArgs, Look, UndecidedArg};
use crate::constraint::{self, Constraint};
use crate::values::{self, Sizes};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;
use wiregauge_record::{Direction, Pattern, StreamProtocol};

/// Below the flags in its help.
pub const EXAMPLES: &str = "\
Examples:
  # what is the throughput in each direction, and in both at once?
  wiregauge stream tcp://10.0.0.5:7700 --direction in,out,both

  # a board on USB-CDC: what do small writes cost?
  wiregauge stream serial:///dev/ttyACM0 --direction out --transfer 1,64,4096

  # a USB device: where does the time go?
  wiregauge stream usb://1d6b:0104 --transfer 64,512,4k,64k --queue 1,4 --usbmon
  wiregauge explain last

  # how much buffer does the device need to lose nothing at 500 kB/s?
  wiregauge stream tcp://10.0.0.5:7700 --direction in --transfer 4k \\
    --duration 10s --rate 500kB/s

  # two devices: each alone, then both at once
  wiregauge stream tcp://10.0.0.5:7700 tcp://10.0.0.6:7700 --direction in

  # a sketch that only prints: how many bytes per second arrive?
  wiregauge stream serial:///dev/ttyACM0 --protocol raw --direction in

  # an isochronous source that fills every packet: are all there, and in time?
  wiregauge stream usb://1d6b:0104 --type isochronous --packet 192 --queue 8 --require missed=0

  # record what a digitizer sends
  wiregauge stream tcp://10.0.0.5:7700 --direction in --transfer 64k --duration 60s \\
    --record samples.bin

  # in a script: exit code 1 if a limit is missed
  wiregauge stream tcp://10.0.0.5:7700 --require 'in.rate>1MB/s' \\
    --require lost=0 --require 'gap.max<5ms'

Lists: 48,100,200 or 500..8000:500 (steps of 500). A..B without a step doubles: 64..512 is
64,128,256,512. k = 1024 in sizes, 1000 in rates.";

/// `--direction`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DirectionArg {
    /// Device to host.
    In,
    /// Host to device.
    Out,
    /// Both at once.
    Both,
}

same_as!(DirectionArg => Direction: In, Out, Both);

/// `--protocol`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StreamProtocolArg {
    /// A responder starts and ends the stream, and both ends count.
    Wiregauge,
    /// Any device: it sends or takes data on its own, and this host counts.
    Raw,
}

same_as!(StreamProtocolArg => StreamProtocol: Wiregauge, Raw);

/// `--type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StreamTypeArg {
    /// At fixed intervals, not acknowledged.
    Isochronous,
}

/// `--pattern`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PatternArg {
    /// All bytes are 0.
    Zeros,
    /// Position modulo 63, restarted with each USB packet and datagram (Linux usbtest, gadget zero).
    Mod63,
    /// 0 to 255, repeated.
    Counter,
}

same_as!(PatternArg => Pattern: Zeros, Mod63, Counter);

/// `wiregauge stream`.
#[derive(Debug, Args)]
pub struct StreamArgs {
    /// The device: tcp://HOST:PORT, udp://HOST:PORT, unix://PATH, serial://PATH, usb://VID:PID, null://
    /// (no device: measures this host). Several devices are measured one at a time, then all at once.
    #[arg(required = true, value_name = "ADDRESS", value_parser = values::address)]
    pub addresses: Vec<String>,

    /// wiregauge: the device runs a responder. raw: any device that sends or takes data on its own
    /// [default: wiregauge; isochronous raw].
    #[arg(long, value_enum)]
    pub protocol: Option<StreamProtocolArg>,
    /// Direction of the data [default: in,out; isochronous in].
    #[arg(long, value_enum, value_delimiter = ',')]
    pub direction: Vec<DirectionArg>,
    /// USB on Linux: kind of transfer, if it is not bulk or interrupt (which the address names: #type=interrupt).
    /// An isochronous stream counts the packets and the (micro)frames missed.
    #[arg(long = "type", value_name = "TYPE", value_enum, requires = "packet")]
    pub transfer_type: Option<StreamTypeArg>,
    /// Bytes per isochronous packet, one in each interval of the endpoint; its wMaxPacketSize at most.
    #[arg(long, value_name = "BYTES", value_parser = values::size, requires = "transfer_type")]
    pub packet: Option<u32>,
    /// Bytes per transfer: one write, read, URB or datagram [default: 4k; isochronous 8 packets].
    #[arg(long, value_name = "LIST", value_parser = values::sizes)]
    pub transfer: Option<Sizes>,
    /// Number of transfers submitted at once, for links with a queue (USB) [default: 1; usb 4]. Check the
    /// achieved queue in the result.
    #[arg(long, value_name = "LIST", value_parser = values::depths)]
    pub queue: Option<Sizes>,
    /// Duration of each point.
    #[arg(long, value_name = "TIME", value_parser = values::duration, default_value = "2s")]
    pub duration: Duration,
    /// Start-up time before each point, excluded because buffers first fill at full speed.
    #[arg(long, value_name = "TIME", value_parser = values::duration, default_value = "200ms")]
    pub settle: Duration,
    /// Fail if no transfer completes for TIME.
    #[arg(long, value_name = "TIME", value_parser = values::duration, default_value = "1s")]
    pub timeout: Duration,
    /// Do not check the content of received data; only count bytes.
    #[arg(long)]
    pub no_check: bool,
    /// Bytes of a raw stream: those sent [default: zeros], and those expected with --check.
    #[arg(long, value_enum)]
    pub pattern: Option<PatternArg>,
    /// Check the received data of a raw stream against --pattern.
    #[arg(long, requires = "pattern", conflicts_with = "no_check")]
    pub check: bool,
    /// Compute the buffer that the device needs at these constant rates, such as 24MB/s or 8Mbit/s (does not
    /// limit the stream).
    #[arg(long, value_name = "RATES", value_parser = values::byte_rate, value_delimiter = ',')]
    pub rate: Vec<u64>,
    /// Also compute the buffer for this loss probability (with --rate).
    #[arg(long, value_name = "P", value_parser = values::share, default_value = "1e-6", requires = "rate")]
    pub loss: f64,
    /// Exit with code 1 unless every point meets this limit, such as rate>1MB/s, lost=0, gap.max<5ms;
    /// the prefix in. or out. restricts it to one direction.
    #[arg(long, value_name = "LIMIT", value_parser = constraint::of_streams)]
    pub require: Vec<Constraint>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub undecided: UndecidedArg,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub host: HostArgs,

    /// Baud rate of a serial line [default: unchanged].
    #[arg(long, help_heading = "Link")]
    pub baud: Option<u32>,
    /// Serial: leave the driver's low_latency flag unchanged [default: set during the run; with it an FTDI adapter's
    /// latency timer is 1 ms].
    #[arg(long, help_heading = "Link")]
    pub no_low_latency: bool,
    /// USB on Linux: record when the kernel submitted and completed each transfer, for `wiregauge explain`.
    /// Needs the usbmon module and read permission on /dev/usbmonN.
    #[arg(long, help_heading = "Link")]
    pub usbmon: bool,

    /// Also write the received bytes to FILE, start-up included; `-` is standard output. Only for one point that
    /// receives. If the storage is slower than the link, the receiver waits, and the result says how long.
    #[arg(long, value_name = "FILE", help_heading = "Result")]
    pub record: Option<PathBuf>,
    /// Also write a CSV file with one row per transfer.
    #[arg(long, value_name = "FILE", value_parser = values::file(), help_heading = "Result")]
    pub csv: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub keep: KeepArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub look: Look,
}
