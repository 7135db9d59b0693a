//! What tables with one row a point share: the columns that name it, and the unit of its times.

use wiregauge_quantity::TimeUnit;
use wiregauge_record::{Point, PointSummary};
use wiregauge_stats::Distribution;

/// Sizes and depth; the link too if there are several.
#[derive(Clone, Copy, Debug)]
pub(super) struct PointColumns {
    has_links: bool,
}

impl PointColumns {
    /// For these points.
    pub(super) fn of(mut points: impl Iterator<Item = Point>) -> PointColumns {
        PointColumns {
            has_links: points.any(|point| point.link > 0 || point.together),
        }
    }

    /// Their heads, and the rest of the columns.
    pub(super) fn heads(self, rest: &[&'static str]) -> Vec<&'static str> {
        let link: &[&str] = if self.has_links { &["link"] } else { &[] };
        let sizes: &[&str] = &["OUT B", "IN B", "depth"];
        link.iter().chain(sizes).chain(rest).copied().collect()
    }

    /// The cells of a point.
    pub(super) fn cells(self, point: Point) -> Vec<String> {
        let mut cells = Vec::new();
        if self.has_links {
            let how = crate::link_names::how(point.together);
            cells.push(format!("{} {how}", point.link));
        }
        cells.extend([size(point.out_bytes), size(point.in_bytes)]);
        cells.push(point.depth.to_string());
        cells
    }
}

/// A size of a point; that of a reply may be any.
fn size(bytes: u32) -> String {
    match bytes {
        0 => "any".into(),
        bytes => bytes.to_string(),
    }
}

/// The heads of an exchange run's table.
pub(super) fn columns(points: &[PointSummary], rest: &[&'static str]) -> Vec<&'static str> {
    PointColumns::of(points.iter().map(|p| p.point)).heads(rest)
}

/// The cells that name a point of an exchange run.
pub(super) fn point_cells(points: &[PointSummary], point: &PointSummary) -> Vec<String> {
    PointColumns::of(points.iter().map(|p| p.point)).cells(point.point)
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
