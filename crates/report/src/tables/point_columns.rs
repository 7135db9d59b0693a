//! The columns that name a point, in tables with one row a point.

use wiregauge_record::Point;

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
            let how = if point.together { "together" } else { "alone" };
            cells.push(format!("{} {how}", point.link));
        }
        cells.extend([point.out_bytes, point.in_bytes, point.depth].map(|value| value.to_string()));
        cells
    }
}
