//! The signs that a terminal's text spells in ASCII: µs, ±, ≥, ≤.

use std::borrow::Cow;

/// The same text with proper signs, for pages, figures, Markdown and LaTeX. `us` is taken for
/// microseconds after a number and a blank, after a parenthesis or `in`, or before a slash.
pub(crate) fn proper(text: &str) -> Cow<'_, str> {
    if !["us", "+-", ">=", "<="]
        .iter()
        .any(|spelled| text.contains(spelled))
    {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (sign, length) = match rest {
            _ if rest.starts_with("+-") => ('±', 2),
            _ if rest.starts_with(">=") => ('≥', 2),
            _ if rest.starts_with("<=") => ('≤', 2),
            _ if rest.starts_with("us") && is_unit(&out, &rest[2..]) => ('µ', 1),
            _ => (c, c.len_utf8()),
        };
        out.push(sign);
        rest = &rest[length..];
    }
    Cow::Owned(out)
}

fn is_unit(before: &str, after: &str) -> bool {
    let ends = !after.starts_with(|c: char| c.is_alphanumeric() || "_-=".contains(c));
    let number = |text: &str| text.ends_with(|c: char| c.is_ascii_digit() || c == '?');
    let named = before.ends_with('(')
        || before.strip_suffix(' ').is_some_and(number)
        || before == "in "
        || before.ends_with(" in ") && (!after.starts_with(' ') || after.starts_with(" ("))
        || before.ends_with(' ') && after.starts_with('/');
    ends && named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_signs_are_proper_and_names_stay() {
        for (spelled, proper_text) in [
            ("20.50 us", "20.50 µs"),
            ("RTT in us, mean TRT in us", "RTT in µs, mean TRT in µs"),
            ("TRT in us (mean)", "TRT in µs (mean)"),
            ("CPU us/exchange", "CPU µs/exchange"),
            ("RTT (us, log)", "RTT (µs, log)"),
            ("2.0 .. ? us, open", "2.0 .. ? µs, open"),
            ("mean +- SD >= 3 and <= 4", "mean ± SD ≥ 3 and ≤ 4"),
            ("--interval 100us", "--interval 100us"),
            ("plus, a usb in use", "plus, a usb in use"),
            ("board in us east", "board in us east"),
            ("us", "us"),
        ] {
            assert_eq!(proper(spelled), proper_text);
        }
    }
}
