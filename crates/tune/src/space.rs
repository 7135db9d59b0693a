//! What may be set, and every combination of it as a candidate. Candidates are counted, not listed:
//! there may be millions.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use wiregauge_model::Setting;
use wiregauge_record::{Connect, Wait};

/// What may be set: every combination is a candidate, but for several outstanding on a link that is
/// opened anew for each exchange, which cannot be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Space {
    /// Bytes of a request; of a stream OUT, of a transfer.
    pub out_bytes: Vec<u32>,
    /// Bytes of a response; of a stream IN, of a transfer.
    pub in_bytes: Vec<u32>,
    /// Outstanding at once; of a stream, its queue.
    pub depth: Vec<u32>,
    /// How the measuring thread waits; one entry where that is not to be chosen.
    pub wait: Vec<Wait>,
    /// How often the link is opened; one entry where that is not to be chosen.
    pub connect: Vec<Connect>,
}

/// One candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// Sizes and depth.
    pub setting: Setting,
    /// How the measuring thread waits.
    pub wait: Wait,
    /// How often the link is opened.
    pub connect: Connect,
}

/// Why there is nothing to search in.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpaceError {
    /// Nothing to choose from on one axis.
    #[error("no {0} to choose from: give at least one")]
    Empty(&'static str),
    /// None outstanding is no exchange.
    #[error("depth 0 is not valid: use depths of 1 or more")]
    NoDepth,
    /// Only combinations that cannot be.
    #[error("--connect each requires --depth 1: add depth 1")]
    NoCandidate,
    /// The effort allows no exchange.
    #[error("no exchange is allowed: use a count of at least 1 and a share above 0")]
    NoEffort,
}

/// How many numbers say where a candidate lies.
pub(crate) const AXES: usize = 5;

/// A candidate as its place on each axis: out, in, depth, wait, connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Place(pub [usize; AXES]);

/// A space whose axes are in order, without what stands there twice.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    space: Space,
    /// Sizes and depths on a scale of 0 to 1, by their logarithms.
    scale: [Vec<f64>; 3],
}

impl Grid {
    pub fn new(mut space: Space) -> Result<Grid, SpaceError> {
        for (name, values) in [
            ("size of a request", &mut space.out_bytes),
            ("size of a response", &mut space.in_bytes),
            ("depth", &mut space.depth),
        ] {
            values.sort_unstable();
            values.dedup();
            if values.is_empty() {
                return Err(SpaceError::Empty(name));
            }
        }
        keep_first(&mut space.wait);
        keep_first(&mut space.connect);
        if space.wait.is_empty() {
            return Err(SpaceError::Empty("way to wait"));
        }
        if space.connect.is_empty() {
            return Err(SpaceError::Empty("way to connect"));
        }
        if space.depth[0] == 0 {
            return Err(SpaceError::NoDepth);
        }
        let scale = [&space.out_bytes, &space.in_bytes, &space.depth].map(|v| scaled(v));
        let grid = Grid { space, scale };
        match grid.count() {
            0 => Err(SpaceError::NoCandidate),
            _ => Ok(grid),
        }
    }

    /// Entries on each axis.
    pub fn extent(&self) -> [usize; AXES] {
        let Space {
            out_bytes,
            in_bytes,
            depth,
            wait,
            connect,
        } = &self.space;
        [
            out_bytes.len(),
            in_bytes.len(),
            depth.len(),
            wait.len(),
            connect.len(),
        ]
    }

    /// Candidates in all.
    pub fn count(&self) -> u64 {
        let [out, input, depth, wait, _] = self.extent().map(|n| n as u64);
        let depths_each = u64::from(self.space.depth.contains(&1));
        let depths: u64 = (self.space.connect.iter())
            .map(|connect| match connect {
                Connect::Once => depth,
                Connect::Each => depths_each,
            })
            .sum();
        out.saturating_mul(input)
            .saturating_mul(wait)
            .saturating_mul(depths)
    }

    pub fn candidate(&self, place: Place) -> Candidate {
        let [out, input, depth, wait, connect] = place.0;
        Candidate {
            setting: Setting {
                out_bytes: self.space.out_bytes[out],
                in_bytes: self.space.in_bytes[input],
                depth: self.space.depth[depth],
            },
            wait: self.space.wait[wait],
            connect: self.space.connect[connect],
        }
    }

