//! A percentile in a cell or a sentence, with its interval where it is known only roughly.

use super::warnings::few_samples::FewSamples;
use wiregauge_quantity::TimeUnit;
use wiregauge_stats::Estimate;

/// The interval is shown where a bound is further from the value than this part of it.
const WIDE: f64 = 0.2;

/// A value is in the middle of its interval up to this part of the width.
const OFF_CENTRE: f64 = 0.01;

/// The value; `47.70 (10.9 .. ?)` where it has no upper bound, `41.80 (16.6 .. 2473)` where the interval is
/// wide.
pub(super) fn bounded(unit: TimeUnit, estimate: &Estimate) -> String {
    let value = unit.show(estimate.value);
    if !is_rough(estimate) {
        return value;
    }
    let bound = |bound: Option<f64>| bound.map_or("?".into(), |ns| unit.show_short(ns));
    format!(
        "{value} ({} .. {})",
        bound(estimate.low),
        bound(estimate.high)
    )
}

/// Which marks stand in a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    /// On a value without an upper bound.
    is_open: bool,
    /// On one whose bounds are far away.
    is_wide: bool,
}

impl Marks {
    /// What the mark means; `few`: why bounds are missing. `has_intervals`: another table has the intervals.
    pub(super) fn note(self, few: Option<&FewSamples>, has_intervals: bool) -> Option<String> {
        let why = few.map_or(String::new(), |few| format!(": {}", few.note()));
        let more = match has_intervals {
            true => "",
            false => "; intervals: --full",
        };
        Some(match (self.is_open, self.is_wide) {
            (false, false) => return None,
            (true, false) => format!("~ no 95 % interval{why}{more}"),
            (true, true) => format!("~ no 95 % interval, or a wide one{why}"),
            (false, true) => format!("~ 95 % interval wider than 20 %{more}"),
        })
    }
}

/// The value; `47.70 ~` where it has no upper bound or a wide interval.
pub(super) fn marked(unit: TimeUnit, estimate: &Estimate, marks: &mut Marks) -> String {
    with_mark(unit.show(estimate.value), estimate, marks)
}

/// A value as it is shown, with a mark where it has no upper bound or a wide interval.
pub(super) fn with_mark(value: String, estimate: &Estimate, marks: &mut Marks) -> String {
    if !is_rough(estimate) {
        return value;
    }
    match estimate.high {
        None => marks.is_open = true,
        Some(_) => marks.is_wide = true,
    }
    format!("{value} ~")
}

/// True if a bound is missing or far away.
fn is_rough(estimate: &Estimate) -> bool {
    let far = |bound: f64| (bound - estimate.value).abs() > WIDE * estimate.value;
    // Without a lower bound alone, the value is not too small.
    estimate.high.is_none_or(far) || estimate.low.is_some_and(far)
}

/// Both bounds; `?` for one that the samples do not support.
pub(super) fn interval(unit: TimeUnit, estimate: &Estimate) -> String {
    let bound = |bound: Option<f64>| bound.map_or("?".into(), |value| unit.show(value));
    format!("{} .. {}", bound(estimate.low), bound(estimate.high))
}

/// `+-0.5`; both bounds where the value is not in their middle, as where one was cut off at the least sample.
pub(super) fn around(show: impl Fn(f64) -> String, estimate: &Estimate) -> String {
    let (Some(low), Some(high)) = (estimate.low, estimate.high) else {
        return "?".into();
    };
    let off = (low + high - 2.0 * estimate.value).abs();
    match off > OFF_CENTRE * (high - low) {
        true => format!("{} .. {}", show(low), show(high)),
        false => format!("+-{}", show((high - low) / 2.0)),
    }
}
