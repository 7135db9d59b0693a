//! What is to be measured, resolved to the last default, so that a stored plan can be run again.

use crate::can::CanOptions;
use crate::grouped;
use crate::isochronous::IsochronousOptions;
use crate::names::names;
use crate::query::{ModbusLine, Queries, ReplyEnd};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::IpAddr;

/// What the two ends say to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Bytes come back as they were sent; works with any echo server.
    Echo,
    /// The frames of docs/protocol.md: sizes that differ, device timestamps, integrity.
    Wiregauge,
    /// A line of text is answered by a line of text; each ends with a newline.
    Lines,
    /// The queries of the plan, and replies that end where it says.
    Text,
    /// The queries of the plan, and replies of IEEE 488.2: lines and block data.
    Scpi,
    /// Modbus: registers and coils.
    Modbus,
    /// The standard request GET_STATUS of USB: one control transfer IN of 2 bytes.
    GetStatus,
}

names!(Protocol: Echo "echo", Wiregauge "wiregauge", Lines "lines", Text "text", Scpi "scpi",
    Modbus "modbus", GetStatus "get-status");

/// How often the link is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Connect {
    /// One link for the whole run.
    Once,
    /// A new link for each exchange; connection, access and transfer time are kept apart.
    Each,
}

names!(Connect: Once "once", Each "each");

/// When a point is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// After this many measured exchanges.
    Count(u64),
    /// After this many nanoseconds of measuring.
    DurationNs(u64),
}

/// When an exchange is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// As soon as fewer than `depth` are outstanding.
    AsFastAsPossible,
    /// One every so many nanoseconds. The schedule never slips: an exchange that starts late is
    /// also charged from its intended start (no coordinated omission).
    EveryNs(u64),
}

/// How the measuring thread waits for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wait {
    /// Sleep in the read itself: one system call, but a wake-up in every RTT.
    Block,
    /// Sleep in `poll`, then read: what most event loops do.
    Poll,
    /// Never sleep: read again and again. Costs one core, shows the wire without the scheduler.
    Spin,
}

names!(Wait: Block "block", Poll "poll", Spin "spin");

/// Load made on this host while it measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostLoad {
    /// Threads that compute.
    pub cpu: u32,
    /// Threads that copy memory.
    pub memory: u32,
}

/// What is asked of the host for the measuring thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostPlan {
    /// SCHED_FIFO priority, 1 to 99.
    pub priority: Option<u8>,
    /// The processor that the measuring thread is kept on.
    pub pin: Option<u32>,
    /// Lock all memory so that no page fault falls into an exchange.
    pub lock_memory: bool,
    /// Load made while measuring.
    pub load: HostLoad,
}

/// What only some link kinds understand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkOptions {
    /// Baud rate of a serial line; `None` leaves the line as it is set.
    pub baud: Option<u32>,
    /// Data bits, parity and stop bits of a serial line, such as `8E1`; `None` is 8N1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framing: Option<String>,
    /// Serial: leave the driver's low-latency flag as it is, instead of setting it for the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_low_latency: bool,
    /// Acknowledge TCP segments at once (TCP_QUICKACK, renewed after each read).
    pub quick_ack: bool,
    /// USB: watch the URBs with usbmon.
    #[serde(default)]
    pub usbmon: bool,
    /// TCP and UDP: time stamps of the kernel (SO_TIMESTAMPING).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kernel_timestamps: bool,
    /// CAN: identifiers, format, ISO-TP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub can: Option<CanOptions>,
    /// USB: isochronous transfers instead of bulk or interrupt ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isochronous: Option<IsochronousOptions>,
}

/// One cell of the sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Position in the run, from 0.
    pub index: u32,
    /// Bytes of one request on the wire, header included.
    pub out_bytes: u32,
    /// Bytes of one response on the wire, header included.
    pub in_bytes: u32,
    /// Exchanges kept outstanding. The literature's queue length R is `depth - 1`.
    pub depth: u32,
    /// Which of the plan's links, from 0.
    #[serde(default)]
    pub link: u32,
    /// True if the other links of the plan exchange at the same time.
    #[serde(default)]
    pub together: bool,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (out, depth) = (grouped(self.out_bytes.into()), self.depth);
        // A size IN of 0 is any: the response itself shows where it ends.
        match self.in_bytes {
            0 => write!(f, "OUT {out} B, IN any size, depth {depth}"),
            bytes => write!(
                f,
                "OUT {out} B, IN {} B, depth {depth}",
                grouped(bytes.into())
            ),
        }
    }
}

