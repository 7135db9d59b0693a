//! What a digitizer and a generator must be able to do to be looped: the one small interface
//! between the engine and a driver. docs/loop.md shows how to add one.

use std::sync::atomic::AtomicBool;
use wiregauge_link::LinkError;
use wiregauge_record::{DeviceLate, LinkDetail, LoopPoint, LoopWait, Stall, Verified, Xrun};

/// A block that has come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// When its last sample had come in, in nanoseconds since the first sample of the point.
    pub due_ns: u64,
    /// When the loop was back from waiting.
    pub seen_ns: u64,
}

/// A block that was handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submitted {
    /// When it was with the device, in nanoseconds since the first sample of the point.
    pub done_ns: u64,
    /// What the device has to say of it.
    pub xrun: Xrun,
}

/// What the device says at the end of a point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceEnd {
    /// Blocks whose input was lost, by the device's own count.
    pub overruns: u64,
    /// Blocks that the output had to do without, by the device's own count.
    pub underruns: u64,
    /// When; at most the first [`STALLS_KEPT`].
    pub stalls: Vec<Stall>,
    /// Blocks whose number, coded in the samples, was looked at as they were played.
    pub checked: u64,
    /// How many of them were not the block that the preload says.
    pub wrong: u64,
    /// How late the device itself was, where it is a program and can be: since [`LoopDevice::settled`].
    pub late: Option<DeviceLate>,
}

/// Stalls of a point that are kept one by one.
pub const STALLS_KEPT: usize = 1_000;

/// A digitizer and a generator on one clock. Input ring and output ring hold interleaved 16-bit
/// samples; both begin at the same instant, the output with the preload's zeros.
///
/// Before `start`, the loop may ask for the rings (`lend`). It calls `wait`, `block`, `submit` in turn, from one thread; none of them allocates, locks
/// or logs.
pub trait LoopDevice {
    /// What it is, for the conditions of the run.
    fn detail(&self) -> LinkDetail;

    /// Lays out and touches the rings of a point and lends them, so that a GPU's driver learns of their
    /// memory. They stay where they are through `start` and until `stop` of the same point. `None` where
    /// the memory is another driver's own.
    fn lend(&mut self, _point: &LoopPoint) -> Result<Option<LentRings<'_>>, LinkError> {
        Ok(None)
    }

    /// Lays out and touches both rings, puts the preload in, and starts. `copies` tells that the
    /// output is to be the input unchanged, so that numbers coded in the samples survive. Fails,
    /// saying what to try, where the device cannot have this rate, block or ring.
    fn start(&mut self, point: &LoopPoint, copies: bool) -> Result<(), LinkError>;

    /// Waits for the next block; `None` if `halt` was raised meanwhile.
    fn wait(&mut self, how: LoopWait, halt: &AtomicBool) -> Result<Option<Arrived>, LinkError>;

    /// The block that came in, and the place of its output: both `notify_bytes` long.
    fn block(&mut self) -> (&[i16], &mut [i16]);

    /// Hands the output over and releases the input.
    fn submit(&mut self) -> Result<Submitted, LinkError>;

    /// The start-up is over: what the device tells of its own lateness counts from here.
    fn settled(&mut self) {}

    /// Stops both sides and tells how it went.
    fn stop(&mut self) -> DeviceEnd;

    /// Both rings, for a look at what was played. After `stop` only; `None` where they are the
    /// driver's own.
    fn rings(&self) -> Option<Rings<'_>>;

    /// The latency as the device itself verified it, by a marker that it sent round. After `stop`
    /// only; `None` where it sends none.
    fn verified(&self) -> Option<Verified> {
        None
    }
}

/// The rings before the start: nothing in them is kept.
#[derive(Debug)]
pub struct LentRings<'a> {
    /// Where blocks come in.
    pub input: &'a mut [i16],
    /// Where they go out.
    pub output: &'a mut [i16],
}

/// The rings as they stand: frame `n` of a stream is at `n` modulo the ring. Input frame `n` was
/// answered at output frame `n` + preload.
#[derive(Clone, Copy, Debug)]
pub struct Rings<'a> {
    /// What came in.
    pub input: &'a [i16],
    /// What went out.
    pub output: &'a [i16],
    /// Blocks handed over since the start.
    pub blocks: u64,
    /// Blocks that had begun to come in by the end: each took the place of the one a ring before it.
    pub begun: u64,
}
