//! Whole numbers in texts.

/// A whole number with its thousands set off.
pub fn grouped(number: u64) -> String {
    grouped_digits(&number.to_string())
}

/// The digits of a whole number with its thousands set off.
pub fn grouped_digits(digits: &str) -> String {
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
    fn thousands_are_set_off() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (1_216_000, "1,216,000"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }
}