/// A whole run, before it is run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The link's address, such as `tcp://10.0.0.5:7700`.
    pub address: String,
    /// Addresses of further links that are measured alone and then together with the first.
    #[serde(default)]
    pub more_links: Vec<String>,
    /// What the ends say.
    pub protocol: Protocol,
    /// What is sent, where the protocol does not make it up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queries: Option<Queries>,
    /// How often the link is opened.
    pub connect: Connect,
    /// The sweep, in the order in which it runs.
    pub points: Vec<Point>,
    /// When each point is done.
    pub limit: Limit,
    /// Exchanges run and stored before the counted ones, at each point.
    pub warmup: u64,
    /// When an exchange is due.
    pub schedule: Schedule,
    /// After how many nanoseconds without an answer an exchange is lost.
    pub timeout_ns: u64,
    /// How many exchanges in a row may be lost before the link counts as failed.
    pub give_up: u32,
    /// How the measuring thread waits.
    pub wait: Wait,
    /// Limits in nanoseconds; the share of exchanges below each is reported.
    pub below_ns: Vec<u64>,
    /// Keep the bytes of every answer.
    pub keep_data: bool,
    /// Measure this host's own floor before and after.
    pub calibrate: bool,
    /// Requests handed over in one call at most; `None`: all that may start, or what a trial chose for the point.
    #[serde(default)]
    pub batch: Option<u32>,
    /// What is asked of the host.
    pub host: HostPlan,
    /// What is asked of the link.
    pub link: LinkOptions,
}

/// True of a device that is a program on this host, by its address: it needs the same CPUs as the measuring thread.
pub fn is_on_this_host(address: &str) -> bool {
    let (scheme, rest) = address.split_once(':').unwrap_or((address, ""));
    let rest = rest.trim_start_matches("//");
    match scheme {
        "null" | "unix" | "virtual" => true,
        "serial" => rest.trim_start_matches('/').starts_with("dev/pts/"),
        "tcp" | "udp" => {
            let host = rest.rsplit_once(':').map_or(rest, |(host, _)| host);
            let ip = host.trim_matches(['[', ']']).parse::<IpAddr>();
            host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
        }
        _ => false,
    }
}

impl Plan {
    /// The addresses of all links; `Point::link` counts them.
    pub fn links(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.address)
            .chain(&self.more_links)
            .map(String::as_str)
    }

    /// The number of the exchange from which on there are TRTs. Those before it begin at once, without waiting for an
    /// answer, until so many are outstanding: their starts say nothing of how often one can begin.
    pub fn first_of_trt(&self, depth: u32) -> u64 {
        self.warmup + u64::from(depth.max(1))
    }

    /// True if the bytes of some answers are kept.
    pub fn keeps_data(&self) -> bool {
        self.keep_data || self.queries.is_some()
    }

    /// True if a response does not say which request it answers, and its content does not show it either.
    pub fn matches_by_order(&self) -> bool {
        let end = self.queries.as_ref().map(|queries| &queries.reply);
        match self.protocol {
            Protocol::Lines | Protocol::Text | Protocol::Scpi => true,
            Protocol::Modbus => matches!(end, Some(ReplyEnd::Modbus(ModbusLine::Rtu { .. }))),
            Protocol::Wiregauge | Protocol::Echo | Protocol::GetStatus => false,
        }
    }

    /// Exchanges that one point runs: the first (kept apart), the warm-up and the measured ones;
    /// `None` when a duration limits it.
    pub fn exchanges_per_point(&self) -> Option<u64> {
        match self.limit {
            Limit::Count(count) => Some(count.saturating_add(self.warmup).saturating_add(1)),
            Limit::DurationNs(_) => None,
        }
    }
}
