//! The flags of `wiregauge exchange`.

use super::shared::same_as;
use super::{CanArgs, ExchangeProtocolArg, HostArgs, KeepArgs, Look, QueryArgs, UndecidedArg};
use crate::constraint::{self, Constraint};
use crate::values::{self, Count, Sizes};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;
use wiregauge_limits::Framing;
use wiregauge_record::{Connect, Wait};

/// Below the flags in its help.
pub const EXAMPLES: &str = "\
Examples:
  # a device with the wiregauge protocol: responses of 48 to 8000 B, depths 1, 2 and 4
  wiregauge exchange tcp://10.0.0.5:7700 --in 48,100,200,500..8000:500 \\
    --out 16 --count 10000 --depth 1,2,4

  # any UDP echo server, one exchange every 300 ms, one CSV row per exchange
  wiregauge exchange udp://10.0.0.5:7 --protocol echo --out 1,10,20,50,100,200,500 \\
    --count 50 --interval 300ms --csv echo.csv

  # a new connection for each exchange: connection, access and transfer time separately
  wiregauge exchange tcp://10.0.0.5:7 --protocol echo --connect each --out 100

  # a board on USB-CDC: how many exchanges finish within 6 ms and 10 ms?
  wiregauge exchange serial:///dev/ttyACM0 --in 100,2000 --depth 1,2,4 --below 6ms,10ms

  # an instrument: identification and a reading in turn; its error queue is read afterwards
  wiregauge exchange tcp://10.0.0.7:5025 --protocol scpi --send '*IDN?' --send 'READ?'

  # a device that answers text: replies end with \\r\\n and must be numbers
  wiregauge exchange serial:///dev/ttyUSB0 --baud 9600 --protocol text --send 'T?\\r' \\
    --until '\\r\\n' --expect '^-?[0-9.]+$'

  # a drive on Modbus: read 10 holding registers from 100, write one
  wiregauge exchange serial:///dev/ttyUSB0 --baud 19200 --protocol modbus --unit 1 \\
    --read holding:100+10 --write 40:1500

  # USB endpoints side by side; and any USB device, by a standard request
  wiregauge exchange 'usb://1d6b:0104#type=bulk' 'usb://1d6b:0104#type=control'
  wiregauge exchange usb://046d:c077 --protocol get-status

  # an ECU: read its part number by UDS (service 22, data identifier f187)
  wiregauge exchange can://can0 --isotp --request-id 7e0 --response-id 7e8 \\
    --protocol text --send '\\x22\\xf1\\x87' --expect '^\\x62'

  # in a script: exit code 1 if a limit is missed
  wiregauge exchange tcp://10.0.0.5:7700 --rate 1000 --duration 10s \\
    --require 'p99<2ms' --require 'lost<0.1%'

Lists: 48,100,200 or 500..8000:500 (steps of 500). A..B without a step doubles: 64..512 is
64,128,256,512. k = 1024 in sizes.

jitter: standard deviation (SD) of the RTT. TRT: time from the start of one exchange to the
start of the next; --full shows its mean. per s: correct responses divided by the measured
time, which ends with the last response; with few or lost exchanges it is below 1 / mean TRT.
A limit of --require is met if the whole 95 % interval of the figure is within it, missed if
all of it is beyond, undecided if the interval contains it: then use a longer run, or
--undecided pass.
Figures for --require: p50, p99, p99.9, mean, max, trt, lost, in-throughput and others:
all in `wiregauge help tune` (documentation: docs/tune.md). With --interval or --rate p99
counts from the intended start; rtt.p99 counts from the real start, as the table does.";

/// `--connect`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ConnectArg {
    /// One link for the whole run.
    Once,
    /// A new link for each exchange.
    Each,
}

same_as!(ConnectArg => Connect: Once, Each);

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

same_as!(WaitArg => Wait: Block, Poll, Spin);

/// `--timestamps`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TimestampsArg {
    /// Those of the kernel's network stack.
    Kernel,
}

/// `wiregauge exchange`.
#[derive(Debug, Args)]
pub struct ExchangeArgs {
    /// The device: tcp://HOST:PORT, udp://HOST:PORT, unix://PATH, serial://PATH, usb://VID:PID, hid://VID:PID,
    /// usbtmc:///dev/usbtmc0 or usbtmc://VID:PID, can://IFACE, null:// (no device: measures this host). Several devices
    /// are measured one at a time, then all at once.
    #[arg(required = true, value_name = "ADDRESS", value_parser = values::address)]
    pub addresses: Vec<String>,

