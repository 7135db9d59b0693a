//! The figures that are compared, by the names that `--require` gives them, and which way is better.

use serde::{Serialize, Serializer};
use std::fmt;
use wiregauge_quantity::{flag_rate, flag_time};

/// Which statistic of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Mean.
    Mean,
    /// Nearest-rank percentile, in thousandths: 999 is p99.9.
    Percentile(u32),
}

impl Part {
    /// The percentiles that are compared.
    pub const ALL: [Part; 5] = [
        Part::Mean,
        Part::Percentile(500),
        Part::Percentile(900),
        Part::Percentile(990),
        Part::Percentile(999),
    ];
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Mean => f.write_str("mean"),
            Part::Percentile(thousandths) => write!(f, "p{}", f64::from(*thousandths) / 10.0),
        }
    }
}

/// A figure of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Of an exchange: its time, from the intended start if both sides keep a schedule.
    Rtt(Part),
    /// Mean TRT.
    Trt,
    /// Right answers a second.
    Throughput,
    /// Share of the exchanges, or bytes, without a right answer in time.
    Lost,
    /// Share of the exchanges answered right in less than so many nanoseconds.
    Below(u64),
    /// Bytes a second of a stream.
    Rate,
    /// Completion to completion.
    Gap(Part),
    /// Submission to completion.
    Transfer(Part),
    /// Share of the bytes that came changed.
    Corrupted,
    /// The buffer that a device needs at so many bytes a second.
    Buffer(u64),
}

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Less of it.
    Lower,
    /// More of it.
    Higher,
}

/// What a figure is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Time,
    /// Exchanges a second.
    Exchanges,
    /// Bytes a second.
    Rate,
    /// Bytes.
    Bytes,
    /// A part of 1: differences are in points of percent, not in percent of it.
    Share,
}

impl Figure {
    /// What it is counted in.
    pub fn unit(self) -> Unit {
        match self {
            Figure::Rtt(_) | Figure::Trt | Figure::Gap(_) | Figure::Transfer(_) => Unit::Time,
            Figure::Throughput => Unit::Exchanges,
            Figure::Rate => Unit::Rate,
            Figure::Buffer(_) => Unit::Bytes,
            Figure::Lost | Figure::Corrupted | Figure::Below(_) => Unit::Share,
        }
    }

    /// Which way is better.
    pub fn better(self) -> Better {
        match self {
            Figure::Throughput | Figure::Rate | Figure::Below(_) => Better::Higher,
            _ => Better::Lower,
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Figure::Rtt(part) => part.fmt(f),
            Figure::Trt => f.write_str("trt"),
            Figure::Throughput => f.write_str("throughput"),
            Figure::Lost => f.write_str("lost"),
            Figure::Below(ns) => write!(f, "below({})", flag_time(*ns)),
            Figure::Rate => f.write_str("rate"),
            Figure::Gap(part) => write!(f, "gap.{part}"),
            Figure::Transfer(part) => write!(f, "transfer.{part}"),
            Figure::Corrupted => f.write_str("corrupted"),
            Figure::Buffer(bytes_s) => write!(f, "buffer({})", flag_rate(*bytes_s)),
        }
    }
}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_named_as_limits_name_them() {
        let names: Vec<String> = Part::ALL
            .map(Figure::Rtt)
            .iter()
            .map(Figure::to_string)
            .collect();
        assert_eq!(names, ["mean", "p50", "p90", "p99", "p99.9"]);
        let gap = Figure::Gap(Part::Percentile(999));
        assert_eq!(gap.to_string(), "gap.p99.9");
        assert_eq!(Figure::Below(1_500_000).to_string(), "below(1.5ms)");
        assert_eq!(Figure::Buffer(24_000_000).to_string(), "buffer(24MB/s)");
    }
}
