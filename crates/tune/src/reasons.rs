//! Finds out why the limit is where it is.

use crate::observed::Observed;
use crate::posterior::Posterior;
use crate::space::{Grid, Place};
use crate::{Choice, Kept, Why};
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
    let mut is_saturated = false;
    if let Some(depth) = model.and_then(|m| m.saturation_depth(setting.out_bytes, setting.in_bytes))
    {
        is_saturated = f64::from(setting.depth) >= depth;
        why.push(match is_saturated {
            true => Why::Saturated { depth },
            false => Why::LatencyBound {
                saturates_at: depth,
            },
        });
    }
    if constraint.is_some() {
        return why;
    }
    if extent[2] > 1 && place.0[2] + 1 == extent[2] && !is_saturated {
        why.push(Why::LargestDepth);
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

/// The constraint that keeps the objective where it is.
fn limiting(field: &Posterior, best: &Choice, place: Place, observed: &[Observed]) -> Option<Why> {
    let first = |kept| best.constraints.iter().position(|v| v.kept == kept);
    if let Some(constraint) = first(Kept::Violated) {
        return Some(Why::NothingKeeps { constraint });
    }
    if let Some(constraint) = first(Kept::NotShown) {
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
