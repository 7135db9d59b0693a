//! Numbers of a column, all in one unit.

use crate::text::significant;

/// A unit of time for a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Microseconds.
    Micro,
    /// Milliseconds.
    Milli,
}

impl TimeUnit {
    /// The unit in which a typical value of this many nanoseconds reads well.
    pub fn fitting(typical_ns: f64) -> TimeUnit {
        if typical_ns >= 1e6 {
            TimeUnit::Milli
        } else {
            TimeUnit::Micro
        }
    }

    /// The unit in which the middle one of these nanoseconds reads well.
    pub fn of_median(times: impl Iterator<Item = f64>) -> TimeUnit {
        let mut times: Vec<f64> = times.collect();
        times.sort_by(f64::total_cmp);
        TimeUnit::fitting(times.get(times.len() / 2).copied().unwrap_or(0.0))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            TimeUnit::Micro => "us",
            TimeUnit::Milli => "ms",
        }
    }

    fn scaled(self, ns: f64) -> f64 {
        match self {
            TimeUnit::Micro => ns / 1e3,
            TimeUnit::Milli => ns / 1e6,
        }
    }

    /// Nanoseconds as a number in this unit.
    pub fn show(self, ns: f64) -> String {
        significant(self.scaled(ns))
    }

    /// Nanoseconds as a number of three digits, for a bound beside its value.
    pub fn show_short(self, ns: f64) -> String {
        let value = self.scaled(ns);
        let decimals = match value.abs() {
            v if v >= 100.0 => 0,
            v if v >= 10.0 => 1,
            _ => 2,
        };
        format!("{value:.decimals$}")
    }
}

/// A unit of rates for a column, in powers of ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateUnit {
    /// 1,000 B a second.
    Kilo,
    /// 1,000,000 B a second.
    Mega,
    /// 1,000,000,000 B a second.
    Giga,
}

impl RateUnit {
    /// The unit in which rates up to this one read well.
    pub fn fitting(fastest_bytes_s: f64) -> RateUnit {
        match fastest_bytes_s {
            fastest if fastest >= 0.999_95e9 => RateUnit::Giga,
            fastest if fastest >= 500e3 => RateUnit::Mega,
            _ => RateUnit::Kilo,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            RateUnit::Kilo => "kB/s",
            RateUnit::Mega => "MB/s",
            RateUnit::Giga => "GB/s",
        }
    }

    /// Bytes a second as a number in this unit.
    pub fn show(self, bytes_s: f64) -> String {
        let size = match self {
            RateUnit::Kilo => 1e3,
            RateUnit::Mega => 1e6,
            RateUnit::Giga => 1e9,
        };
        significant(bytes_s / size)
    }
}
