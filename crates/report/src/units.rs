//! How values print themselves: times in a unit chosen once a table, rates in powers of ten.

pub use wiregauge_record::grouped;
pub(crate) use wiregauge_record::grouped_digits;

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
        let value = self.scaled(ns);
        let decimals = match value.abs() {
            v if v >= 1000.0 => 0,
            v if v >= 100.0 => 1,
            v if v >= 10.0 => 2,
            _ => 3,
        };
        format!("{value:.decimals$}")
    }

    /// The same with three digits, for a bound beside its value.
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
}

impl RateUnit {
    /// The unit in which rates up to this one read well.
    pub fn fitting(fastest_bytes_s: f64) -> RateUnit {
        match fastest_bytes_s {
            fastest if fastest >= 500e3 => RateUnit::Mega,
            _ => RateUnit::Kilo,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            RateUnit::Kilo => "kB/s",
            RateUnit::Mega => "MB/s",
        }
    }

    /// Bytes a second as a number in this unit.
    pub fn show(self, bytes_s: f64) -> String {
        let value = match self {
            RateUnit::Kilo => bytes_s / 1e3,
            RateUnit::Mega => bytes_s / 1e6,
        };
        let decimals = match value {
            v if v >= 1000.0 => 0,
            v if v >= 100.0 => 1,
            v if v >= 10.0 => 2,
            _ => 3,
        };
        format!("{value:.decimals$}")
    }
}

/// A single time with its unit.
pub fn time(ns: f64) -> String {
    if ns >= 1e9 {
        format!("{:.3} s", ns / 1e9)
    } else if ns >= 1e6 {
        format!("{:.3} ms", ns / 1e6)
    } else if ns >= 1e3 {
        format!("{:.2} us", ns / 1e3)
    } else {
        format!("{ns:.0} ns")
    }
}

/// A rate of samples as a number of MS/s.
pub(crate) fn megasamples(rate_hz: u64) -> String {
    (rate_hz as f64 / 1e6).to_string()
}

/// Numbers from here on are printed with an exponent.
pub(crate) const LARGE: f64 = 1e15;

/// A count of which two digits matter.
pub fn about(count: f64) -> String {
    if !(1.0..LARGE).contains(&count) {
        return format!("{count:.1e}");
    }
    let step = 10_f64.powf((count.log10().floor() - 1.0).max(0.0));
    grouped(((count / step).round() * step) as u64)
}

/// A small share: `1 in 1,300`.
pub fn one_in(share: f64) -> String {
    format!("1 in {}", about(1.0 / share))
}

/// True of a share that is printed as more than 100 %.
pub(crate) fn is_above_all(share: f64) -> bool {
    share >= 1.000_05
}

/// Rounded up to two digits: enough where "about" is said of it.
pub fn rounded_up(value: f64) -> u64 {
    let step = 10_f64.powf((value.log10().floor() - 1.0).max(0.0));
    ((value / step).ceil() * step) as u64
}

/// A part of 1 in percent.
pub fn percent(part: f64) -> String {
    // 99.996 % of the exchanges is not all of them.
    let percent = part * 100.0;
    if part < 1.0 && percent > 99.99 {
        "> 99.99 %".into()
    } else if part > 0.0 && percent < 0.01 {
        "< 0.01 %".into()
    } else {
        format!("{percent:.2} %")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_digits_are_kept_and_nothing_is_promised_that_is_too_few() {
        for (value, rounded) in [(3.2, 4), (44.1, 45), (483.0, 490), (5_801.0, 5_900)] {
            assert_eq!(rounded_up(value), rounded);
        }
    }

    #[test]
    fn a_share_is_rounded_to_all_or_nothing_only_if_it_is() {
        assert_eq!(percent(1.0), "100.00 %");
        assert_eq!(percent(0.99999), "> 99.99 %");
        assert_eq!(percent(0.0), "0.00 %");
        assert_eq!(percent(0.00001), "< 0.01 %");
        assert_eq!(percent(0.25), "25.00 %");
        assert_eq!(is_above_all(1.000_04), percent(1.000_04) != "100.00 %");
        assert_eq!(is_above_all(1.000_06), percent(1.000_06) != "100.00 %");
    }

    #[test]
    fn a_small_share_is_one_in_a_number_of_two_digits() {
        assert_eq!(one_in(1e-6), "1 in 1,000,000");
        assert_eq!(one_in(0.02), "1 in 50");
        assert_eq!(one_in(0.000_765), "1 in 1,300");
    }

    #[test]
    fn numbers_have_units_and_groups() {
        assert_eq!(grouped(1_216_000), "1,216,000");
        assert_eq!(grouped(12), "12");
        assert_eq!(time(1_500.0), "1.50 us");
        assert_eq!(TimeUnit::fitting(2e6).show(2_345_678.0), "2.346");
    }
}
