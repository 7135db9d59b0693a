//! Elements on a drawing area, and the shapes of markers.

use super::look::{MARKER, Marker, PAPER, Series, fill, tenths};
use super::svg::Svg;
use plotters::coord::Shift;
use plotters::drawing::DrawingArea;
use plotters::element::{Circle, Drawable, PointCollection, Polygon};

pub(super) fn draw_markers(area: &DrawingArea<Svg, Shift>, places: &[(i32, i32)], series: Series) {
    let shapes = |colour: &str, radius: f64, opacity: f64| {
        let style = fill(colour, opacity);
        for (x, y) in places {
            let at = |dx: f64, dy: f64| (x + tenths(radius * dx), y + tenths(radius * dy));
            match corners(series.marker) {
                [] => put(area, &Circle::new((*x, *y), tenths(radius), style)),
                corners => {
                    let corners: Vec<_> = corners.iter().map(|(dx, dy)| at(*dx, *dy)).collect();
                    put(area, &Polygon::new(corners, style));
                }
            }
        }
    };
    shapes(series.colour, MARKER, 1.0);
    if series.hollow {
        shapes(PAPER, MARKER * 0.55, 1.0);
    }
}

/// The corners of a marker as multiples of its radius, none of a circle.
pub(crate) fn corners(marker: Marker) -> &'static [(f64, f64)] {
    match marker {
        Marker::Circle => &[],
        Marker::Square => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        Marker::Triangle => &[(0.0, -1.2), (1.15, 0.85), (-1.15, 0.85)],
        Marker::Diamond => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
    }
}

/// Draws an element; nothing can go wrong, since the sheet is a string.
pub(super) fn put<'a, E, C>(area: &DrawingArea<Svg, C>, element: &'a E)
where
    C: plotters::coord::CoordTranslate,
    &'a E: PointCollection<'a, C::From>,
    E: Drawable<Svg>,
{
    area.draw(element).expect("writing to a string cannot fail");
}
