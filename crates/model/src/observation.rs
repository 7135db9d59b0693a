//! What was measured, and where.

use serde::{Deserialize, Serialize};
use std::fmt;
use wiregauge_record::grouped;

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

impl Setting {
    /// `OUT 16 B, IN 48 B`: the sizes of an exchange.
    pub fn sizes(&self) -> String {
        let requests = grouped(self.out_bytes.into());
        format!("OUT {requests} B, {}", response_size(self.in_bytes))
    }
}

impl fmt::Display for Setting {
    /// `OUT 16 B, IN 48 B, depth 1`, as a point of an exchange run is named.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, depth {}", self.sizes(), self.depth)
    }
}

/// The size of a response in words: `IN 48 B`. 0 bytes mean any size, because the response itself shows where it ends.
pub fn response_size(bytes: u32) -> String {
    match bytes {
        0 => "IN any size".to_owned(),
        bytes => format!("IN {} B", grouped(bytes.into())),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_record::Point;

    #[test]
    fn a_setting_is_named_as_the_point_of_a_run_that_has_it() {
        for in_bytes in [0, 48, 4096] {
            let setting = Setting {
                out_bytes: 1000,
                in_bytes,
                depth: 4,
            };
            let point = Point {
                index: 0,
                out_bytes: 1000,
                in_bytes,
                depth: 4,
                link: 0,
                together: false,
            };
            assert_eq!(setting.to_string(), point.to_string());
        }
    }
}
