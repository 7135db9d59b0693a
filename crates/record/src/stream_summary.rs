//! What the transfers of one stream point amount to. Stored in `run.json` of a stream run.

use crate::direction::Way;
use crate::isochronous::IsochronousCounts;
use crate::point_summary::{BusLimit, Disturbance, Ending, ResourceUse};
use crate::stream_plan::StreamPoint;
use serde::{Deserialize, Serialize};
use wiregauge_stats::{Distribution, Estimate};

/// What became of the bytes of a stream, known from the pattern that codes their position. What only the
/// device could know, and did not report, is `None`: never a copy of the host's count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByteCounts {
    /// Bytes that the sending end handed over, from the start of the point to its end.
    pub sent: Option<u64>,
    /// Bytes that the receiving end took.
    pub received: Option<u64>,
    /// Bytes sent that never came.
    pub lost: Option<u64>,
    /// Bytes that came again.
    pub duplicated: u64,
    /// Bytes that came changed.
    pub corrupted: u64,
    /// Bytes that belong nowhere: inserted ones, or a stretch too short to be placed.
    pub stray: u64,
}

impl ByteCounts {
    /// True when a byte is known to be lost, or arrived wrong.
    pub fn is_damaged(&self) -> bool {
        self.lost.is_some_and(|lost| lost > 0) || self.wrong() > 0
    }

    /// Bytes that arrived where they do not belong, or changed.
    pub fn wrong(&self) -> u64 {
        self.duplicated + self.corrupted + self.stray
    }

    /// The part of the bytes sent that was lost; `None` where that is not known.
    pub fn lost_share(&self) -> Option<f64> {
        Some(self.lost? as f64 / self.sent?.max(1) as f64)
    }

    /// Bytes that an end counted: those sent, or those received where only they are known.
    pub fn counted(&self) -> u64 {
        self.sent.or(self.received).unwrap_or(0)
    }
}

/// What the device counted by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceCount {
    /// Bytes that it sent or received.
    pub bytes: u64,
    /// Its reads or writes that carried them.
    pub transfers: u64,
    /// Times that it could not take or give data in time.
    pub overruns: u64,
    /// Its own time from the first byte to the last, in nanoseconds; 0 without a clock.
    pub elapsed_ns: u64,
    /// The packets on its bus, if that is modelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bus: Option<BusCount>,
}

/// Packets of one endpoint of a modelled bus, from the first packet of a stream to the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusCount {
    /// Packets that carried data, those of length zero included.
    pub packets: u64,
    /// Times that the device answered NAK.
    pub naks: u64,
    /// Time of the bus for these packets, overhead included, in nanoseconds.
    pub packets_ns: u64,
    /// Time of the bus for these NAKs, in nanoseconds.
    pub naks_ns: u64,
    /// Time of the bus for all other endpoints, in nanoseconds.
    pub others_ns: u64,
    /// Time in which the host could have had a packet and the device was not ready for it, in nanoseconds.
    pub not_ready_ns: u64,
    /// From the begin of the first packet to the end of the last, in nanoseconds.
    pub elapsed_ns: u64,
}

impl BusCount {
    /// NAKs a second.
    pub fn naks_s(&self) -> f64 {
        self.naks as f64 * 1e9 / self.elapsed_ns.max(1) as f64
    }

    /// The part of the time that so long a time is.
    pub fn share(&self, ns: u64) -> f64 {
        ns as f64 / self.elapsed_ns.max(1) as f64
    }
}

/// With fewer transfers than this, the time from the first to the last of them is not that of all.
const CLOCKED_TRANSFERS: u64 = 20;

impl DeviceCount {
    /// Bytes a second by its own clock; `None` without a clock, and where so few transfers were
    /// clocked that the first and the last one weigh too much. A device that counts no transfers
    /// reports 0 of them.
    pub fn bytes_s(&self) -> Option<f64> {
        let few = (1..CLOCKED_TRANSFERS).contains(&self.transfers);
        (self.elapsed_ns > 0 && !few).then(|| self.bytes as f64 * 1e9 / self.elapsed_ns as f64)
    }
}

/// The buffer that a device must have so that, at a constant rate, nothing is lost while the host
/// does not look (docs/statistics.md has the method and its formula).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BufferNeed {
    /// The constant rate, in bytes a second.
    pub rate_bytes_s: u64,
    /// False if the link was slower than the rate: then no buffer is large enough.
    pub sustained: bool,
    /// Bytes that had to be held at the worst moment of this run.
    pub worst_bytes: u64,
    /// The loss probability that `for_loss_bytes` is for: the part of the transfers that find the
    /// buffer full.
    pub loss: f64,
    /// Bytes for that probability, with a confidence interval; `None` if this run is too short to
    /// tell.
    pub for_loss_bytes: Option<Estimate>,
    /// True if the estimate reaches beyond what was observed.
    pub extrapolated: bool,
    /// The smallest loss probability that this run can vouch for without extrapolation, at 95 %.
    pub observable_loss: f64,
}

