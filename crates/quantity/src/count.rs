//! Counts of which not every digit matters.

use wiregauge_record::grouped;

/// Numbers from here on are printed with an exponent.
pub const LARGE: f64 = 1e15;

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

/// How many times as much, with three digits at least: `2.50 times`, `16,675 times`.
pub fn times(factor: f64) -> String {
    let number = match factor {
        large if large >= LARGE => format!("{large:.1e}"),
        hundreds if hundreds >= 99.95 => grouped(hundreds.round() as u64),
        tens if tens >= 9.995 => format!("{tens:.1}"),
        few => format!("{few:.2}"),
    };
    format!("{number} times")
}

/// Rounded up to two digits: enough where "about" is said of it.
pub fn rounded_up(value: f64) -> u64 {
    let step = 10_f64.powf((value.log10().floor() - 1.0).max(0.0));
    ((value / step).ceil() * step) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_digits_are_kept_and_nothing_is_promised_that_is_too_few() {
        for (value, rounded) in [(3.2, 4), (44.1, 45), (483.0, 490), (5_801.0, 5_900)] {
            assert_eq!(rounded_up(value), rounded);
        }
        let shown = [1.0, 123_456.0, 99_999.0].map(about);
        assert_eq!(shown, ["1", "120,000", "100,000"]);
    }

    #[test]
    fn a_small_share_is_one_in_a_number_of_two_digits() {
        assert_eq!(one_in(1e-6), "1 in 1,000,000");
        assert_eq!(one_in(0.02), "1 in 50");
        assert_eq!(one_in(0.000_765), "1 in 1,300");
        let shown = [0.0, 0.5, 1.026, 3.0, 40.04, 812.3, 16_675.2, 1e20].map(times);
        assert_eq!(
            shown,
            [
                "0.00 times",
                "0.50 times",
                "1.03 times",
                "3.00 times",
                "40.0 times",
                "812 times",
                "16,675 times",
                "1.0e20 times"
            ]
        );
    }
}
