//! Everything in a run may have been written by somebody else: what goes into the page is escaped
//! here, and nowhere else is a name joined to markup.

use serde::Serialize;
use std::borrow::Cow;

/// Text as it may stand between tags or inside quotes of an attribute.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    let needs = |c: char| matches!(c, '&' | '<' | '>' | '"' | '\'') || is_bad(c);
    if !text.contains(needs) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if is_bad(c) => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// The same for words of this program: with proper signs. What must stay as it is, such as a command, is not.
pub(crate) fn words(words: &str) -> String {
    text(&crate::signs::proper(words)).into_owned()
}

/// The same for prose, with flags such as `--depth`, and what stands between backticks, set as code, so that no line
/// breaks within them.
pub(super) fn prose(words: &str) -> String {
    let parts: Vec<&str> = words.split('`').collect();
    // One without a partner is a character like others.
    if parts.len().is_multiple_of(2) {
        return with_flags(words);
    }
    let parts = parts.iter().enumerate().map(|(at, part)| match at % 2 {
        0 => with_flags(part),
        _ => format!("<code>{}</code>", text(part)),
    });
    parts.collect()
}

fn with_flags(words: &str) -> String {
    let words = crate::signs::proper(words);
    let marked = words.split_inclusive(' ').map(|word| {
        let (before, rest) = word.split_at(word.len() - word.trim_start_matches('(').len());
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        let (flag, after) = rest.split_at(end.unwrap_or(rest.len()));
        match flag.strip_prefix("--").is_some_and(|name| !name.is_empty()) {
            true => format!("{before}<code>{flag}</code>{}", text(after)),
            false => text(word).into_owned(),
        }
    });
    marked.collect()
}

/// Control characters, and those that turn the direction of the text behind them.
fn is_bad(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A value as JSON that may stand inside a `<script>`: neither `</script>` nor `<!--` can occur,
/// because `<` stands in strings only and is written as its number there.
pub(super) fn json(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("the page's own types have string keys only");
    text.replace('<', "\\u003c")
}

/// A name as the `id` of an element: letters, digits and hyphens.
pub(super) fn id(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    name.replace(|c: char| !c.is_ascii_alphanumeric(), "-")
}

/// An SVG document as it may stand within HTML: from its root element on. What is before it (the XML
/// declaration, a comment) would be shown or dropped.
pub(super) fn svg(document: &str) -> &str {
    document
        .find("<svg")
        .map_or("", |at| document[at..].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_backticks_is_code() {
        let code = "<code>p90 &lt; 25ms</code> excludes <code>--depth</code> 4";
        assert_eq!(prose("`p90 < 25ms` excludes --depth 4"), code);
        assert_eq!(prose("a ` alone"), "a ` alone");
    }

    #[test]
    fn markup_in_a_name_stays_text() {
        assert_eq!(
            text("<script>alert('1')</script> & \"]]>\" \u{202e}µ\0"),
            "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;]]&gt;&quot; \u{fffd}µ\u{fffd}"
        );
        assert!(matches!(text("plain, µs"), Cow::Borrowed(_)));
    }

    #[test]
    fn flags_in_prose_are_code_and_nothing_else_is() {
        assert_eq!(
            prose("Try --depth 4 (--pin, --wait=spin), not -- or <b>."),
            "Try <code>--depth</code> 4 (<code>--pin</code>, <code>--wait</code>=spin), not -- or &lt;b&gt;."
        );
        assert_eq!(prose("--x<script>"), "<code>--x</code>&lt;script&gt;");
    }

    #[test]
    fn json_cannot_end_its_script_and_reads_back_the_same() {
        let hostile = "</script><!-- <script> \u{2028} \" \\ ]]>";
        let json = json(&[hostile]);
        assert!(!json.contains('<'), "{json}");
        let back: Vec<String> = serde_json::from_str(&json).unwrap();
        assert_eq!(back, [hostile]);
    }

    #[test]
    fn what_stands_before_the_svg_is_left_out() {
        assert_eq!(
            svg("<?xml version=\"1.0\"?>\n<svg>x</svg>\n"),
            "<svg>x</svg>"
        );
        assert_eq!(svg("not a drawing"), "");
        assert_eq!(id("RTT <b>"), "rtt--b-");
    }
}
