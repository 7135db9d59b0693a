//! The flags of a responder, declared once: parser and help come from here.

mod gadget;
mod plant;
mod usb_virtual;

pub use gadget::GadgetArgs;
pub use plant::PlantArgs;
pub use usb_virtual::{ProfileArg, VirtualArgs};

use crate::values::{max_size, often, stall};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;
use wiregauge_program::flags::{CanArgs, ForceArg};
use wiregauge_program::values::{duration, host_load};
use wiregauge_record::{HostLoad, Protocol};
use wiregauge_responder::FaultRate;

/// Below the flags in the help. `program` is what a user types before the address.
pub fn examples(program: &str) -> String {
    EXAMPLES.replace("PROGRAM", program)
}

const EXAMPLES: &str = "\
Examples:
  PROGRAM tcp://127.0.0.1:7700
  PROGRAM udp://0.0.0.0:7700                  # reachable from other hosts
  PROGRAM pty:/tmp/board --bus full-speed --service-time 700us
  PROGRAM pty:/tmp/board --profile at91sam3u-ehci
  PROGRAM --profile list
  PROGRAM tcp://:0 --drop 1% --stall every=1000:400ms --seed 7
  PROGRAM pty:/tmp/servo --plant '1000/(s^2+s)' --noise 1 --input-limits=-10..10
  PROGRAM can://vcan0 --request-id 7e0 --response-id 7e8 --bitrate 500k
  sudo PROGRAM usb-gadget --function bulk,acm # this computer becomes a USB device
  sudo PROGRAM usb-virtual --speed full       # a virtual USB device on this computer
  sudo PROGRAM usb-virtual --trace bus.pcapng # and every packet of its bus in a file
  sudo PROGRAM uhid --protocol echo           # a virtual HID device on this computer

Without a host the responder listens on loopback; port 0 selects a free port. RATE is a
probability (1% or 0.01) or every=N, such as every=100.";

/// `--protocol`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ServeProtocolArg {
    /// Echo all data; also works with `--protocol lines`.
    Echo,
    /// The wiregauge protocol.
    Wiregauge,
    /// An instrument: *IDN?, READ?, CURV? N (block data), SYST:ERR?.
    Scpi,
    /// Modbus TCP, or RTU on serial lines: unit 1, 10,000 registers and coils.
    Modbus,
}

impl From<ServeProtocolArg> for Protocol {
    fn from(arg: ServeProtocolArg) -> Protocol {
        match arg {
            ServeProtocolArg::Echo => Protocol::Echo,
            ServeProtocolArg::Wiregauge => Protocol::Wiregauge,
            ServeProtocolArg::Scpi => Protocol::Scpi,
            ServeProtocolArg::Modbus => Protocol::Modbus,
        }
    }
}

/// `--bus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BusArg {
    /// USB full speed: frames of 1 ms, 19 packets of 64 B.
    FullSpeed,
    /// USB high speed: microframes of 125 us, 13 packets of 512 B.
    HighSpeed,
}

/// An address to serve, and how.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Address to serve: tcp://HOST:PORT, udp://HOST:PORT, unix://PATH, serial://PATH, can://IFACE, pty: or pty:PATH,
    /// usb-gadget, usb-virtual, uhid
    #[arg(required_unless_present = "profile")]
    pub address: Option<String>,
    /// Wire protocol [default: wiregauge; echo for CAN frames, scpi for --function tmc].
    #[arg(long, value_enum)]
    pub protocol: Option<ServeProtocolArg>,
    /// Maximum number of simultaneous clients.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub max_clients: u32,
    /// Maximum size of a request or response in bytes, up to 16M.
    #[arg(long, value_name = "BYTES", value_parser = max_size, default_value = "1M")]
    pub max_size: u32,
    /// Name of the device, sent in its HELLO reply [default: from the model].
    #[arg(long)]
    pub name: Option<String>,
    /// Baud rate of a tty.
    #[arg(long)]
    pub baud: Option<u32>,

    /// Service time: time to process each exchange.
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Model")]
    pub service_time: Option<Duration>,
    /// Random addition to the service time, uniform from 0 to TIME.
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Model")]
    pub jitter: Option<Duration>,
    /// Model the timing of a USB bus.
    #[arg(long, value_enum, help_heading = "Model")]
    pub bus: Option<BusArg>,
    /// Write every packet of the modelled bus to a capture file, for Wireshark and `wiregauge explain FILE`.
    #[arg(long, value_name = "FILE.pcapng", help_heading = "Model")]
    pub trace: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Model")]
    #[allow(missing_docs)]
    pub force: ForceArg,

    /// Send no answer.
    #[arg(long, value_name = "RATE", value_parser = often, help_heading = "Faults")]
    pub drop: Option<FaultRate>,
    /// Flip a bit of the answer.
    #[arg(long, value_name = "RATE", value_parser = often, help_heading = "Faults")]
    pub corrupt: Option<FaultRate>,
    /// Send the answer twice.
    #[arg(long, value_name = "RATE", value_parser = often, help_heading = "Faults")]
    pub duplicate: Option<FaultRate>,
    /// Delay the answer by 5 ms, so that later ones overtake it.
    #[arg(long, value_name = "RATE", value_parser = often, help_heading = "Faults")]
    pub reorder: Option<FaultRate>,
    /// Drop a byte in the middle of the answer.
    #[arg(long, value_name = "RATE", value_parser = often, help_heading = "Faults")]
    pub lose_byte: Option<FaultRate>,
    /// Insert a byte in the middle of the answer.
    #[arg(long, value_name = "RATE", value_parser = often, help_heading = "Faults")]
    pub insert_byte: Option<FaultRate>,
    /// Stall for a time, such as every=1000:400ms.
    #[arg(long, value_name = "RATE:TIME", value_parser = stall, help_heading = "Faults")]
    pub stall: Option<(FaultRate, u64)>,
    /// Disconnect after N exchanges.
    #[arg(long, value_name = "N", help_heading = "Faults")]
    pub disconnect_after: Option<u64>,
    /// Random seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Synthetic load while serving: number of compute threads and of memory-copy threads.
    #[arg(long, value_name = "cpu=N,memory=N", value_parser = host_load)]
    pub device_load: Option<HostLoad>,
    /// Do not log connections.
    #[arg(long, short)]
    pub quiet: bool,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub plant: PlantArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub can: CanArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub gadget: GadgetArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub usb_virtual: VirtualArgs,
}
