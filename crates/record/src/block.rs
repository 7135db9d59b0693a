//! One block of a loop as it was measured: a plain record of integers.

use crate::names::names;
use crate::sample::Phase;
use serde::{Deserialize, Serialize};

/// What went wrong with a block.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Xrun {
    /// Nothing.
    #[default]
    None = 0,
    /// The input overwrote it before the host was done with it.
    Overrun = 1,
    /// The output needed it before the host had handed it over.
    Underrun = 2,
    /// Both.
    Both = 3,
}

names!(Xrun: None "none", Overrun "overrun", Underrun "underrun", Both "both");

impl Xrun {
    /// Of the two things that can go wrong.
    pub fn of(overrun: bool, underrun: bool) -> Xrun {
        Xrun::ALL[usize::from(overrun) + 2 * usize::from(underrun)]
    }

    /// True if its input was lost.
    pub fn is_over(self) -> bool {
        matches!(self, Xrun::Overrun | Xrun::Both)
    }

    /// True if the output was starved.
    pub fn is_under(self) -> bool {
        matches!(self, Xrun::Underrun | Xrun::Both)
    }
}

/// One block. Times are nanoseconds of the host's monotonic clock since the point's first sample
/// came in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Block {
    /// Number of the block within its point, from 0.
    pub sequence: u64,
    /// When its last sample had come in.
    pub due_ns: u64,
    /// When the loop began to process it.
    pub begun_ns: u64,
    /// When it had handed over the output.
    pub done_ns: u64,
    /// What went wrong.
    pub xrun: Xrun,
    /// `First`: the first block; `WarmUp`: within the start-up that is left out.
    pub phase: Phase,
}

impl Block {
    /// From its last sample in to the output handed over.
    pub fn service_ns(&self) -> u64 {
        self.done_ns.saturating_sub(self.due_ns)
    }

    /// From its last sample in to the loop's begin with it.
    pub fn wake_ns(&self) -> u64 {
        self.begun_ns.saturating_sub(self.due_ns)
    }

    /// The processing itself.
    pub fn work_ns(&self) -> u64 {
        self.done_ns.saturating_sub(self.begun_ns)
    }
}
