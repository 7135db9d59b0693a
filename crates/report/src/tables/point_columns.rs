//! What tables with one row a point share: the columns that name it, and the unit of its times.

use super::places::Places;
use wiregauge_quantity::TimeUnit;
use wiregauge_record::PointSummary;
use wiregauge_stats::Distribution;

/// The heads of an exchange run's table: the settings that vary, and the rest.
pub(super) fn columns(points: &[PointSummary], rest: &[&'static str]) -> Vec<&'static str> {
    Places::new(points.iter().map(|point| point.point)).heads_and(rest)
}

/// The cells that name a point of an exchange run.
pub(super) fn point_cells(points: &[PointSummary], point: &PointSummary) -> Vec<String> {
    Places::new(points.iter().map(|point| point.point)).cells(point.point.index)
}

/// Cells of a row that has no values.
pub(super) fn dashes(count: usize) -> Vec<String> {
    vec!["-".to_string(); count]
}

/// The unit that suits the medians.
pub(super) fn typical(
    points: &[PointSummary],
    of: impl Fn(&PointSummary) -> Option<&Distribution>,
) -> TimeUnit {
    let mut medians: Vec<f64> = points
        .iter()
        .filter_map(|p| Some(of(p)?.p50.value))
        .collect();
    medians.sort_by(f64::total_cmp);
    TimeUnit::fitting(medians.get(medians.len() / 2).copied().unwrap_or(0.0))
}
