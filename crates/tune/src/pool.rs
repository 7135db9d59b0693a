//! Which candidates are looked at: all where they are few; otherwise a lattice that moves from probe to
//! probe, and everything near what was found good. Also those that are probed first.

use crate::space::{AXES, Grid, Place};
use std::collections::BTreeSet;

/// Spaces up to this size are looked at whole.
const WHOLE: u64 = 600;

/// In spaces up to this size each candidate is probed, and none is left to the model.
pub(crate) const EACH: u64 = 32;

/// Entries of a long axis in the lattice.
const LATTICE: usize = 12;

/// Steps along one axis from what was found good.
const STEPS: [usize; 9] = [1, 2, 3, 4, 6, 9, 14, 24, 48];

/// The candidates to look at in this round; `around` are those found good, best first.
pub(crate) fn pool(grid: &Grid, probed: &[Place], around: &[Place], round: usize) -> Vec<Place> {
    let extent = grid.extent();
    let mut places = BTreeSet::new();
    if grid.count() <= WHOLE {
        let all: [Vec<usize>; AXES] = extent.map(|n| (0..n).collect());
        product(&all, &mut places);
    } else {
        // Another lattice each time: the golden ratio spreads them evenly (Weyl).
        let shift = (round as f64 * 0.618_033_988_75).fract();
        let axes = [0, 1, 2].map(|axis| ticks(grid, axis, shift));
        let [out, input, depth] = axes;
        let labels = [3, 4].map(|axis| (0..extent[axis]).collect());
        let [wait, connect] = labels;
        product(&[out, input, depth, wait, connect], &mut places);
        places.extend(probed);
        for &place in around {
            near(grid, place, probed, &mut places);
        }
    }
    places.retain(|place| grid.can_be(*place));
    places.into_iter().collect()
}

fn ticks(grid: &Grid, axis: usize, shift: f64) -> Vec<usize> {
    let n = grid.extent()[axis];
    if n <= LATTICE {
        return (0..n).collect();
    }
    let inner = (0..LATTICE).map(|i| grid.nearest(axis, (i as f64 + shift) / LATTICE as f64));
    let mut ticks: Vec<usize> = inner.chain([0, n - 1]).collect();
    ticks.sort_unstable();
    ticks.dedup();
    ticks
}

fn product(axes: &[Vec<usize>; AXES], into: &mut BTreeSet<Place>) {
    let mut at = [0; AXES];
    loop {
        into.insert(Place(std::array::from_fn(|axis| axes[axis][at[axis]])));
        let Some(axis) = (0..AXES)
            .rev()
            .find(|&axis| at[axis] + 1 < axes[axis].len())
        else {
            return;
        };
        at[axis] += 1;
        at[axis + 1..].fill(0);
    }
}

/// Along each axis: steps that grow, and the middle of the gap to the next probe on either side.
fn near(grid: &Grid, place: Place, probed: &[Place], into: &mut BTreeSet<Place>) {
    let extent = grid.extent();
    for (axis, &entries) in extent.iter().enumerate() {
        let here = place.0[axis];
        let mut go = |to: usize| {
            let mut other = place;
            other.0[axis] = to;
            into.insert(other);
        };
        for step in STEPS {
            if here >= step {
                go(here - step);
            }
            if here + step < entries {
                go(here + step);
            }
        }
        let others = probed.iter().map(|other| other.0[axis]);
        let above = others.clone().filter(|&x| x > here).min();
        let below = others.filter(|&x| x < here).max();
        go((here + above.unwrap_or(entries - 1)) / 2);
        go(here.div_ceil(2).max((here + below.unwrap_or(0)) / 2));
    }
}

/// What is probed first: the corners of sizes and depth, the middle, some between, and each other way to
/// wait and to connect once.
pub(crate) fn design(grid: &Grid) -> Vec<Place> {
    if grid.count() <= EACH {
        return pool(grid, &[], &[], 0);
    }
    let extent = grid.extent();
    let last = extent.map(|n| n - 1);
    let middle = |axis: usize| grid.nearest(axis, 0.5);
    let [out, input, depth] = [0, 1, 2].map(middle);
    let larger = [0, 1].map(|axis| grid.nearest(axis, 0.75));
    let shallow = grid.nearest(2, 0.25);
    let once = Place([0; AXES]);
    let plain = (0..extent[4]).find(|&connect| {
        let mut deep = once;
        deep.0[2] = last[2];
        deep.0[4] = connect;
        grid.can_be(deep)
    });
    let connect = plain.unwrap_or(0);
    let at = |sizes: [usize; 3]| Place([sizes[0], sizes[1], sizes[2], 0, connect]);
    let mut design = vec![
        at([0, 0, 0]),
        at([last[0], last[1], last[2]]),
        at([last[0], last[1], 0]),
        at([0, 0, last[2]]),
        at([out, input, depth]),
        at([out, input, 0]),
        at([last[0], last[1], depth]),
        at([out, input, shallow]),
        at([larger[0], larger[1], shallow]),
        at([last[0], 0, 0]),
        at([0, last[1], 0]),
        at([last[0], 0, last[2]]),
        at([0, last[1], last[2]]),
    ];
    for wait in 1..extent[3] {
        design.push(Place([out, input, depth, wait, connect]));
    }
    for other in (0..extent[4]).filter(|&other| other != connect) {
        design.push(Place([out, input, 0, 0, other]));
    }
    let mut seen = BTreeSet::new();
    design.retain(|place| grid.can_be(*place) && seen.insert(*place));
    design
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Space;
    use wiregauge_record::{Connect, Wait};

    fn grid(sizes: Vec<u32>, depth: u32) -> Grid {
        Grid::new(Space {
            out_bytes: vec![16],
            in_bytes: sizes,
            depth: (1..=depth).collect(),
            wait: vec![Wait::Block, Wait::Spin],
            connect: vec![Connect::Each, Connect::Once],
        })
        .unwrap()
    }

    #[test]
    fn a_small_space_is_looked_at_whole() {
        let grid = grid(vec![64, 512], 4);
        assert_eq!(pool(&grid, &[], &[], 0).len() as u64, grid.count());
    }

    #[test]
    fn in_a_large_space_the_lattices_and_the_neighbours_are_looked_at() {
        let grid = grid((3..500).map(|n| 16 * n).collect(), 16);
        let good = Place([0, 300, 5, 0, 1]);
        let found = pool(&grid, &[good], &[good], 3);
        assert!(found.len() < 1500, "{}", found.len());
        for step in [1, 2, 3] {
            assert!(found.contains(&Place([0, 300 + step, 5, 0, 1])));
            assert!(found.contains(&Place([0, 300 - step, 5, 0, 1])));
        }
        assert!(found.iter().all(|place| grid.can_be(*place)));
        assert_ne!(found, pool(&grid, &[good], &[good], 4));
    }

    #[test]
    fn the_first_probes_reach_every_corner_and_every_way() {
        let grid = grid((3..500).map(|n| 16 * n).collect(), 16);
        let design = design(&grid);
        for corner in [[0, 0], [0, 15], [496, 0], [496, 15]] {
            assert!(design.contains(&Place([0, corner[0], corner[1], 0, 1])));
        }
        assert!(design.iter().any(|place| place.0[3] == 1));
        assert!(design.iter().any(|place| place.0[4] == 0));
        assert!(design.len() <= 14);
    }
}
