//! Text as a sentence.

/// A sentence: with a capital, and a stop at its end.
pub(crate) fn sentence(text: &str) -> String {
    let first = text.chars().next().map_or(0, char::len_utf8);
    let stop = if text.ends_with(['.', '?', '!']) {
        ""
    } else {
        "."
    };
    format!("{}{}{stop}", text[..first].to_uppercase(), &text[first..])
}
