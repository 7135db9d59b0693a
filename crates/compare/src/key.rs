//! What was asked of a point. Points of two runs belong together if the same was asked, wherever in
//! its run each stands.

use crate::setting::Settings;
use serde::{Serialize, Serializer};
use std::fmt;
use wiregauge_record::{Point, StreamPoint, Way};
use wiregauge_run::{Exchange, RunKind, Stream};

/// What was asked of a point, as names and values: sizes, depth, link; direction, transfer, queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub(crate) parts: Vec<(&'static str, String)>,
    /// The same in words.
    pub(crate) settings: Settings,
    /// The same was asked so many times before in the same run.
    pub(crate) again: usize,
}

impl Key {
    /// Of a point with these names and values, and the same in words.
    pub fn new(parts: Vec<(&'static str, String)>, settings: Settings) -> Key {
        Key {
            parts,
            settings,
            again: 0,
        }
    }

    pub(crate) fn of_exchange(point: &Point) -> Key {
        Key::new(Exchange::settings(point), Settings::of_exchange(point))
    }

    pub(crate) fn of_flow(point: &StreamPoint, way: Way) -> Key {
        let mut parts = Stream::settings(point);
        parts.insert(3, ("way", way.name().to_owned()));
        Key::new(parts, Settings::of_flow(point, way))
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
            settings: self.settings.clone().only(|setting| with(setting.key())),
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
        f.write_str(&self.settings.short_name())?;
        match self.again {
            0 => Ok(()),
            again => write!(f, ", time {}", again + 1),
        }
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.parts.iter().map(|(name, value)| (name, value)))
    }
}

/// A point of a run: what was asked, and where it stands in the run.
pub type Place = (Key, usize);

/// A value that is so or is not.
pub(crate) fn yes(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_record::Direction;

    fn exchange(link: u32, together: bool, sizes: (u32, u32)) -> Key {
        Key::of_exchange(&Point {
            index: 0,
            out_bytes: sizes.0,
            in_bytes: sizes.1,
            depth: 4,
            link,
            together,
        })
    }

    fn stream(direction: Direction, way: Way) -> Key {
        let point = StreamPoint {
            index: 0,
            direction,
            transfer_bytes: 65_536,
            queue: 2,
            link: 0,
            together: false,
        };
        Key::of_flow(&point, way)
    }

    #[test]
    fn any_size_is_one_of_responses() {
        let lines = exchange(0, false, (0, 0)).to_string();
        assert_eq!(lines, "OUT 0 B, IN any size, depth 4");
    }

    #[test]
    fn settings_that_have_a_meaning_only_with_each_other_are_kept_with_each_other() {
        let only = |key: Key, wanted: &[&str]| key.only(|name| wanted.contains(&name)).to_string();
        let link = |link, together| exchange(link, together, (16, 48));
        for wanted in [&["link"][..], &["together"], &["link", "together"]] {
            assert_eq!(only(link(0, false), wanted), "link 0 alone");
            assert_eq!(only(link(1, false), wanted), "link 1 alone");
            assert_eq!(only(link(0, true), wanted), "link 0 together");
        }
        assert_eq!(only(link(0, false), &["in", "link"]), "IN 48 B");
        assert_eq!(only(link(1, true), &["in"]), "IN 48 B");
        for wanted in ["direction", "way"] {
            assert_eq!(only(stream(Direction::In, Way::In), &[wanted]), "IN");
            let both = stream(Direction::Both, Way::In);
            assert_eq!(only(both, &[wanted]), "IN (both)");
        }
    }

    #[test]
    fn a_point_is_named_as_in_other_sentences() {
        let named = |link, together| exchange(link, together, (16, 4096)).to_string();
        let name = "OUT 16 B, IN 4,096 B, depth 4";
        assert_eq!(named(0, false), name);
        assert_eq!(named(1, false), format!("link 1 alone, {name}"));
        assert_eq!(named(0, true), format!("link 0 together, {name}"));
        let named = |direction, way| stream(direction, way).to_string();
        assert_eq!(
            named(Direction::In, Way::In),
            "IN, transfers of 65,536 B, queue 2"
        );
        assert_eq!(
            named(Direction::Both, Way::Out),
            "OUT (both), transfers of 65,536 B, queue 2"
        );
    }
}
