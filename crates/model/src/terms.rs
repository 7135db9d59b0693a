//! What a size costs: a straight line of bytes, or steps beside it where packets, frames or segments
//! are paid for whole. These are the columns of the fit.

use crate::{Observation, Setting};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What is paid for whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Steps {
    /// Packets of 64 B: bulk at full speed (USB 2.0, 5.8.3).
    Packets64,
    /// Packets of 512 B: bulk at high speed (USB 2.0, 5.8.3).
    Packets512,
    /// The same, with a packet of no bytes behind a multiple of 64 (USB 2.0, 5.8.3: a transfer ends
    /// with a packet that is not full).
    Packets64Ended,
    /// The same of 512.
    Packets512Ended,
    /// Frames of 1 ms, which carry 19 packets of 64 B at most (USB 2.0, table 5-9).
    Frames1216,
    /// Segments of 1460 B: TCP over Ethernet (RFC 9293, 3.7.1; 1500 B less two headers of 20 B).
    Segments1460,
}

impl Steps {
    /// All of them, in the order in which they are preferred.
    pub(crate) const ALL: [Steps; 6] = [
        Steps::Packets64,
        Steps::Packets512,
        Steps::Packets64Ended,
        Steps::Packets512Ended,
        Steps::Frames1216,
        Steps::Segments1460,
    ];

    /// Bytes of a whole one.
    pub fn bytes(self) -> u32 {
        match self {
            Steps::Packets64 | Steps::Packets64Ended => 64,
            Steps::Packets512 | Steps::Packets512Ended => 512,
            Steps::Frames1216 => 1216,
            Steps::Segments1460 => 1460,
        }
    }

    /// How many of them so many bytes are.
    pub fn of(self, bytes: u32) -> u32 {
        match self {
            Steps::Packets64Ended | Steps::Packets512Ended => bytes / self.bytes() + 1,
            _ => bytes.div_ceil(self.bytes()),
        }
    }

    /// One of them, in words.
    pub fn one(self) -> &'static str {
        match self {
            Steps::Packets64 | Steps::Packets64Ended => "packet of 64 B",
            Steps::Packets512 | Steps::Packets512Ended => "packet of 512 B",
            Steps::Frames1216 => "frame of 19 packets of 64 B",
            Steps::Segments1460 => "segment of 1460 B",
        }
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Steps::Packets64 => "whole packets of 64 B",
            Steps::Packets512 => "whole packets of 512 B",
            Steps::Packets64Ended => {
                "whole packets of 64 B, with a zero-length packet after each multiple of 64"
            }
            Steps::Packets512Ended => {
                "whole packets of 512 B, with a zero-length packet after each multiple of 512"
            }
            Steps::Frames1216 => "whole frames of 19 packets of 64 B",
            Steps::Segments1460 => "whole segments of 1460 B",
        })
    }
}

/// How the sizes of the two ways vary among the points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ways {
    /// Each for itself, or not at all.
    Apart { out: bool, in_: bool },
    /// By a law, such as the equal sizes of an echo: a byte's cost is known for both directions as a sum only.
    /// `in = at_none + slope * out`.
    Together { at_none: f64, slope: f64 },
}

impl Ways {
    pub(crate) fn of(points: &[Observation]) -> Ways {
        let sizes = |f: fn(Setting) -> u32| points.iter().map(move |p| f64::from(f(p.at)));
        let (out, in_) = (|| sizes(|at| at.out_bytes), || sizes(|at| at.in_bytes));
        let varies = |mut sizes: Box<dyn Iterator<Item = f64> + '_>| {
            let first = sizes.next();
            sizes.any(|size| Some(size) != first)
        };
        let (out_varies, in_varies) = (varies(Box::new(out())), varies(Box::new(in_())));
        if out_varies && in_varies {
            let n = points.len() as f64;
            let (mean_out, mean_in) = (out().sum::<f64>() / n, in_().sum::<f64>() / n);
            let squares: f64 = out().map(|size| (size - mean_out).powi(2)).sum();
            let both: f64 = out()
                .zip(in_())
                .map(|(o, i)| (o - mean_out) * (i - mean_in))
                .sum();
            let slope = both / squares;
            let law = Ways::Together {
                at_none: mean_in - slope * mean_out,
                slope,
            };
            if slope > 0.0 && points.iter().all(|point| law.holds(point.at)) {
                return law;
            }
        }
        Ways::Apart {
            out: out_varies,
            in_: in_varies,
        }
    }

    /// Whether the sizes of a setting are as those that were measured.
    pub(crate) fn holds(self, at: Setting) -> bool {
        match self {
            Ways::Apart { .. } => true,
            Ways::Together { at_none, slope } => {
                let in_ = f64::from(at.in_bytes);
                (at_none + slope * f64::from(at.out_bytes) - in_).abs() <= 1.0 + 0.01 * in_
            }
        }
    }
}

