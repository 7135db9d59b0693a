//! What a specification does not allow, with what it allows instead.

use crate::speed::{Speed, Transfer};
use wiregauge_quantity::exact_time;

/// Why there is no limit of what was asked for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The speed has no such transfers.
    #[error(
        "USB {} speed has no {} transfers (USB 2.0, 5.6.3 and 5.8.3); it has control and interrupt \
         transfers",
        speed.name(),
        transfer.name()
    )]
    Transfer {
        /// The speed.
        speed: Speed,
        /// The kind of transfer.
        transfer: Transfer,
    },
    /// Too much for one packet.
    #[error(
        "a packet of {asked} B is not allowed at {} speed, {}: {allowed} ({section})",
        speed.name(),
        transfer.name()
    )]
    Packet {
        /// The speed.
        speed: Speed,
        /// The kind of transfer.
        transfer: Transfer,
        /// The bytes that were asked for.
        asked: u32,
        /// What is allowed.
        allowed: String,
        /// Where that is written.
        section: &'static str,
    },
    /// More packets an interval than an endpoint may have.
    #[error(
        "{asked} packets of {bytes} B per interval are not allowed at {} speed, {}: {} ({why})",
        speed.name(),
        transfer.name(),
        if *most == 1 { "1".to_owned() } else { format!("1 to {most}") }
    )]
    Packets {
        /// The speed.
        speed: Speed,
        /// The kind of transfer.
        transfer: Transfer,
        /// The packets that were asked for.
        asked: u32,
        /// Bytes in each.
        bytes: u32,
        /// The most.
        most: u32,
        /// Under which condition there may be more.
        why: &'static str,
    },
    /// Only periodic endpoints have one.
    #[error(
        "{} transfers have no interval and no packets per interval: they use the remaining bandwidth (USB 2.0, \
         5.5.4 and 5.8.4)",
        transfer.name()
    )]
    NotPeriodic {
        /// The kind of transfer.
        transfer: Transfer,
    },
    /// An interval that no descriptor can ask for.
    #[error(
        "an interval of {} is not allowed at {} speed, {}: {allowed}",
        exact_time(*asked_ns),
        speed.name(),
        transfer.name()
    )]
    Interval {
        /// The speed.
        speed: Speed,
        /// The kind of transfer.
        transfer: Transfer,
        /// What was asked for, in nanoseconds.
        asked_ns: u64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// No framing of a serial line.
    #[error(
        "`{text}` is not a valid framing: use data bits 5 to 9, parity N, E, O, M or S, stop bits 1, 1.5 or 2, \
         such as 8N1 or 7E2"
    )]
    Framing {
        /// What was given.
        text: String,
    },
    /// No baud rate.
    #[error("0 baud is not valid")]
    Baud,
    /// No rate of Ethernet.
    #[error("0 bit/s is not valid")]
    Rate,
    /// An MTU that the Internet protocol does not work with.
    #[error("an MTU of {asked} B is not allowed over {}: {least} to 65535 ({section})", if *is_ipv6 { "IPv6" } else { "IPv4" })]
    Mtu {
        /// The bytes that were asked for.
        asked: u32,
        /// Over IPv6 rather than IPv4.
        is_ipv6: bool,
        /// The least.
        least: u32,
        /// Where that is written.
        section: &'static str,
    },
    /// A message of nothing.
    #[error("a message of 0 B is not valid: the minimum is 1 B")]
    Empty,
    /// More than one datagram carries.
    #[error("a {transport} message of {asked} B is not allowed: 1 to {most} B ({section})")]
    Payload {
        /// TCP or UDP.
        transport: &'static str,
        /// The bytes that were asked for.
        asked: u32,
        /// The most.
        most: u32,
        /// Where that is written.
        section: &'static str,
    },
    /// A bit rate that CAN does not have.
    #[error("{asked} bit/s is not a bit rate of CAN: 1 to 1M (ISO 11898-2)")]
    CanRate {
        /// Bits a second.
        asked: u32,
    },
    /// A bit rate that the data phase of CAN FD does not have.
    #[error(
        "{asked} bit/s is not a data bit rate of CAN FD at {nominal} bit/s: {nominal} to 8M (ISO 11898-1, CiA 601-4)"
    )]
    CanDataRate {
        /// Bits a second.
        asked: u32,
        /// Bits a second in arbitration.
        nominal: u32,
    },
    /// A payload that no frame has.
    #[error(
        "a CAN{} frame of {asked} B is not allowed: {}",
        if *fd { " FD" } else { "" },
        if *fd { "0 to 8, 12, 16, 20, 24, 32, 48 or 64 B (ISO 11898-1)" }
        else { "0 to 8 B (ISO 11898-1); CAN FD has up to 64 B" }
    )]
    CanPayload {
        /// The bytes that were asked for.
        asked: u32,
        /// In a frame of CAN FD.
        fd: bool,
    },
}
