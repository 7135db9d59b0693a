//! What the samples of one point amount to. Stored in `run.json`; every table and figure reads it.

use crate::can::CanCounts;
use crate::lateness::{Keeping, Lateness};
use crate::plan::{Point, Schedule};
use crate::stages::Stages;
use serde::{Deserialize, Serialize};
use wiregauge_stats::{Distribution, Mode, Share};

/// How many exchanges ended how. `late` and `lost` exclude each other: a late answer is no loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Exchanges started in the measured phase.
    pub exchanges: u64,
    /// Right answers in time, reordered ones included: the n of the RTT statistics.
    pub answered: u64,
    /// No answer at all.
    pub lost: u64,
    /// The answer came after the timeout.
    pub late: u64,
    /// Answers that came again.
    pub duplicated: u64,
    /// Right answers that came after the answer to a later request.
    pub reordered: u64,
    /// Answers with a wrong byte.
    pub corrupted: u64,
    /// Whole replies in time that are not the expected ones.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unexpected: u64,
    /// Bytes received that belong to no answer.
    pub stray_bytes: u64,
    /// Right answers whose time in the device cannot be true: it is longer than the RTT. It is in
    /// no figure.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub impossible_device_times: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Counts {
    /// True when every exchange was answered once, right, in order and in time.
    pub fn is_clean(&self) -> bool {
        self.answered == self.exchanges
            && self.duplicated == 0
            && self.reordered == 0
            && self.stray_bytes == 0
    }
}

/// Bytes of whole, right exchanges over the measured time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Throughput {
    /// Exchanges a second.
    pub exchanges_s: f64,
    /// Bytes a second from host to device.
    pub out_bytes_s: f64,
    /// Bytes a second from device to host.
    pub in_bytes_s: f64,
}

/// What the medium can carry at best, and how much of it this point used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BusLimit {
    /// Bytes a second.
    pub bytes_s: f64,
    /// True where both directions share the limit (USB), false where each has its own (UART).
    pub shared: bool,
    /// What the limit is and where it is written.
    pub source: String,
    /// Part of the limit that was used, 0 to 1.
    pub used: f64,
}

impl BusLimit {
    /// The same limit, used as much as these rates of an exchange use it.
    pub fn used_by(self, rate: &Throughput) -> BusLimit {
        let carried = match self.shared {
            true => rate.out_bytes_s + rate.in_bytes_s,
            false => rate.out_bytes_s.max(rate.in_bytes_s),
        };
        BusLimit {
            used: carried / self.bytes_s,
            ..self
        }
    }

    /// True if most of it was used.
    pub fn is_near(&self) -> bool {
        self.used >= 0.9
    }
}

/// What the device said of itself in answer to HELLO.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Responder {
    /// Its name.
    pub name: String,
    /// Largest request frame in bytes.
    pub max_out_bytes: u32,
    /// Largest response frame in bytes.
    pub max_in_bytes: u32,
    /// Most exchanges that may be outstanding at once; 0 = not stated, and in runs made before it was kept.
    #[serde(default)]
    pub max_outstanding: u32,
    /// Ticks a second of its clock; 0 without one.
    pub tick_hz: u64,
    /// Width of its tick counter in bits.
    pub tick_bits: u32,
    /// The bus that it says it is on: `low-speed`, `full-speed`, `high-speed`, `super-speed`.
    pub bus: Option<String>,
    /// What it can do, as the bits of HELLO (docs/protocol.md); 0 in runs made before they were kept.
    #[serde(default)]
    pub abilities: u32,
}

/// What the measuring thread used of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResourceUse {
    /// CPU time of the measuring thread a exchange, in nanoseconds.
    pub cpu_ns_per_exchange: f64,
    /// Times that it gave up the processor (it waited).
    pub voluntary_switches: u64,
    /// Times that the processor was taken from it.
    pub involuntary_switches: u64,
    /// Nanoseconds that it was ready to run but another ran.
    pub run_delay_ns: u64,
    /// Nanoseconds that the hypervisor took from the processor that the thread is pinned to; from all
    /// processors together where it is not pinned.
    pub steal_ns: u64,
    /// Page faults that needed no disk.
    pub minor_faults: u64,
}

/// Why a point's figures deserve a second look. Points are flagged, never dropped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Disturbance {
    /// The hypervisor took time from this machine.
    Steal {
        /// Part of the machine's time, 0 to 1.
        share: f64,
    },
    /// The processor was taken from the measuring thread.
    Preempted {
        /// How often.
        times: u64,
        /// Nanoseconds that it waited to run.
        waited_ns: u64,
    },
    /// Something else ran on the processor that the measuring thread is pinned to.
    SharedProcessor {
        /// Part of that processor's time, 0 to 1.
        share: f64,
    },
    /// A clock watched in a spinning wait jumped: an interrupt, a hypervisor or an SMI.
    ClockGap {
        /// The longest, in nanoseconds.
        longest_ns: u64,
        /// How many of over 100 us.
        times: u64,
    },
    /// An endpoint of the device stalled and was cleared; what was under way on it is lost.
    EndpointStalled {
        /// How often.
        times: u64,
    },
    /// URB events were not seen (usbmon), so some transfers have no URB times.
    UrbEventsLost {
        /// For lack of room.
        overflowed: u64,
        /// Because the host's real-time clock was set meanwhile.
        clock_set: u64,
    },
    /// The samples could not be written away as fast as they came, so the loop had to wait.
    StorageTooSlow {
        /// How often.
        times: u64,
    },
    /// A device that is a program on this host was itself late, which the loop's delays contain.
    DeviceLate(DeviceLate),
}

/// How late a device that is a program on this host was by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceLate {
    /// The most, in nanoseconds.
    pub longest_ns: u64,
    /// How many blocks by over 100 us.
    pub times: u64,
}

