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
    unit_of(points.iter().filter_map(|p| Some(of(p)?.p50.value)))
}

/// The unit that suits the middle one of these times.
pub(super) fn unit_of(times: impl Iterator<Item = f64>) -> TimeUnit {
    let mut times: Vec<f64> = times.collect();
    times.sort_by(f64::total_cmp);
    TimeUnit::fitting(times.get(times.len() / 2).copied().unwrap_or(0.0))
}
