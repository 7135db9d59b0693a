//! One cycle of a control loop over a link as it was: a plain record of numbers.

use crate::names::names;
use serde::{Deserialize, Serialize};

/// How a cycle ended.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum CycleStatus {
    /// Sample and command were answered.
    #[default]
    Ok = 0,
    /// The sample has no reply: the controller did not run, and the last command stayed.
    SampleLost = 1,
    /// The command has no reply; whether it came into force is not known.
    CommandLost = 2,
    /// The sample came after a newer one: the controller did not run.
    Overtaken = 3,
    /// The tick passed: the program was late, or too many samples were outstanding.
    Unsent = 4,
}

names!(CycleStatus: Ok "ok", SampleLost "sample-lost", CommandLost "command-lost", Overtaken "overtaken",
    Unsent "unsent");

/// One cycle. Times are nanoseconds: of the host since the first tick, of the device by its own clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ControlCycle {
    /// Number of the cycle, from 0.
    pub sequence: u64,
    /// How it ended.
    pub status: CycleStatus,
    /// Its tick.
    pub intended_ns: u64,
    /// When the sample was requested.
    pub start_ns: u64,
    /// From there to the reply with the sample, or how long it was awaited.
    pub sample_rtt_ns: u64,
    /// When the command was sent; 0 if none was.
    pub command_start_ns: u64,
    /// From there to its reply, or how long it was awaited.
    pub command_rtt_ns: u64,
    /// Device time of the sample; 0 without one.
    pub sample_device_ns: u64,
    /// Device time at which the command came into force; 0 if not known.
    pub command_device_ns: u64,
    /// Reference of the first output; that of the others is 0.
    pub reference: f64,
    /// Outputs.
    pub y1: f64,
    /// See above.
    pub y2: f64,
    /// See above.
    pub y3: f64,
    /// See above.
    pub y4: f64,
    /// Commands.
    pub u1: f64,
    /// See above.
    pub u2: f64,
    /// See above.
    pub u3: f64,
    /// See above.
    pub u4: f64,
}

impl ControlCycle {
    /// Outputs and commands; those that the plant does not have are 0.
    pub fn signals(&self) -> ([f64; 4], [f64; 4]) {
        (
            [self.y1, self.y2, self.y3, self.y4],
            [self.u1, self.u2, self.u3, self.u4],
        )
    }

    /// True if the controller ran.
    pub fn ran(&self) -> bool {
        matches!(self.status, CycleStatus::Ok | CycleStatus::CommandLost)
    }

    /// From the sample to the command by the device's clock; `None` if one of them is missing.
    pub fn delay_ns(&self) -> Option<u64> {
        (self.status == CycleStatus::Ok)
            .then(|| self.command_device_ns.saturating_sub(self.sample_device_ns))
    }
}
