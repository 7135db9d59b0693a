//! What a loop run is to measure: blocks that come in at a constant rate, are processed, and must be
//! back before the output runs dry.

use crate::grouped;
use crate::loop_path::LoopPath;
use crate::plan::HostPlan;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Bytes of one sample: 16-bit integers, as digitizers and sound cards deliver them.
pub const SAMPLE_BYTES: u32 = 2;

/// What is done to the samples between input and output.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "stage")]
pub enum Stage {
    /// Nothing: the bytes are copied.
    Copy,
    /// Each sample times a factor, saturated.
    Gain {
        /// The factor.
        factor: f32,
    },
    /// A low-pass filter of finite impulse response (windowed sinc), per channel.
    Fir {
        /// Taps.
        taps: u32,
    },
    /// A low-pass section of second order (Butterworth), per channel.
    Biquad {
        /// Corner frequency as a part of the sample rate, 0 to 0.5.
        corner: f32,
    },
    /// Stimulus and response: full scale while the input is above the level, else zero.
    Threshold {
        /// The level, as a part of full scale, -1 to 1.
        level: f32,
    },
}

impl fmt::Display for Stage {
    /// As the user writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stage::Copy => write!(f, "copy"),
            Stage::Gain { factor } => write!(f, "gain:{factor}"),
            Stage::Fir { taps } => write!(f, "fir:{taps}"),
            Stage::Biquad { corner } => write!(f, "biquad:{corner}"),
            Stage::Threshold { level } => write!(f, "threshold:{level}"),
        }
    }
}

/// How the loop waits for the next block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "how")]
pub enum LoopWait {
    /// Sleep until it is due.
    Sleep,
    /// Watch the clock or the device without sleeping. Costs a core.
    Spin,
    /// Sleep until so long before it is due, then spin.
    Hybrid {
        /// The time spent spinning, in nanoseconds.
        margin_ns: u64,
    },
}

/// What a point is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aim {
    /// Rings so large that nothing stalls: how late is each block?
    Curve,
    /// The preload under test: does it hold?
    Hold,
}

/// One cell of the sweep, or one preload under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopPoint {
    /// Position in the run, from 0.
    pub index: u32,
    /// Samples a second of each channel.
    pub rate_hz: u64,
    /// Channels.
    pub channels: u32,
    /// Bytes of one block, all channels: the unit in which the device hands over.
    pub notify_bytes: u32,
    /// Bytes of each of the two rings.
    pub ring_bytes: u64,
    /// Zeros put in the output before the start: the loop's latency.
    pub preload_bytes: u64,
    /// What it is for.
    pub aim: Aim,
    /// What processes the blocks.
    #[serde(default)]
    pub path: LoopPath,
}

impl LoopPoint {
    /// Bytes of one sample of every channel.
    pub fn frame_bytes(&self) -> u32 {
        self.channels.saturating_mul(SAMPLE_BYTES)
    }

    /// Bytes a second, each way.
    pub fn bytes_s(&self) -> f64 {
        self.rate_hz as f64 * f64::from(self.frame_bytes())
    }

    /// The time in which one block comes in, in nanoseconds.
    pub fn period_ns(&self) -> f64 {
        f64::from(self.notify_bytes) / self.bytes_s() * 1e9
    }

    /// The time that so many bytes take on the wire, in nanoseconds.
    pub fn time_ns(&self, bytes: u64) -> f64 {
        bytes as f64 / self.bytes_s() * 1e9
    }

    /// The latency of the loop, in nanoseconds.
    pub fn preload_ns(&self) -> f64 {
        self.time_ns(self.preload_bytes)
    }
}

impl fmt::Display for LoopPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rate, notify) = (self.rate_hz as f64 / 1e6, grouped(self.notify_bytes.into()));
        write!(f, "{rate} MS/s x {}, notify {notify} B", self.channels)?;
        if self.path.is_gpu() {
            write!(f, ", {}", self.path)?;
        }
        match self.aim {
            Aim::Curve => Ok(()),
            Aim::Hold => write!(
                f,
                ", holding a preload of {} B",
                grouped(self.preload_bytes)
            ),
        }
    }
}

/// A whole loop run, before it is run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopPlan {
    /// The digitizer and generator: `virtual:`, `virtual:thread`, `alsa:hw:0`.
    pub address: String,
    /// The sweep. With `find`, each point is followed by those that test a preload, which are
    /// numbered on behind the last of these.
    pub points: Vec<LoopPoint>,
    /// Measured time of each point, in nanoseconds; of a point that holds, `hold_ns`.
    pub duration_ns: u64,
    /// Start-up before it, left out of every figure.
    pub settle_ns: u64,
    /// Test the preload that the curve gives.
    pub find: bool,
    /// How long a preload must hold, in nanoseconds.
    pub hold_ns: u64,
    /// What is done to the samples, in this order.
    pub process: Vec<Stage>,
    /// How the loop waits.
    pub wait: LoopWait,
    /// Measure this host's memory, the stages and the wake-up of a plain timer thread too.
    pub calibrate: bool,
    /// The GPU of the points that need one, as the driver numbers them.
    #[serde(default)]
    pub gpu_device: u32,
    /// What is asked of the host for the loop's thread.
    pub host: HostPlan,
}
