//! What was measured, and where.

use serde::{Deserialize, Serialize};

/// What can be set. Of a stream, the size of a transfer stands in its direction, the other is 0, and
/// `depth` is its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Setting {
    /// Bytes of a request.
    pub out_bytes: u32,
    /// Bytes of a response.
    pub in_bytes: u32,
    /// Outstanding at once.
    pub depth: u32,
}

/// What was measured at one setting.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Where.
    pub at: Setting,
    /// Mean time between the ends of two exchanges (transfers), in nanoseconds.
    pub trt_ns: f64,
    /// Mean time of one, in nanoseconds; 0 where it is not known.
    pub rtt_ns: f64,
    /// Standard error of `trt_ns` as a part of it; 0 where it is not known.
    pub error: f64,
}
