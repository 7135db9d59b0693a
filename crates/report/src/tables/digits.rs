//! Shares and spans of time, with the digits that matter.

/// An hour in nanoseconds.
pub(super) const HOUR_NS: f64 = 3600e9;

/// A share in percent, two digits that matter; 100 is all of them.
pub(super) fn in_percent(share: f64) -> String {
    let (percent, rest) = (share * 100.0, 100.0 - share * 100.0);
    if !(90.0..100.0).contains(&percent) || rest < 1e-8 {
        return digits(percent);
    }
    let decimals = (1.0 - rest.log10().floor()).max(0.0) as usize;
    let text = format!("{percent:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}

/// Two digits that matter, without an exponent as far as that can be read.
pub(super) fn digits(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if value < 1e-8 {
        return format!("{value:.1e}");
    }
    let decimals = (1.0 - value.log10().floor()).max(0.0) as usize;
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}

/// A span of time from nanoseconds to years.
pub(super) fn span(ns: f64) -> String {
    const UNITS: [(f64, &str); 4] = [
        (365.25 * 24.0 * HOUR_NS, "years"),
        (24.0 * HOUR_NS, "days"),
        (HOUR_NS, "h"),
        (60e9, "min"),
    ];
    match UNITS.iter().find(|(unit, _)| ns >= 2.0 * unit) {
        Some((unit, name)) => format!("{} {name}", digits(ns / unit)),
        None if ns >= 1e9 => format!("{} s", digits(ns / 1e9)),
        None if ns >= 1e6 => format!("{} ms", digits(ns / 1e6)),
        None => format!("{} us", digits(ns / 1e3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::about;

    #[test]
    fn a_share_is_100_percent_only_if_it_is() {
        let shown = [1.0, 0.995_56, 0.960_3, 0.939, 0.5, 0.0].map(in_percent);
        assert_eq!(shown, ["100", "99.56", "96", "93.9", "50", "0"]);
    }

    #[test]
    fn numbers_show_the_digits_that_matter() {
        let shown = [0.0, 0.036_2, 1.0, 12.34, 250.0, 0.000_001_23, 3.1e-12].map(digits);
        assert_eq!(
            shown,
            ["0", "0.036", "1", "12", "250", "0.0000012", "3.1e-12"]
        );
        assert_eq!(
            [1.0, 123_456.0, 99_999.0].map(about),
            ["1", "120,000", "100,000"]
        );
        let spans = [1500.0, 2.5e6, 90e9, 300e9, 3.6e13, 1e20].map(span);
        assert_eq!(
            spans,
            ["1.5 us", "2.5 ms", "90 s", "5 min", "10 h", "3169 years"]
        );
    }
}
