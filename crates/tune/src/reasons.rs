//! Finds out why the limit is where it is.

use crate::observed::{Observed, longest};
use crate::posterior::Posterior;
use crate::space::{Grid, Place};
use crate::{Choice, Compliance, Why};
use wiregauge_model::LinkModel;

/// A candidate would be better than the choice by this part, for a constraint to be what binds.
const BETTER: f64 = 0.01;

/// What weighs most first.
pub(crate) fn reasons(
    grid: &Grid,
    field: &Posterior,
    best: &Choice,
    model: Option<&LinkModel>,
    observed: &[Observed],
) -> Vec<Why> {
    let Some(place) = grid.place(&best.at) else {
        return Vec::new();
    };
    let constraint = limiting(field, best, place, observed);
    let mut why: Vec<Why> = constraint.into_iter().collect();
    let setting = best.at.setting;
    let extent = grid.extent();
    let (mut is_saturated, mut is_refuted) = (false, false);
    if let Some(depth) = model.and_then(|m| m.saturation_depth(setting.out_bytes, setting.in_bytes))
    {
        is_refuted = is_refuted_by_the_choice(grid, place, depth);
        is_saturated = f64::from(setting.depth) >= depth && !is_refuted;
        match (is_refuted, is_saturated) {
            (true, _) => {}
            (_, true) => why.push(Why::Saturated { depth }),
            (_, false) => why.push(Why::LatencyBound {
                saturates_at: depth,
            }),
        }
    }
    if constraint.is_some() {
        return why;
    }
    if extent[2] > 1 && place.0[2] + 1 == extent[2] && !is_saturated {
        why.push(Why::LargestDepth);
    } else if is_refuted {
        why.push(Why::InnerDepth);
    }
    let mut sized = (0..2).filter(|&axis| extent[axis] > 1).peekable();
    if sized.peek().is_some() {
        let at_end = |last: bool| {
            let mut axes = sized.clone();
            axes.all(|axis| place.0[axis] == if last { extent[axis] - 1 } else { 0 })
        };
        why.push(match (at_end(true), at_end(false)) {
            (true, _) => Why::LargestSize,
            (_, true) => Why::SmallestSize,
            _ => Why::InnerOptimum,
        });
    }
    why
}

/// True where more outstanding gave more than a smaller depth at which, by the model, the slowest stage is
/// busy all the time.
fn is_refuted_by_the_choice(grid: &Grid, place: Place, saturated_from: f64) -> bool {
    let Some(shallower) = place.0[2].checked_sub(1) else {
        return false;
    };
    let mut next = place;
    next.0[2] = shallower;
    // As it is printed: 1.04 is "depth 1.0".
    let printed = (10.0 * saturated_from).round() / 10.0;
    f64::from(grid.candidate(next).setting.depth) >= printed
}

/// The constraint that keeps the objective where it is.
fn limiting(field: &Posterior, best: &Choice, place: Place, observed: &[Observed]) -> Option<Why> {
    let first = |kept| best.constraints.iter().position(|v| v.compliance == kept);
    if let Some(constraint) = first(Compliance::Violated) {
        let bound = best.constraints[constraint].bound;
        let mut counted = observed.iter().filter_map(|t| longest(observed, t.place));
        return Some(match counted.any(|t| t.meets(constraint, bound)) {
            true => Why::Missed { constraint },
            false => Why::NothingKeeps { constraint },
        });
    }
    if let Some(constraint) = first(Compliance::Undecided) {
        return Some(Why::Undecided { constraint });
    }
    // What was probed and is better, but is not shown to keep them all: that which is nearest to.
    let here = field.at(place);
    let better = observed.iter().map(|t| (t.place, field.at(t.place)));
    let forbidden = better.filter(|(_, b)| b.shown < 0.5 && b.mean - b.sd > here.mean + BETTER);
    let (nearest, _) = forbidden.max_by(|a, b| a.1.slack.total_cmp(&b.1.slack))?;
    let constraint = field.tightest(nearest)?;
    Some(Why::ConstraintBinds { constraint })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Space;
    use wiregauge_record::{Connect, Wait};

    #[test]
    fn a_choice_beyond_the_depth_of_saturation_refutes_it_where_a_smaller_depth_was_allowed() {
        let refuted = |depths: &[u32], index: usize, from: f64| {
            let grid = Grid::new(Space {
                out_bytes: vec![16],
                in_bytes: vec![48],
                depth: depths.to_vec(),
                wait: vec![Wait::Block],
                connect: vec![Connect::Once],
            });
            let place = Place([0, 0, index, 0, 0]);
            is_refuted_by_the_choice(&grid.unwrap(), place, from)
        };
        assert!(refuted(&[1, 2, 3, 4], 3, 1.8), "2 and 3 are as good");
        assert!(!refuted(&[1, 2, 3, 4], 1, 1.8), "the first one beyond it");
        assert!(!refuted(&[1, 4], 1, 1.8), "nothing between");
        assert!(refuted(&[1, 2], 1, 1.04), "printed as 1.0");
        assert!(!refuted(&[4], 0, 1.8), "there is only one");
    }
}
