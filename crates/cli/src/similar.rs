//! The names that a mistyped one probably means.

/// Words that others use, and the name here.
const SYNONYMS: &[(&str, &str)] = &[
    ("median", "p50"),
    ("average", "mean"),
    ("avg", "mean"),
    ("std", "sd"),
    ("stdev", "sd"),
    ("stddev", "sd"),
    ("loss", "lost"),
    ("bandwidth", "throughput"),
];

/// More names than these that are equally close help nobody.
const MOST: usize = 3;

/// `; did you mean p90 or p99?` of `p98`; `None` if no name is close.
pub fn did_you_mean<T: AsRef<str>>(wrong: &str, names: &[T]) -> Option<String> {
    let wrong = wrong.trim().to_lowercase().replace(['_', ' '], "-");
    let names = || names.iter().map(AsRef::as_ref);
    let synonym = SYNONYMS.iter().find(|(other, _)| *other == wrong);
    if let Some((_, name)) = synonym.filter(|(_, name)| names().any(|known| known == *name)) {
        return Some(format!("; did you mean {name}?"));
    }
    let distance = |name: &str| strsim::osa_distance(&wrong, name);
    let smallest = names().map(distance).min()?;
    // One slip in four letters.
    if smallest > (wrong.chars().count() / 4).max(1) {
        return None;
    }
    let closest: Vec<&str> = names()
        .filter(|name| distance(name) == smallest && smallest < name.chars().count())
        .collect();
    match &closest[..] {
        [] => None,
        all if all.len() > MOST => None,
        [one] => Some(format!("; did you mean {one}?")),
        [others @ .., last] => Some(format!("; did you mean {} or {last}?", others.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_suggested_if_they_are_close() {
        let names = [
            "p50", "p90", "p99", "p99.9", "mean", "trt", "lost", "depth", "in",
        ];
        for (wrong, meant) in [
            ("p98", Some("; did you mean p90 or p99?")),
            ("P99", Some("; did you mean p99?")),
            ("maen", Some("; did you mean mean?")),
            ("dpeth", Some("; did you mean depth?")),
            ("median", Some("; did you mean p50?")),
            ("loss", Some("; did you mean lost?")),
            ("bandwidth", None),
            ("latency", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(did_you_mean(wrong, &names).as_deref(), meant, "{wrong}");
        }
        assert_eq!(did_you_mean("p98", &["p90", "p91", "p92", "p93"]), None);
    }
}
