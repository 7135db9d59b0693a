//! Single numbers: measured ones with four digits, chosen ones with those that were chosen.

use wiregauge_record::grouped;

/// Size, the value from which on it is used, name.
type Unit = (f64, f64, &'static str);

/// Units of time, the largest first, in nanoseconds. Seconds go on to two minutes, as people count them.
const TIMES: [Unit; 8] = [
    (YEAR_NS, 2.0 * YEAR_NS, "years"),
    (24.0 * HOUR_NS, 48.0 * HOUR_NS, "days"),
    (HOUR_NS, 2.0 * HOUR_NS, "h"),
    (60e9, 120e9, "min"),
    (1e9, 0.999_95e9, "s"),
    (1e6, 0.999_95e6, "ms"),
    (1e3, 0.999_5e3, "us"),
    (1.0, 0.0, "ns"),
];

const HOUR_NS: f64 = 3600e9;
const YEAR_NS: f64 = 365.25 * 24.0 * HOUR_NS;

const RATES: [Unit; 4] = [
    (1e9, 0.999_95e9, "GB/s"),
    (1e6, 0.999_95e6, "MB/s"),
    (1e3, 0.999_5e3, "kB/s"),
    (1.0, 0.0, "B/s"),
];

/// A measured time of so many nanoseconds.
pub fn time(ns: f64) -> String {
    with_unit(ns, &TIMES)
}

/// A time of which two digits matter, such as an estimate far beyond what was measured.
pub fn about_time(ns: f64) -> String {
    let (size, name) = unit_of(ns, &TIMES);
    format!("{} {name}", two_digits(ns / size))
}

/// A measured rate of so many bytes a second, in powers of ten.
pub fn rate(bytes_s: f64) -> String {
    with_unit(bytes_s, &RATES)
}

fn with_unit(value: f64, units: &'static [Unit]) -> String {
    match unit_of(value, units) {
        // Nobody measures a part of the smallest unit.
        (1.0, name) => format!("{value:.0} {name}"),
        (size, name) => format!("{} {name}", significant(value / size)),
    }
}

/// Size and name of the largest unit that fits.
fn unit_of(value: f64, units: &'static [Unit]) -> (f64, &'static str) {
    let fits = |unit: &&Unit| value.abs() >= unit.1;
    let (size, _, name) = units.iter().find(fits).unwrap_or(&units[units.len() - 1]);
    (*size, name)
}

/// Two digits that matter, without an exponent as far as that can be read.
pub fn two_digits(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        size if !(1e-8..1e15).contains(&size) => format!("{value:.1e}"),
        size => trimmed(value, size),
    }
}

/// With as many decimals as two digits of `scale` need, without zeros at the end.
pub(crate) fn trimmed(value: f64, scale: f64) -> String {
    let decimals = (1.0 - scale.log10().floor()).max(0.0) as usize;
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}

/// A time that was chosen, with the digits that were chosen: `62.5 us`.
pub fn exact_time(ns: u64) -> String {
    let (unit, name) = match ns {
        1_000_000_000.. => (1e9, "s"),
        1_000_000.. => (1e6, "ms"),
        1_000.. => (1e3, "us"),
        _ => (1.0, "ns"),
    };
    format!("{} {name}", ns as f64 / unit)
}

/// A rate of bits in the unit in which it is named: `480 Mbit/s`.
pub fn bit_rate(bits_s: f64) -> String {
    match bits_s {
        b if b >= 1e9 => format!("{} Gbit/s", b / 1e9),
        b if b >= 1e6 => format!("{} Mbit/s", b / 1e6),
        b if b >= 1e3 => format!("{} kbit/s", b / 1e3),
        b => format!("{b} bit/s"),
    }
}

/// A chosen time as a flag takes it: `62.5us`.
pub fn flag_time(ns: u64) -> String {
    exact_time(ns).replace(' ', "")
}

/// A chosen rate as a flag takes it: `24MB/s`.
pub fn flag_rate(bytes_s: u64) -> String {
    match bytes_s {
        1_000_000.. => format!("{}MB/s", bytes_s as f64 / 1e6),
        1_000.. => format!("{}kB/s", bytes_s as f64 / 1e3),
        _ => format!("{bytes_s}B/s"),
    }
}

/// Size and name of the unit in which a time is shown, for bounds beside it.
pub fn time_unit(ns: f64) -> (f64, &'static str) {
    unit_of(ns, &TIMES)
}

/// Size and name of the unit in which a rate is shown.
pub fn rate_unit(bytes_s: f64) -> (f64, &'static str) {
    unit_of(bytes_s, &RATES)
}

/// Four digits, all of the whole part.
pub fn significant(value: f64) -> String {
    match value.abs() {
        v if v >= 1e15 => format!("{value:.3e}"),
        v if v >= 999.95 => {
            let sign = if value < 0.0 { "-" } else { "" };
            format!("{sign}{}", grouped(v.round() as u64))
        }
        v if v >= 99.995 => format!("{value:.1}"),
        v if v >= 9.9995 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// A number without unit of any size: four digits that matter.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "-".into();
    }
    if value == 0.0 {
        return "0".into();
    }
    if !(1e-4..1e7).contains(&value.abs()) {
        return format!("{value:.3e}");
    }
    let decimals = (3.0 - value.abs().log10().floor()).max(0.0) as usize;
    format!("{value:.decimals$}")
}

/// A rate of samples as a number of MS/s.
pub fn megasamples(rate_hz: u64) -> String {
    (rate_hz as f64 / 1e6).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_four_digits_in_the_unit_in_which_it_is_short() {
        let shown = [
            0.0,
            312.0,
            999.6,
            48_213.0,
            999_960.0,
            10_170_400.0,
            2e9,
            90e9,
            300e9,
            3.6e13,
            1e20,
        ];
        assert_eq!(
            shown.map(time),
            [
                "0 ns",
                "312 ns",
                "1.000 us",
                "48.21 us",
                "1.000 ms",
                "10.17 ms",
                "2.000 s",
                "90.00 s",
                "5.000 min",
                "10.00 h",
                "3,169 years"
            ]
        );
        assert_eq!(time(-1_500.0), "-1.500 us");
    }

    #[test]
    fn an_estimated_time_has_two() {
        let shown = [1500.0, 2.5e6, 90e9, 300e9, 3.612e13, 1e20].map(about_time);
        assert_eq!(
            shown,
            ["1.5 us", "2.5 ms", "90 s", "5 min", "10 h", "3169 years"]
        );
        let shown = [0.0, 0.036_2, 12.34, 250.0, 0.000_001_23, 3.1e-12].map(two_digits);
        assert_eq!(shown, ["0", "0.036", "12", "250", "0.0000012", "3.1e-12"]);
    }

    #[test]
    fn a_rate_has_four_digits_in_powers_of_ten() {
        let shown = [12.0, 999_960.0, 2.409e9, 24.3e6].map(rate);
        assert_eq!(shown, ["12 B/s", "1.000 MB/s", "2.409 GB/s", "24.30 MB/s"]);
    }

    #[test]
    fn a_chosen_time_has_the_digits_that_were_chosen() {
        let shown = [500, 20_000, 62_500, 1_000_000, 999_999, 2_000_000_000].map(exact_time);
        assert_eq!(
            shown,
            ["500 ns", "20 us", "62.5 us", "1 ms", "999.999 us", "2 s"]
        );
    }

    #[test]
    fn a_number_without_unit_has_four_digits_that_matter() {
        let shown = [0.0, 1.5, 123.456, 0.000_012_345].map(number);
        assert_eq!(shown, ["0", "1.500", "123.5", "1.234e-5"]);
    }
}