    /// Wire protocol of the device [default: wiregauge; echo for null:// and CAN frames].
    #[arg(long, value_enum)]
    pub protocol: Option<ExchangeProtocolArg>,
    /// Request sizes in bytes [default: 16; with echo 64].
    #[arg(long, value_name = "LIST", value_parser = values::sizes)]
    pub out: Option<Sizes>,
    /// Response sizes in bytes [default: 48; with echo as --out; lines have any size].
    #[arg(long = "in", value_name = "LIST", value_parser = values::sizes)]
    pub in_: Option<Sizes>,
    /// Requests outstanding at the same time. The result prints the mean ("achieved depth").
    #[arg(long, value_name = "LIST", value_parser = values::depths, default_value = "1")]
    pub depth: Sizes,
    /// Maximum requests per system call [default: chosen by a short test; 1 over UDP and USB].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub batch: Option<u32>,
    /// Number of exchanges at each point [default: 1000].
    #[arg(long, value_name = "N", value_parser = values::positive_count, conflicts_with = "duration")]
    pub count: Option<Count>,
    /// Duration of each point, instead of a number of exchanges.
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub duration: Option<Duration>,
    /// Number of exchanges at each point that are stored but excluded from the statistics; the first one is
    /// always reported separately.
    #[arg(long, value_name = "N", value_parser = values::count, default_value = "0")]
    pub warmup: Count,
    /// Start an exchange every TIME; also report the latency from the intended start (corrects coordinated
    /// omission).
    #[arg(long, value_name = "TIME", value_parser = values::duration, conflicts_with = "rate")]
    pub interval: Option<Duration>,
    /// The same, as exchanges per second.
    #[arg(long, value_name = "N", value_parser = values::rate)]
    pub rate: Option<Duration>,
    /// An exchange without an answer after TIME is lost.
    #[arg(long, value_name = "TIME", value_parser = values::duration, default_value = "1s")]
    pub timeout: Duration,
    /// Stop after N consecutive losses per outstanding request (after 3 if no exchange has been
    /// answered yet).
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub give_up: u32,
    /// Open the link once, or for each exchange.
    #[arg(long, value_enum, default_value = "once")]
    pub connect: ConnectArg,
    /// Report the percentage of exchanges below each of these times.
    #[arg(long, value_name = "TIMES", value_parser = values::duration, value_delimiter = ',')]
    pub below: Vec<Duration>,
    /// Exit with code 1 unless every point meets this limit, such as p99<2ms, lost<0.1%, trt<3ms.
    #[arg(long, value_name = "LIMIT", value_parser = constraint::of_exchanges)]
    pub require: Vec<Constraint>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub undecided: UndecidedArg,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub query: QueryArgs,

    /// How the measuring thread waits for an answer.
    #[arg(long, value_enum, default_value = "block", help_heading = "Host")]
    pub wait: WaitArg,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub host: HostArgs,
    /// Do not measure the floor before and after the run: the RTT of a local echo, without the device.
    #[arg(long, help_heading = "Host")]
    pub no_calibration: bool,

    /// Baud rate of a serial line [default: unchanged].
    #[arg(long, help_heading = "Link")]
    pub baud: Option<u32>,
    /// Data bits, parity and stop bits of a serial line, such as 8E1 [default: 8N1].
    #[arg(long, value_name = "FRAMING", help_heading = "Link")]
    pub framing: Option<Framing>,
    /// Serial: leave the driver's low_latency flag unchanged [default: set during the run; with it an FTDI adapter's
    /// latency timer is 1 ms].
    #[arg(long, help_heading = "Link")]
    pub no_low_latency: bool,
    /// TCP: acknowledge at once (costs one system call per read).
    #[arg(long, help_heading = "Link")]
    pub quick_ack: bool,
    /// USB on Linux, also a serial port on USB: divide the RTT into host, bus and device, by the kernel's record of
    /// each URB. Needs the usbmon module and read permission on /dev/usbmonN.
    #[arg(long, help_heading = "Link")]
    pub usbmon: bool,
    /// TCP and UDP: divide the RTT into host and network, by the kernel's time stamps (SO_TIMESTAMPING; one more
    /// system call per exchange, at depth 1 outside the RTT).
    #[arg(long, value_enum, value_name = "SOURCE", help_heading = "Link")]
    pub timestamps: Option<TimestampsArg>,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub can: CanArgs,
    /// Measure how long each response waits between the kernel and wiregauge (SO_TIMESTAMPNS).
    #[arg(long, help_heading = "CAN")]
    pub kernel_wait: bool,

    /// Also write a CSV file with one row per exchange.
    #[arg(long, value_name = "FILE", value_parser = values::file(), help_heading = "Result")]
    pub csv: Option<PathBuf>,
    /// Store the bytes of every answer with its sample (and in the CSV file).
    #[arg(long, help_heading = "Result")]
    pub keep_data: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub keep: KeepArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub look: Look,
}
