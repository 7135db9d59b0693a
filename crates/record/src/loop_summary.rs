//! What the blocks of one loop point amount to. Stored in `run.json` of a loop run.

use crate::block::Xrun;
use crate::loop_plan::LoopPoint;
use crate::point_summary::{Disturbance, Ending, ResourceUse};
use serde::{Deserialize, Serialize};
use wiregauge_stats::Distribution;

/// One point of the curve of stalls against latency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StallRate {
    /// The latency, in nanoseconds.
    pub latency_ns: f64,
    /// The same as a preload in bytes.
    pub preload_bytes: u64,
    /// Stalls that this run would have had with it: stretches of blocks in a row that came too late;
    /// never fewer than with a longer one.
    pub stalls: u64,
    /// The same a minute.
    pub per_minute: f64,
    /// Upper 95 % confidence bound of the stalls a minute (Garwood; docs/loop.md).
    pub per_minute_high: f64,
}

/// A stall that happened, as the device saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stall {
    /// Which.
    pub xrun: Xrun,
    /// When, in nanoseconds since the point's first sample came in.
    pub at_ns: u64,
    /// How late the block was, in nanoseconds; 0 where the device does not tell.
    pub late_ns: u64,
}

/// How the latency was verified, and what was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verified {
    /// How: `sequence` coded in the samples, `marker` sent round, `reference` computed anew.
    pub method: String,
    /// Frames from the input to the same sample at the output (marker: once round), as found.
    pub found_frames: Option<u64>,
    /// Frames from the output to the input outside of the host, if a marker showed them: the cable by itself
    /// and the converters. Once round is the preload and this.
    #[serde(default)]
    pub cable_frames: Option<u64>,
    /// The preload, in frames.
    pub preload_frames: u64,
    /// Blocks (or frames, or times round) compared.
    pub compared: u64,
    /// How many of them were not what they should be.
    pub wrong: u64,
}

impl Verified {
    /// True if the latency is the preload, beside what the cable takes by itself.
    pub fn holds(&self) -> bool {
        self.found_frames == Some(self.preload_frames + self.cable_frames.unwrap_or(0))
    }

    /// True if a marker was sent and never came round.
    pub fn is_unheard(&self) -> bool {
        self.method == "marker" && self.found_frames.is_none()
    }
}

/// A timer thread beside the loop, as a control: how late this host wakes another thread up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimerThread {
    /// Its lateness, in nanoseconds.
    pub wake_up: Distribution,
    /// The processor that it was kept on: the loop's own, where that one is pinned and does not spin.
    /// `None`: on any.
    pub cpu: Option<u32>,
}

/// What a processing stage can do by itself on blocks of this size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageSpeed {
    /// The stage, as the user writes it.
    pub stage: String,
    /// Bytes a second that go through it.
    pub bytes_s: f64,
}

/// One point of a loop run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopSummary {
    /// Which.
    pub point: LoopPoint,
    /// How it ended.
    pub ending: Ending,
    /// Measured time in nanoseconds, start-up excluded.
    pub elapsed_ns: u64,
    /// Blocks in it.
    pub blocks: u64,
    /// Last sample in to begin of processing, in nanoseconds.
    pub wake: Option<Distribution>,
    /// Processing, in nanoseconds.
    pub work: Option<Distribution>,
    /// Last sample in to output handed over, in nanoseconds.
    pub service: Option<Distribution>,
    /// The smallest latency with which this point would not have stalled, in nanoseconds: one block
    /// plus the longest service.
    pub needed_ns: Option<f64>,
    /// The same as a preload in bytes, rounded up to whole blocks: the software buffer.
    pub needed_bytes: Option<u64>,
    /// Stalls against latency, ascending in latency.
    pub curve: Vec<StallRate>,
    /// Blocks whose input was lost, as the device counted them.
    pub overruns: u64,
    /// Blocks that the output had to do without, as the device counted them.
    pub underruns: u64,
    /// When; the first thousand.
    pub stalls: Vec<Stall>,
    /// Whether the latency is the preload.
    pub verified: Option<Verified>,
    /// Part of the time that the loop did not wait, 0 to 1.
    pub duty: f64,
    /// Delay by the host: from when a block could begin (its last sample in, the block before handed
    /// over) to when it began, in nanoseconds. Missing in runs of format 1 before 2026-11-23.
    #[serde(default)]
    pub host_delay: Option<Distribution>,
    /// One block plus the longest of these delays, in nanoseconds: the latency that this run would have
    /// needed without processing. Never above `needed_ns`.
    #[serde(default)]
    pub floor_ns: Option<f64>,
    /// The timer thread beside it.
    #[serde(default)]
    pub timer: Option<TimerThread>,
    /// What each stage can do by itself.
    pub stages: Vec<StageSpeed>,
    /// Bytes a second that this host copies in memory.
    pub memory_bytes_s: Option<f64>,
    /// What the loop's thread used.
    pub resources: ResourceUse,
    /// Why the figures deserve a second look.
    pub disturbances: Vec<Disturbance>,
}
