//! What was asked of a point. Points of two runs belong together if the same was asked, wherever in
//! its run each stands.

use serde::{Serialize, Serializer};
use std::fmt;

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
    /// Without what is so in most runs: the first link, alone, for the first time.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usual = [("link", "0"), ("together", "no")];
        let mut parts: Vec<String> = self
            .parts
            .iter()
            .filter(|(name, value)| !usual.contains(&(*name, value.as_str())))
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        if self.again > 0 {
            parts.push(format!("time {}", self.again + 1));
        }
        f.write_str(&parts.join(" "))
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
