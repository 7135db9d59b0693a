//! Shares of a whole.

use crate::text::{trimmed, two_digits};

/// A share in percent: `50 %`, `99.56 %`, `0.036 %`. It is 0 or 100 only if it is none or all.
pub fn percent(share: f64) -> String {
    format!("{} %", percent_number(share))
}

/// A share in percent without the sign: one decimal, or two digits of the difference to the nearer of 0 and 100.
pub fn percent_number(share: f64) -> String {
    let percent = share * 100.0;
    let rest = (100.0 - percent.abs()).abs();
    match percent.abs() {
        size if (1.0..99.0).contains(&size) => trimmed(percent, 1.0),
        size if !(1.0..101.0).contains(&size) => two_digits(percent),
        size if rest < 1e-8 || size > 100.0 && !is_above_all(size / 100.0) => {
            format!("{percent:.0}")
        }
        _ => trimmed(percent, rest),
    }
}

/// True of a share that is printed as more than 100 %.
pub fn is_above_all(share: f64) -> bool {
    share >= 1.000_05
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_all_or_none_only_if_it_is() {
        let shown = [
            1.0, 0.999_99, 0.995_56, 0.960_3, 0.939, 0.5, 0.001, 0.000_36, 0.0,
        ];
        assert_eq!(
            shown.map(percent_number),
            [
                "100", "99.999", "99.56", "96", "93.9", "50", "0.1", "0.036", "0"
            ]
        );
        assert_eq!(percent(1e-12), "1.0e-10 %");
        assert_eq!(percent(-0.374_9), "-37.5 %");
        let beyond = [1.000_04, 1.000_07, 1.004, 1.03, 2.5, -0.996, -1.0];
        assert_eq!(
            beyond.map(percent_number),
            ["100", "100.007", "100.4", "103", "250", "-99.6", "-100"]
        );
    }

    #[test]
    fn more_than_all_is_what_is_printed_so() {
        for share in [1.0, 1.000_04, 1.000_06, 1.004, 1.03] {
            assert_eq!(is_above_all(share), percent(share) != "100 %", "{share}");
        }
    }
}
