//! The figures that are compared: those of the registry, a share below a limit, the buffer at a rate, and the parts of
//! an exchange's time.

use crate::portion::Portion;
use serde::{Serialize, Serializer};
use std::fmt;
use wiregauge_quantity::{flag_rate, flag_time};
use wiregauge_record::{Better, Carried, Figure as Named, Part, Problem, Times, Unit};
use wiregauge_stats::{Confidence, Estimate, Reading};

/// A figure of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// One that has a name.
    Named(Named),
    /// Share of the exchanges answered right in less than so many nanoseconds.
    Below(u64),
    /// The buffer that a device needs at so many bytes a second.
    Buffer(u64),
    /// Median of a part of an exchange's time.
    Portion(Portion),
    /// One that only one kind of run has.
    Own(Statistic),
}

/// A figure that only one kind of run has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistic {
    /// Its name.
    pub name: &'static str,
    /// What it is counted in.
    pub unit: Unit,
    /// Which way is better.
    pub better: Better,
}

impl Figure {
    /// One that answers what a user asks first: typical time, tail, rate, losses, and what the plan named.
    pub fn is_important(self) -> bool {
        match self {
            Figure::Named(named) => matches!(
                named,
                Named::Time(Times::Answer, Part::P50 | Part::P99)
                    | Named::Time(Times::Gap, Part::P99)
                    | Named::Exchanges
                    | Named::Rate(Carried::Both)
                    | Named::Share(Problem::Lost)
            ),
            Figure::Below(_) | Figure::Buffer(_) | Figure::Own(_) => true,
            Figure::Portion(_) => false,
        }
    }

    /// False of the longest: it grows with the length of a run, so no interval bounds it, and it has no verdict.
    pub fn has_interval(self) -> bool {
        !matches!(self, Figure::Named(Named::Time(_, Part::Max)))
    }

    /// What it is counted in.
    pub fn unit(self) -> Unit {
        match self {
            Figure::Named(named) => named.unit(),
            Figure::Below(_) => Unit::Share,
            Figure::Buffer(_) => Unit::Bytes,
            Figure::Portion(_) => Unit::Time,
            Figure::Own(own) => own.unit,
        }
    }

    /// Which way is better.
    pub fn better(self) -> Better {
        match self {
            Figure::Named(named) => named.better(),
            Figure::Below(_) => Better::Higher,
            Figure::Buffer(_) | Figure::Portion(_) => Better::Lower,
            Figure::Own(own) => own.better,
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Figure::Named(named) => named.fmt(f),
            Figure::Below(ns) => write!(f, "below({})", flag_time(*ns)),
            Figure::Buffer(bytes_s) => write!(f, "buffer({})", flag_rate(*bytes_s)),
            Figure::Portion(portion) => portion.fmt(f),
            Figure::Own(own) => f.write_str(own.name),
        }
    }
}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The longest of all, which no interval bounds.
pub(crate) fn longest(value: f64) -> Estimate {
    Estimate {
        value,
        low: None,
        high: None,
    }
}

/// The mean or a percentile, with its interval; extremes and spreads have none.
pub(crate) fn part(part: Part, of: &Reading, sure: Confidence) -> Option<Estimate> {
    let percentile = match part {
        Part::Mean => return Some(of.mean(sure)),
        Part::P50 => 0.5,
        Part::P90 => 0.9,
        Part::P99 => 0.99,
        Part::P999 => 0.999,
        _ => return None,
    };
    Some(of.percentile(percentile, sure))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_and_a_rate_are_written_as_in_flags() {
        assert_eq!(Figure::Below(1_500_000).to_string(), "below(1.5ms)");
        assert_eq!(Figure::Buffer(24_000_000).to_string(), "buffer(24MB/s)");
    }
}
