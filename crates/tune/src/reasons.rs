//! Finds out what keeps the choice from being better.

use crate::observed::Observed;
use crate::posterior::Posterior;
use crate::space::{Grid, Place};
use crate::{Choice, Why};

/// A candidate would be better than the choice by this part, for a constraint to be what binds.
const BETTER: f64 = 0.01;

/// Of a choice that is proven to keep all constraints: the one that binds, or else the ends of the space at which it lies.
pub(crate) fn reasons(
    grid: &Grid,
    field: &Posterior,
    best: &Choice,
    observed: &[Observed],
) -> Vec<Why> {
    let Some(place) = grid.place(&best.at).filter(|_| best.keeps_all()) else {
        return Vec::new();
    };
    if let Some(constraint) = binding(field, place, observed) {
        return vec![Why::ConstraintBinds { constraint }];
    }
    let extent = grid.extent();
    let mut why = Vec::new();
    if extent[2] > 1 && place.0[2] + 1 == extent[2] {
        why.push(Why::LargestDepth);
    }
    let sized: Vec<usize> = (0..2).filter(|&axis| extent[axis] > 1).collect();
    if !sized.is_empty() {
        let is_largest = sized.iter().all(|&axis| place.0[axis] + 1 == extent[axis]);
        let is_smallest = sized.iter().all(|&axis| place.0[axis] == 0);
        why.extend(is_largest.then_some(Why::LargestSize));
        why.extend(is_smallest.then_some(Why::SmallestSize));
    }
    why
}

/// The constraint that keeps the objective where it is: of what was probed and is better, but is not shown to keep them
/// all, that which is nearest to.
fn binding(field: &Posterior, place: Place, observed: &[Observed]) -> Option<usize> {
    let here = field.at(place);
    let better = observed.iter().map(|t| (t.place, field.at(t.place)));
    let forbidden = better.filter(|(_, b)| b.shown < 0.5 && b.mean - b.sd > here.mean + BETTER);
    let (nearest, _) = forbidden.max_by(|a, b| a.1.slack.total_cmp(&b.1.slack))?;
    field.tightest(nearest)
}
