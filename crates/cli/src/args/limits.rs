//! The flags of `wiregauge limits`.

use super::shared::same_as;
use crate::values::{self, Sizes};
use clap::{Args, ValueEnum};
use std::time::Duration;
use wiregauge_limits::{Framing, Speed, Transfer};

/// Below the flags in its help.
pub const EXAMPLES: &str = "\
Examples:
  wiregauge limits                                         # all media
  wiregauge limits usb --speed full --type bulk
  wiregauge limits usb --speed full --type bulk --packet 8..64 --out 16 --in 100
  wiregauge limits usb --speed high --type interrupt --packet 64 --interval 1ms
  wiregauge limits uart --baud 115200,921600 --framing 8E1
  wiregauge limits uart --baud 19200 --framing 8E1 --protocol modbus --read 10
  wiregauge limits can --bitrate 500k --data-bitrate 2M --bytes 8,64
  wiregauge limits tcp --rate 10M --payload 48,1k,64k
  wiregauge limits udp --rate 100M,1G --ipv6 --vlan --payload 64

Upper limits: no other traffic on the medium, no delay in host or device.
Formulas and sources: documentation, docs/limits.md.";

/// The medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MediumArg {
    /// A USB endpoint.
    Usb,
    /// A serial line.
    Uart,
    /// A CAN bus.
    Can,
    /// TCP over Ethernet.
    Tcp,
    /// UDP over Ethernet.
    Udp,
}

/// `--protocol` of a serial line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LineProtocolArg {
    /// Modbus RTU.
    Modbus,
}

/// `--speed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SpeedArg {
    /// 1.5 Mbit/s.
    Low,
    /// 12 Mbit/s.
    Full,
    /// 480 Mbit/s.
    High,
    /// 5 Gbit/s, USB 3.2 Gen 1.
    #[value(name = "5G", alias = "super", alias = "5g")]
    Super5,
    /// 10 Gbit/s, USB 3.2 Gen 2.
    #[value(name = "10G", alias = "10g")]
    Super10,
    /// 20 Gbit/s, USB 3.2 Gen 2x2.
    #[value(name = "20G", alias = "20g")]
    Super20,
}

same_as!(SpeedArg => Speed: Low, Full, High, Super5, Super10, Super20);

/// `--type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TransferArg {
    /// Setup, data, status.
    Control,
    /// At fixed intervals, acknowledged.
    Interrupt,
    /// At fixed intervals, not acknowledged.
    Isochronous,
    /// Whenever the bus is free.
    Bulk,
}

same_as!(TransferArg => Transfer: Control, Interrupt, Isochronous, Bulk);

/// `wiregauge limits`.
#[derive(Debug, Args)]
pub struct LimitsArgs {
    /// The medium [default: an overview of all media].
    #[arg(value_enum)]
    pub medium: Option<MediumArg>,
    /// Request size in bytes, for the shortest exchange time (with --in).
    #[arg(long = "out", value_name = "BYTES", value_parser = values::size, requires = "in_size")]
    pub out_size: Option<u32>,
    /// Response size in bytes.
    #[arg(long = "in", value_name = "BYTES", value_parser = values::size, requires = "out_size")]
    pub in_size: Option<u32>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,

    /// Bus speed [default: all].
    #[arg(long, value_enum, ignore_case = true, help_heading = "USB")]
    pub speed: Option<SpeedArg>,
    /// Transfer type [default: all].
    #[arg(long = "type", value_name = "TYPE", value_enum, help_heading = "USB")]
    pub transfer: Option<TransferArg>,
    /// Data bytes per packet, a list [default: the maximum].
    #[arg(long, value_name = "BYTES", value_parser = values::sizes, help_heading = "USB")]
    pub packet: Option<Sizes>,
    /// Packets per interval of an interrupt or isochronous endpoint [default: the maximum].
    #[arg(long, value_name = "N", help_heading = "USB")]
    pub packets: Option<u32>,
    /// Polling interval of an interrupt or isochronous endpoint [default: the shortest].
    #[arg(long, value_name = "TIME", value_parser = values::duration, help_heading = "USB")]
    pub interval: Option<Duration>,

    /// Baud rates, a list [default: 9600 to 3000000].
    #[arg(
        long,
        value_name = "BAUD",
        value_delimiter = ',',
        help_heading = "UART"
    )]
    pub baud: Vec<u32>,
    /// Data bits, parity, stop bits [default: 8N1].
    #[arg(long, value_name = "FRAMING", help_heading = "UART")]
    pub framing: Option<Framing>,
    /// A protocol on the line, for the shortest time of its exchange.
    #[arg(
        long,
        value_enum,
        value_name = "PROTOCOL",
        requires = "read",
        help_heading = "UART"
    )]
    pub protocol: Option<LineProtocolArg>,
    /// Modbus: registers read by one request.
    #[arg(long, value_name = "N", requires = "protocol", help_heading = "UART",
          value_parser = clap::value_parser!(u8).range(1..=125))]
    pub read: Option<u8>,

    /// Bit rates, a list [default: 125k,250k,500k,1M].
    #[arg(long, value_name = "RATE", value_parser = values::bit_rate, value_delimiter = ',', help_heading = "CAN")]
    pub bitrate: Vec<u64>,
    /// Bit rate of the data phase of CAN FD; also print frames of CAN FD [default: classic frames only].
    #[arg(long, value_name = "RATE", value_parser = values::bit_rate, help_heading = "CAN")]
    pub data_bitrate: Option<u64>,
    /// Data bytes of a frame, a list [default: the maximum].
    #[arg(long, value_name = "BYTES", value_parser = values::sizes, help_heading = "CAN")]
    pub bytes: Option<Sizes>,

    /// Bit rates, a list such as 10M,1G [default: 10M,100M,1G].
    #[arg(long, value_name = "RATE", value_parser = values::bit_rate, value_delimiter = ',', help_heading = "Ethernet")]
    pub rate: Vec<u64>,
    /// MTU: largest IP packet in bytes [default: 1500].
    #[arg(long, value_name = "BYTES", value_parser = values::size, help_heading = "Ethernet")]
    pub mtu: Option<u32>,
    /// Message sizes in bytes, a list; each message is sent separately [default: a stream of full frames].
    #[arg(long, value_name = "BYTES", value_parser = values::sizes, help_heading = "Ethernet")]
    pub payload: Option<Sizes>,
    /// Use IPv6 instead of IPv4.
    #[arg(long, help_heading = "Ethernet")]
    pub ipv6: bool,
    /// Frames have a VLAN tag.
    #[arg(long, help_heading = "Ethernet")]
    pub vlan: bool,
    /// TCP without timestamps (Linux uses them by default).
    #[arg(long, help_heading = "Ethernet")]
    pub no_timestamps: bool,
}
