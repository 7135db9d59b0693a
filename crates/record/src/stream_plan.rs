//! What a stream run is to measure: data that flows without waiting for answers, in transfers of
//! one size, so many of them submitted at once.

use crate::direction::Direction;
use crate::grouped;
use crate::names::names;
use crate::plan::{HostPlan, LinkOptions};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What the two ends of a stream agree on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StreamProtocol {
    /// A responder starts and ends the stream on request, and both ends count.
    #[default]
    Wiregauge,
    /// Nothing is requested of the device: it sends or takes data on its own.
    Raw,
}

names!(StreamProtocol: Wiregauge "wiregauge", Raw "raw");

/// Bytes of a raw stream that can be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// All bytes are 0.
    Zeros,
    /// Each byte is its position modulo 63; on USB and in datagrams, its position in the packet. Linux's
    /// usbtest and gadget zero call it pattern 1.
    Mod63,
    /// Each byte is the one before it plus 1, modulo 256.
    Counter,
}

names!(Pattern: Zeros "zeros", Mod63 "mod63", Counter "counter");

/// One cell of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamPoint {
    /// Position in the run, from 0.
    pub index: u32,
    /// Which way.
    pub direction: Direction,
    /// Bytes of one transfer.
    pub transfer_bytes: u32,
    /// Transfers submitted at once. 1 is synchronous: each is waited for before the next.
    pub queue: u32,
    /// Which of the plan's links, from 0.
    #[serde(default)]
    pub link: u32,
    /// True if the other links of the plan stream at the same time.
    #[serde(default)]
    pub together: bool,
}

impl fmt::Display for StreamPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = match self.direction {
            Direction::Both => "IN and OUT",
            Direction::In => "IN",
            Direction::Out => "OUT",
        };
        let (bytes, queue) = (grouped(self.transfer_bytes.into()), self.queue);
        write!(f, "{way}, transfers of {bytes} B, queue {queue}")
    }
}

/// A whole stream run, before it is run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamPlan {
    /// The link's address.
    pub address: String,
    /// Addresses of further links that are measured alone and then together with the first.
    #[serde(default)]
    pub more_links: Vec<String>,
    /// What the two ends agree on.
    #[serde(default)]
    pub protocol: StreamProtocol,
    /// Of a raw stream, the bytes that are sent, and those that are expected if `check` is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Pattern>,
    /// The matrix, in the order in which it runs.
    pub points: Vec<StreamPoint>,
    /// How long each point is measured, in nanoseconds, start-up excluded.
    pub duration_ns: u64,
    /// Start-up left out of the rates at each point, in nanoseconds: buffers fill at a rate that
    /// the wire does not have.
    pub settle_ns: u64,
    /// Compare every received byte with the pattern. Without it, bytes are only counted.
    pub check: bool,
    /// After how many nanoseconds without a completed transfer the link has failed.
    pub timeout_ns: u64,
    /// Constant rates, in bytes a second, for which the buffer that the device needs is computed.
    pub rates_bytes_s: Vec<u64>,
    /// Loss probability that those buffers are also computed for: the part of the gaps that may
    /// overflow it.
    pub loss: f64,
    /// What is asked of the host.
    pub host: HostPlan,
    /// What is asked of the link.
    pub link: LinkOptions,
}

impl StreamPlan {
    /// The addresses of all links; `StreamPoint::link` counts them.
    pub fn links(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.address)
            .chain(&self.more_links)
            .map(String::as_str)
    }
}
