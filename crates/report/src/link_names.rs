//! What a link of several is called: each is measured alone, and together with the others.

/// `alone` or `together`.
pub(crate) fn how(together: bool) -> &'static str {
    match together {
        true => "together",
        false => "alone",
    }
}

/// `link 0 alone`.
pub(crate) fn link(link: u32, together: bool) -> String {
    format!("link {link} {}", how(together))
}
