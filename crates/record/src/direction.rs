//! Directions of data, seen from the host.

use crate::names::names;
use serde::{Deserialize, Serialize};

/// Which way the data flows, seen from the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Device to host.
    In,
    /// Host to device.
    Out,
    /// Both at once.
    Both,
}

names!(Direction: In "in", Out "out", Both "both");

impl Direction {
    /// The single ways that it is made of.
    pub fn ways(self) -> &'static [Way] {
        match self {
            Direction::In => &[Way::In],
            Direction::Out => &[Way::Out],
            Direction::Both => &[Way::In, Way::Out],
        }
    }

    /// One of its ways in words: `IN`, or `IN (both)` while the other flows too.
    pub fn words_of(self, way: Way) -> &'static str {
        match (self, way) {
            (Direction::Both, Way::In) => "IN (both)",
            (Direction::Both, Way::Out) => "OUT (both)",
            (_, Way::In) => "IN",
            (_, Way::Out) => "OUT",
        }
    }
}

/// One way of flowing.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Way {
    /// Device to host.
    #[default]
    In = 0,
    /// Host to device.
    Out = 1,
}

names!(Way: In "in", Out "out");
