//! Numbers within a sentence.

/// A time with its unit.
pub(crate) fn time(ns: u64) -> String {
    let (value, unit) = match ns as f64 {
        v if v >= 1e9 => (v / 1e9, "s"),
        v if v >= 1e6 => (v / 1e6, "ms"),
        v if v >= 1e3 => (v / 1e3, "us"),
        v => (v, "ns"),
    };
    let decimals = match value {
        v if v >= 99.5 || unit == "ns" => 0,
        v if v >= 9.95 => 1,
        _ => 2,
    };
    format!("{value:.decimals$} {unit}")
}

/// A part of 1 in percent.
pub(crate) fn percent(part: f64) -> String {
    match part * 100.0 {
        p if p > 0.0 && p < 0.5 => "under 1 %".into(),
        p => format!("{p:.0} %"),
    }
}

/// A number with commas.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(count(1_733), "1,733");
        assert_eq!(count(12), "12");
        assert_eq!(time(812_400), "812 us");
        assert_eq!(time(8_240), "8.24 us");
        assert_eq!(percent(0.871), "87 %");
        assert_eq!(percent(0.001), "under 1 %");
    }
}