/// One way of one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowSummary {
    /// Which way.
    pub way: Way,
    /// Transfers of the measured part.
    pub transfers: u64,
    /// Bytes of the measured part, as the host counted them.
    pub bytes: u64,
    /// Transfers that found the endpoint stalled.
    pub stalls: u64,
    /// Bytes a second over the measured part, with an interval from its blocks of time.
    pub rate: Option<Estimate>,
    /// Bytes of each whole second (or tenth of a second, if the point is shorter than 3 s) of the
    /// measured part.
    pub rate_bytes_s: Vec<f64>,
    /// Length of one entry of `rate_bytes_s`, in nanoseconds.
    pub rate_step_ns: u64,
    /// What became of the bytes, both ends compared.
    pub counts: ByteCounts,
    /// Places where the received pattern continues at another position: bytes were lost, inserted or repeated
    /// there. `None` if no pattern was checked that does not code positions (`--protocol raw --check`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jumps: Option<u64>,
    /// What the device counted; `None` if it did not answer, or if its counts cannot be true.
    pub device: Option<DeviceCount>,
    /// Why the report of the device, or the clock in it, cannot be true; what cannot is in no
    /// figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report_error: Option<String>,
    /// Submission to completion, in nanoseconds.
    pub transfer_time: Option<Distribution>,
    /// Completion to completion, in nanoseconds.
    pub gap: Option<Distribution>,
    /// Completion of a transfer to the next submission into its place, in nanoseconds: the time in
    /// which the application held the place back.
    pub host_gap: Option<Distribution>,
    /// Application to USB stack and back: transfer time less URB time, in nanoseconds (usbmon).
    pub stack_time: Option<Distribution>,
    /// URB submission to giveback, in nanoseconds: device, bus and host controller (usbmon).
    pub urb_time: Option<Distribution>,
    /// Mean number of transfers pending; compare with the point's queue.
    pub achieved_queue: f64,
    /// The buffer that the device needs, for each of the plan's rates.
    pub buffers: Vec<BufferNeed>,
    /// CPU time of the measuring thread and, where the link has one, of its helper, in nanoseconds
    /// a megabyte (1,000,000 B).
    pub cpu_ns_per_mb: f64,
    /// The physical limit of the link, where one is known.
    pub limit: Option<BusLimit>,
    /// The recording of what was received, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<Recording>,
    /// What became of the packets, if the transfers were isochronous.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isochronous: Option<IsochronousCounts>,
}

/// A recording of the payload received (`--record`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// Where it went, as the user wrote it: `-` is standard output.
    pub file: String,
    /// Bytes written.
    pub bytes: u64,
    /// Bytes received that were not written: the storage failed, or took nothing after an interruption.
    pub missing_bytes: u64,
    /// Bytes that the buffer holds.
    pub buffer_bytes: u64,
    /// The most bytes that waited to be written.
    pub peak_waiting_bytes: u64,
    /// How often the receiver waited because the buffer was full.
    pub waits: u64,
    /// How long it waited altogether, in nanoseconds.
    pub waited_ns: u64,
}

/// One point of a stream run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamSummary {
    /// Which.
    pub point: StreamPoint,
    /// How it ended.
    pub ending: Ending,
    /// Measured time in nanoseconds, start-up excluded.
    pub elapsed_ns: u64,
    /// Each way of it.
    pub flows: Vec<FlowSummary>,
    /// What the measuring threads used, for both ways together.
    pub resources: ResourceUse,
    /// Why the figures deserve a second look.
    pub disturbances: Vec<Disturbance>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_clocked_too_few_transfers_has_no_rate() {
        let rate = |transfers, elapsed_ns| {
            let count = DeviceCount {
                bytes: 1000,
                transfers,
                overruns: 0,
                elapsed_ns,
                bus: None,
            };
            count.bytes_s()
        };
        assert_eq!(rate(100, 1_000_000), Some(1e6));
        assert_eq!(rate(0, 1_000_000), Some(1e6), "it counts no transfers");
        assert_eq!(rate(2, 1_000_000), None);
        assert_eq!(rate(100, 0), None);
    }
}