/// Which columns a stage has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Columns {
    pub(crate) ways: Ways,
    pub(crate) steps: Option<Steps>,
}

/// What of a stage's columns belongs to what.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    pub(crate) fixed_ns: f64,
    pub(crate) out_ns_a_byte: f64,
    pub(crate) in_ns_a_byte: f64,
    /// A packet, frame or segment.
    pub(crate) out_ns_a_step: f64,
    pub(crate) in_ns_a_step: f64,
}

impl Cost {
    pub(crate) fn of(&self, at: Setting, steps: Option<Steps>) -> f64 {
        let count = |bytes| steps.map_or(0.0, |steps| f64::from(steps.of(bytes)));
        self.fixed_ns
            + self.out_ns_a_byte * f64::from(at.out_bytes)
            + self.in_ns_a_byte * f64::from(at.in_bytes)
            + self.out_ns_a_step * count(at.out_bytes)
            + self.in_ns_a_step * count(at.in_bytes)
    }
}

impl Columns {
    /// How many there are, the fixed one included.
    pub(crate) fn count(self) -> usize {
        let ways = match self.ways {
            Ways::Apart { out, in_ } => usize::from(out) + usize::from(in_),
            Ways::Together { .. } => 1,
        };
        1 + ways * if self.steps.is_some() { 2 } else { 1 }
    }

    /// Writes the row of a setting into `row`, each value times `by`.
    pub(crate) fn write(self, at: Setting, by: f64, row: &mut [f64]) {
        let mut places = row.iter_mut();
        let mut push = |value: f64| {
            if let Some(place) = places.next() {
                *place = value * by;
            }
        };
        push(1.0);
        let kinds = [Some(None), self.steps.map(Some)];
        for kind in kinds.into_iter().flatten() {
            let much = |bytes: u32| f64::from(kind.map_or(bytes, |steps: Steps| steps.of(bytes)));
            match self.ways {
                Ways::Apart { out, in_ } => {
                    if out {
                        push(much(at.out_bytes));
                    }
                    if in_ {
                        push(much(at.in_bytes));
                    }
                }
                Ways::Together { .. } => push(much(at.out_bytes) + much(at.in_bytes)),
            }
        }
    }

    /// Names the coefficients.
    pub(crate) fn cost(self, coefficients: &[f64]) -> Cost {
        let mut left = coefficients.iter().copied();
        let mut next = || left.next().unwrap_or(0.0);
        let mut cost = Cost {
            fixed_ns: next(),
            ..Cost::default()
        };
        let mut pair = || match self.ways {
            Ways::Apart { out, in_ } => (
                if out { next() } else { 0.0 },
                if in_ { next() } else { 0.0 },
            ),
            Ways::Together { .. } => {
                let both = next();
                (both, both)
            }
        };
        (cost.out_ns_a_byte, cost.in_ns_a_byte) = pair();
        if self.steps.is_some() {
            (cost.out_ns_a_step, cost.in_ns_a_step) = pair();
        }
        cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(out_bytes: u32, in_bytes: u32) -> Observation {
        Observation {
            at: Setting {
                out_bytes,
                in_bytes,
                depth: 1,
            },
            trt_ns: 1.0,
            rtt_ns: 1.0,
            error: 0.0,
        }
    }

    #[test]
    fn a_multiple_of_the_packet_is_a_packet_more_where_an_empty_one_ends_it() {
        assert_eq!([63, 64, 65].map(|b| Steps::Packets64.of(b)), [1, 1, 2]);
        assert_eq!([63, 64, 65].map(|b| Steps::Packets64Ended.of(b)), [1, 2, 2]);
        assert_eq!([1460, 1461].map(|b| Steps::Segments1460.of(b)), [1, 2]);
    }

    #[test]
    fn the_equal_sizes_of_an_echo_are_one_way_of_varying() {
        let echo = [at(64, 64), at(512, 512), at(4096, 4096)];
        let Ways::Together { at_none, slope } = Ways::of(&echo) else {
            panic!("{:?}", Ways::of(&echo));
        };
        assert!(at_none.abs() < 1e-6 && (slope - 1.0).abs() < 1e-9);
        assert!(!Ways::of(&echo).holds(at(64, 4096).at));
    }
}
