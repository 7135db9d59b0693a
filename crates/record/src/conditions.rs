//! What a run ran on: without it a figure cannot be compared with any other.

use crate::point_summary::Responder;
use serde::{Deserialize, Serialize};
use wiregauge_stats::Distribution;

/// The host as it was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostState {
    /// Host name.
    pub name: String,
    /// Kernel name, release and version.
    pub kernel: String,
    /// Processor model.
    pub cpu: String,
    /// Processors that are online.
    pub processors: u32,
    /// The kernel's clock source.
    pub clock_source: String,
    /// Frequency governor, where the kernel has one.
    pub governor: Option<String>,
    /// Load averages over 1, 5 and 15 minutes before the run, where the system has them.
    pub load: Option<[f64; 3]>,
    /// Hypervisor, where the processor tells of one.
    pub hypervisor: bool,
    /// Scheduling policy and priority of the measuring thread.
    pub policy: String,
    /// Processors that the measuring thread may run on.
    pub affinity: Vec<u32>,
    /// Whether all memory was locked.
    pub memory_locked: bool,
    /// Microseconds a second that real-time threads may run; -1 for no limit.
    pub rt_runtime_us: Option<i64>,
}

/// What the link was, beyond its address. A kind that has nothing to say leaves it empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkDetail {
    /// Settings as name and value: buffer sizes, baud rate, driver, USB path and speed.
    pub settings: Vec<(String, String)>,
}

/// What one exchange costs on this host without a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    /// What was measured: `null`, or the link kind against an echo on the same host.
    pub name: String,
    /// Bytes each way.
    pub bytes: u32,
    /// RTT in nanoseconds.
    pub rtt: Distribution,
}

/// How late a sleeping thread wakes and how steadily a spinning one runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WakeUp {
    /// Median delay of waking from a timed sleep, in nanoseconds.
    pub delay_p50_ns: u64,
    /// Longest of them.
    pub delay_max_ns: u64,
    /// Longest gap between two reads of the clock by a spinning thread, in nanoseconds.
    pub clock_gap_max_ns: u64,
    /// Gaps over 10 us a second.
    pub clock_gaps_s: f64,
}

/// This host's own floor, measured right before or after the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Exchange floors, the null link first.
    pub floors: Vec<Floor>,
    /// Delays of the scheduler and the clock.
    pub wake_up: WakeUp,
}

/// What is known of a further link of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkConditions {
    /// The link.
    pub link: LinkDetail,
    /// What the device said of itself.
    pub responder: Option<Responder>,
}

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// When the run started, RFC 3339 in UTC.
    pub started: String,
    /// The exact command.
    pub command: Vec<String>,
    /// Version of wiregauge.
    pub version: String,
    /// Who ran it for somebody else: `WIREGAUGE_WORKER`, as a campaign sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// What the user wrote about the run (`--note`); may have several lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The host.
    pub host: HostState,
    /// The link.
    pub link: LinkDetail,
    /// What the device said of itself.
    pub responder: Option<Responder>,
    /// The same of the plan's further links, in their order.
    #[serde(default)]
    pub more_links: Vec<LinkConditions>,
    /// The floor before the first point.
    pub before: Option<Calibration>,
    /// The floor after the last point.
    pub after: Option<Calibration>,
}

impl Conditions {
    /// What the device at the end of a link said of itself.
    pub fn responder_of(&self, link: u32) -> Option<&Responder> {
        match link.checked_sub(1) {
            None => self.responder.as_ref(),
            Some(further) => {
                let further = self.more_links.get(further as usize)?;
                further.responder.as_ref()
            }
        }
    }
}
