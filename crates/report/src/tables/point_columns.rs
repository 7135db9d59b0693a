//! What tables with one row a point share: the unit of its times, and rows without values.

use wiregauge_quantity::TimeUnit;
use wiregauge_record::PointSummary;
use wiregauge_stats::Distribution;

/// Cells of a row that has no values.
pub(super) fn dashes(count: usize) -> Vec<String> {
    vec!["-".to_string(); count]
}

/// The unit that suits the medians.
pub(super) fn typical(
    points: &[PointSummary],
    of: impl Fn(&PointSummary) -> Option<&Distribution>,
) -> TimeUnit {
    TimeUnit::of_median(points.iter().filter_map(|p| Some(of(p)?.p50.value)))
}