    /// Where a candidate lies; `None` if it is none of ours.
    pub fn place(&self, at: &Candidate) -> Option<Place> {
        let place = Place([
            self.space
                .out_bytes
                .binary_search(&at.setting.out_bytes)
                .ok()?,
            self.space
                .in_bytes
                .binary_search(&at.setting.in_bytes)
                .ok()?,
            self.space.depth.binary_search(&at.setting.depth).ok()?,
            self.space.wait.iter().position(|w| *w == at.wait)?,
            self.space.connect.iter().position(|c| *c == at.connect)?,
        ]);
        self.can_be(place).then_some(place)
    }

    /// False for several outstanding on a link that is opened for each exchange.
    pub fn can_be(&self, place: Place) -> bool {
        let at = self.candidate(place);
        at.connect == Connect::Once || at.setting.depth == 1
    }

    /// Sizes and depth on scales of 0 to 1.
    pub fn scaled(&self, place: Place) -> [f64; 3] {
        [0, 1, 2].map(|axis| self.scale[axis][place.0[axis]])
    }

    /// The entry of an axis that is nearest to a place on its scale.
    pub fn nearest(&self, axis: usize, at: f64) -> usize {
        let scale = &self.scale[axis];
        let above = scale.partition_point(|x| *x < at).min(scale.len() - 1);
        let below = above.saturating_sub(1);
        if (scale[above] - at).abs() < (at - scale[below]).abs() {
            above
        } else {
            below
        }
    }
}

fn keep_first<T: PartialEq + Copy>(values: &mut Vec<T>) {
    let mut seen: Vec<T> = Vec::new();
    values.retain(|value| {
        let is_new = !seen.contains(value);
        seen.push(*value);
        is_new
    });
}

fn scaled(values: &[u32]) -> Vec<f64> {
    let log = |value: u32| f64::from(value).ln_1p();
    let (first, last) = (log(values[0]), log(values[values.len() - 1]));
    let width = if last > first { last - first } else { 1.0 };
    values.iter().map(|v| (log(*v) - first) / width).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space() -> Space {
        Space {
            out_bytes: vec![16],
            in_bytes: vec![4096, 64, 64, 512],
            depth: vec![1, 2, 8],
            wait: vec![Wait::Block, Wait::Spin],
            connect: vec![Connect::Once, Connect::Each],
        }
    }

    #[test]
    fn every_combination_that_can_be_is_counted_once() {
        let grid = Grid::new(space()).unwrap();
        let extent = grid.extent();
        let mut found = 0;
        for index in 0..extent.iter().product() {
            let mut rest = index;
            let place = Place(extent.map(|n| {
                let at = rest % n;
                rest /= n;
                at
            }));
            if grid.can_be(place) {
                found += 1;
                assert_eq!(grid.place(&grid.candidate(place)), Some(place));
            }
        }
        // Three sizes, two ways to wait; three depths on one link, one on a link for each.
        assert_eq!(found, 3 * 2 * (3 + 1));
        assert_eq!(grid.count(), found);
    }

    #[test]
    fn a_candidate_of_another_space_has_no_place() {
        let grid = Grid::new(space()).unwrap();
        let mut at = grid.candidate(Place([0, 1, 1, 0, 0]));
        at.setting.in_bytes = 65;
        assert_eq!(grid.place(&at), None);
    }

    #[test]
    fn a_space_without_a_candidate_is_refused_with_what_is_missing() {
        let without = |change: fn(&mut Space)| {
            let mut space = space();
            change(&mut space);
            Grid::new(space).unwrap_err()
        };
        assert_eq!(without(|s| s.depth.clear()), SpaceError::Empty("depth"));
        assert_eq!(without(|s| s.depth.push(0)), SpaceError::NoDepth);
        let only_each = |s: &mut Space| {
            s.connect = vec![Connect::Each];
            s.depth = vec![2, 4];
        };
        assert_eq!(without(only_each), SpaceError::NoCandidate);
    }

    #[test]
    fn the_nearest_entry_of_an_axis_is_found() {
        let grid = Grid::new(space()).unwrap();
        for index in 0..3 {
            assert_eq!(grid.nearest(1, grid.scale[1][index] + 0.01), index);
        }
        assert_eq!(grid.nearest(1, 2.0), 2);
    }
}
