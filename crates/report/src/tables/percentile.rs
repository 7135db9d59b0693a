//! A percentile in a cell or a sentence: where the samples cannot bound it from above, with its interval.

use crate::units::TimeUnit;
use wiregauge_stats::Estimate;

/// The value; `47.70 (10.9 .. ?)` where it has no upper bound.
pub(super) fn bounded(unit: TimeUnit, estimate: &Estimate) -> String {
    let value = unit.show(estimate.value);
    match estimate.high {
        Some(_) => value,
        None => {
            let bound = |bound: Option<f64>| bound.map_or("?".into(), |ns| unit.show_short(ns));
            format!("{value} ({} .. ?)", bound(estimate.low))
        }
    }
}

/// Both bounds; `?` for one that the samples do not support.
pub(super) fn interval(unit: TimeUnit, estimate: &Estimate) -> String {
    let bound = |bound: Option<f64>| bound.map_or("?".into(), |value| unit.show(value));
    format!("{} .. {}", bound(estimate.low), bound(estimate.high))
}

/// `p99 1.2 to 2.0 ms`: the range of a percentile over rows.
pub(super) fn range<'a>(
    name: &str,
    unit: TimeUnit,
    all: impl Iterator<Item = &'a Estimate> + Clone,
) -> Option<String> {
    let by_value = |a: &&Estimate, b: &&Estimate| a.value.total_cmp(&b.value);
    let lowest = unit.show(all.clone().min_by(by_value)?.value);
    let highest = all.max_by(by_value)?;
    let shown = bounded(unit, highest);
    Some(match lowest == unit.show(highest.value) {
        true => format!("{name} {shown} {}", unit.name()),
        false => format!("{name} {lowest} to {shown} {}", unit.name()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, low: Option<f64>, high: Option<f64>) -> Estimate {
        Estimate { value, low, high }
    }

    #[test]
    fn a_percentile_without_upper_bound_has_its_interval_beside_it() {
        let unit = TimeUnit::Milli;
        let open = estimate(47.7e6, Some(10.92e6), None);
        assert_eq!(bounded(unit, &open), "47.70 (10.9 .. ?)");
        assert_eq!(bounded(unit, &estimate(2e6, None, None)), "2.000 (? .. ?)");
        let closed = estimate(2e6, Some(1e6), Some(3e6));
        assert_eq!(bounded(unit, &closed), "2.000");
        assert_eq!(
            range("p99", unit, [open, closed].iter()).as_deref(),
            Some("p99 2.000 to 47.70 (10.9 .. ?) ms")
        );
        assert_eq!(
            range("p99", unit, [open].iter()).as_deref(),
            Some("p99 47.70 (10.9 .. ?) ms")
        );
        assert_eq!(range("p99", unit, [].iter()), None);
    }
}