/// How a point ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "how")]
pub enum Ending {
    /// All of it was measured.
    Complete,
    /// The user stopped it; what was measured is here.
    Interrupted,
    /// The link failed; what was measured is here.
    LinkFailed {
        /// What was being done and what the system said.
        error: String,
    },
}

/// A trial before the point, which chose how many requests are handed over in one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchTrial {
    /// At most so many requests in one call; `None`: all that may start.
    pub chosen: Option<u32>,
    /// Exchanges of the trial. None of them is a sample.
    pub exchanges: u64,
    /// The rate of each candidate; empty where the device was too slow for it to matter, or an exchange went wrong.
    pub rates: Vec<BatchRate>,
}

/// What a candidate of such a trial reached.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchRate {
    /// At most so many requests in one call; `None`: all that may start.
    pub batch: Option<u32>,
    /// Exchanges a second, the median of its turns.
    pub exchanges_s: f64,
}

/// The same few bytes that a device sends behind each echo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Surplus {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Echoes that they followed, those of the first exchange, the warm-up and a trial included.
    pub times: u64,
    /// Echoes that they did not follow.
    pub missing: u64,
}

/// The exchanges of one of several queries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuerySummary {
    /// The query as it is shown.
    pub name: String,
    /// Exchanges started in the measured phase.
    pub exchanges: u64,
    /// Right answers in time.
    pub answered: u64,
    /// Replies that are not the expected ones.
    pub unexpected: u64,
    /// RTT in nanoseconds.
    pub rtt: Option<Distribution>,
}

/// A kind of reply that was not the expected one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnexpectedReply {
    /// What it was: the reply itself, shortened, or what Modbus says.
    pub what: String,
    /// How often it came, the first exchange and the warm-up excluded.
    pub times: u64,
}

/// One point of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointSummary {
    /// Which.
    pub point: Point,
    /// How it ended.
    pub ending: Ending,
    /// How its exchanges ended.
    pub counts: Counts,
    /// Measured time in nanoseconds.
    pub elapsed_ns: u64,
    /// RTT of the first exchange in nanoseconds, kept apart; `None` if it was not answered right.
    pub first_rtt_ns: Option<u64>,
    /// Time that opening the link took before the first exchange, in nanoseconds.
    pub open_ns: Option<u64>,
    /// RTT in nanoseconds.
    pub rtt: Option<Distribution>,
    /// From the intended start to the last byte, in nanoseconds (with a schedule).
    pub from_intended: Option<Distribution>,
    /// How late each exchange began, in nanoseconds (with a schedule); those without a correct response
    /// as well. `None` in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_delay: Option<Distribution>,
    /// Whether the schedule was kept. `None` in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness: Option<Lateness>,
    /// TRT in nanoseconds.
    pub trt: Option<Distribution>,
    /// Share of the exchanges below each limit; an exchange without a right answer is not below.
    /// With a schedule, counted from the intended start.
    pub below: Vec<Share>,
    /// The peaks of the RTT distribution.
    pub modes: Vec<Mode>,
    /// Mean number outstanding over the measured time; compare with `point.depth`. What is missing
    /// is time in which the host, or a full buffer, kept the wire waiting.
    pub achieved_depth: f64,
    /// Exchanges and bytes a second.
    pub throughput: Throughput,
    /// The physical limit of the link, where one is known.
    pub limit: Option<BusLimit>,
    /// Time in the device in nanoseconds, where it reports it.
    pub device: Option<Distribution>,
    /// Connection time in nanoseconds (`--connect each`).
    pub connect: Option<Distribution>,
    /// Start of sending to first byte in nanoseconds (`--connect each`).
    pub access: Option<Distribution>,
    /// First to last byte in nanoseconds (`--connect each`).
    pub transfer: Option<Distribution>,
    /// Where the RTT went, by the kernel's own records (`--usbmon`, `--timestamps kernel`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stages: Option<Stages>,
    /// How the number of requests in one call was chosen, if by a trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<BatchTrial>,
    /// What the device sent behind each echo, if that was always the same. It is in no RTT and is not stray.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surplus: Option<Surplus>,
    /// Each query by itself, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queries: Vec<QuerySummary>,
    /// The replies that were not the expected ones, the most frequent first; a few kinds at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unexpected: Vec<UnexpectedReply>,
    /// What the instrument's error queue held after the point (`SYST:ERR?`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instrument_errors: Vec<String>,
    /// What a CAN link counted, error frames among it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub can: Option<CanCounts>,
    /// What the measuring thread used.
    pub resources: ResourceUse,
    /// Why the figures deserve a second look.
    pub disturbances: Vec<Disturbance>,
}

impl PointSummary {
    /// What became of its schedule; `None` without one, and where the starts are not known.
    pub fn keeping(&self, schedule: Schedule) -> Option<Keeping> {
        match schedule {
            Schedule::EveryNs(period_ns) => Some(self.lateness?.keeping(period_ns)),
            Schedule::AsFastAsPossible => None,
        }
    }

    /// The part of the mean number outstanding that can be missing although nothing delayed a request: at the
    /// end nothing is left to start, and all places but one may stay empty for as long as the longest exchange
    /// is awaited, one without a correct response for up to the timeout.
    pub fn drained_depth(&self, timeout_ns: u64) -> f64 {
        let longest_ns = match self.counts.exchanges.saturating_sub(self.counts.answered) {
            0 => self.rtt.as_ref().map_or(0.0, |rtt| rtt.max),
            _ => timeout_ns as f64,
        };
        let places = self.point.depth.saturating_sub(1);
        f64::from(places) * longest_ns / self.elapsed_ns.max(1) as f64
    }
}
