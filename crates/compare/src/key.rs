//! What was asked of a point. Points of two runs belong together if the same was asked, wherever in
//! its run each stands.

use serde::{Serialize, Serializer};
use std::fmt;
use wiregauge_record::grouped;

/// What was asked of a point, as names and values: sizes, depth, link; direction, transfer, queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub(crate) parts: Vec<(&'static str, String)>,
    /// The same was asked so many times before in the same run.
    pub(crate) again: usize,
}

impl Key {
    pub(crate) fn new(parts: Vec<(&'static str, String)>) -> Key {
        Key { parts, again: 0 }
    }

    /// The same point by these settings only, and by those without which they have no meaning.
    pub fn only(&self, wanted: impl Fn(&str) -> bool) -> Key {
        let with = |name: &str| match name {
            "link" | "together" => wanted("link") || wanted("together"),
            "direction" | "way" => wanted("direction") || wanted("way"),
            other => wanted(other),
        };
        let parts = self.parts.iter().filter(|(name, _)| with(name));
        Key {
            parts: parts.cloned().collect(),
            again: self.again,
        }
    }

    /// Names and values; a part that has nothing to say (one link alone) is there too.
    pub fn parts(&self) -> &[(&'static str, String)] {
        &self.parts
    }

    /// The value of this name.
    pub fn value(&self, name: &str) -> Option<&str> {
        let part = self.parts.iter().find(|part| part.0 == name)?;
        Some(&part.1)
    }
}

impl fmt::Display for Key {
    /// `OUT 16 B, IN 48 B, depth 1`, without what is so in most runs: the first link, alone, for the first time.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let both = match self.value("direction") {
            Some("both") => " (both)",
            _ => "",
        };
        let together = self.value("together") == Some("yes");
        let size = |bytes: &str| bytes.parse().map_or_else(|_| bytes.to_owned(), grouped);
        let part = |(name, value): &(&str, String)| match (*name, value.as_str()) {
            ("together" | "direction", _) => None,
            ("link", "0") if !together => None,
            ("link", link) if together => Some(format!("link {link} together")),
            ("link", link) => Some(format!("link {link} alone")),
            ("in", "0") => Some("IN any size".to_owned()),
            ("out" | "in", bytes) => Some(format!("{} {} B", name.to_uppercase(), size(bytes))),
            ("way", way) => Some(format!("{}{both}", way.to_uppercase())),
            ("transfer", bytes) => Some(format!("transfers of {} B", size(bytes))),
            (name, value) => Some(format!("{name} {value}")),
        };
        let mut parts: Vec<String> = self.parts.iter().filter_map(part).collect();
        if let Some(link) = self.value("link").filter(|_| parts.is_empty()) {
            parts.push(format!("link {link} alone"));
        }
        if self.again > 0 {
            parts.push(format!("time {}", self.again + 1));
        }
        f.write_str(&parts.join(", "))
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.parts.iter().map(|(name, value)| (name, value)))
    }
}

/// A point of a run: what was asked, and where it stands in the run.
pub(crate) type Place = (Key, usize);

/// A value that is so or is not.
pub(crate) fn yes(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(parts: &[(&'static str, &str)]) -> Key {
        let parts = parts
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()));
        Key::new(parts.collect())
    }

    fn named(parts: &[(&'static str, &str)]) -> String {
        key(parts).to_string()
    }

    #[test]
    fn any_size_is_one_of_responses() {
        let lines = [("out", "0"), ("in", "0"), ("depth", "1")];
        assert_eq!(named(&lines), "OUT 0 B, IN any size, depth 1");
    }

    #[test]
    fn settings_that_have_a_meaning_only_with_each_other_are_kept_with_each_other() {
        let only = |parts: &[(&'static str, &str)], wanted: &[&str]| {
            let key = key(parts).only(|name| wanted.contains(&name));
            key.to_string()
        };
        let link = |link, together| [("in", "48"), ("link", link), ("together", together)];
        for wanted in [&["link"][..], &["together"], &["link", "together"]] {
            assert_eq!(only(&link("0", "no"), wanted), "link 0 alone");
            assert_eq!(only(&link("1", "no"), wanted), "link 1 alone");
            assert_eq!(only(&link("0", "yes"), wanted), "link 0 together");
        }
        assert_eq!(only(&link("0", "no"), &["in", "link"]), "IN 48 B");
        assert_eq!(only(&link("1", "yes"), &["in"]), "IN 48 B");
        let way = |direction, way| [("direction", direction), ("queue", "2"), ("way", way)];
        for wanted in ["direction", "way"] {
            assert_eq!(only(&way("in", "in"), &[wanted]), "IN");
            assert_eq!(only(&way("both", "in"), &[wanted]), "IN (both)");
        }
    }

    #[test]
    fn a_point_is_named_as_in_other_sentences() {
        let exchange = [("out", "16"), ("in", "4096"), ("depth", "4")];
        let link =
            |link, together| [&exchange[..], &[("link", link), ("together", together)]].concat();
        let name = "OUT 16 B, IN 4,096 B, depth 4";
        assert_eq!(named(&link("0", "no")), name);
        assert_eq!(named(&link("1", "no")), format!("{name}, link 1 alone"));
        assert_eq!(named(&link("0", "yes")), format!("{name}, link 0 together"));
        let stream = |direction, way| {
            [
                ("direction", direction),
                ("transfer", "65536"),
                ("queue", "2"),
                ("way", way),
            ]
        };
        assert_eq!(
            named(&stream("in", "in")),
            "transfers of 65,536 B, queue 2, IN"
        );
        assert_eq!(
            named(&stream("both", "out")),
            "transfers of 65,536 B, queue 2, OUT (both)"
        );
    }
}
