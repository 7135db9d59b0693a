//! Connection, access and transfer time as stacked bars: what a new link for each exchange costs.

use super::Figure;
use super::axes::Axis;
use super::canvas::{Canvas, Key};
use super::cells::{Cell, links, listed_points};
use super::look::{HEIGHT, SERIES};
use crate::Subject;
use wiregauge_record::PointSummary;

const MOST_BARS: usize = 16;

/// The parts, from the bottom up.
const PARTS: [(&str, &str); 3] = [
    ("connection", SERIES[0]),
    ("access (to the first byte)", SERIES[1]),
    ("transfer (first to last byte)", SERIES[2]),
];

/// The means of the parts, in nanoseconds; `None` where the link was not opened each time.
fn parts(summary: &PointSummary) -> Option<[f64; 3]> {
    let mean = |part: &Option<wiregauge_stats::Distribution>| part.as_ref().map(|d| d.mean.value);
    let parts = [
        mean(&summary.connect)?,
        mean(&summary.access)?,
        mean(&summary.transfer)?,
    ];
    parts.iter().all(|part| part.is_finite()).then_some(parts)
}

pub(crate) fn draw(subjects: &[Subject]) -> Vec<Figure> {
    let is_drawn = |summary: &PointSummary| parts(summary).is_some();
    let Some((drawn, y, left_out)) = listed_points(subjects, is_drawn, MOST_BARS) else {
        return Vec::new();
    };
    let legend = PARTS.map(|(name, colour)| Key::Area(colour, 1.0).named(name));
    let total = |cell: &Cell<'_>| parts(cell.summary).map_or(0.0, |parts| parts.iter().sum());
    let high = drawn.iter().map(total).fold(0.0, f64::max);
    let canvas = Canvas::new(HEIGHT.max(110 + 26 * drawn.len() as u32), &legend);
    let x = Axis::time("Mean time", high);
    let frame = canvas.frame(canvas.place(), "", x, y);
    frame.open("bars");
    for (slot, cell) in drawn.iter().rev().enumerate() {
        let of_it = parts(cell.summary).expect("others were left out above");
        let (low, high) = (slot as f64 + 0.18, slot as f64 + 0.82);
        let mut start = 0.0;
        for (part, (_, colour)) in of_it.into_iter().zip(PARTS) {
            frame.bar((start, start + part), (low, high), colour, 1.0);
            start += part;
        }
    }
    frame.close();
    let caption = format!(
        "Means. The link is opened for each exchange; RTT is access plus transfer.{left_out}{}",
        links(subjects)
    );
    let title = "Connection, access and transfer time";
    vec![canvas.finish("connect-access-transfer", title, &caption)]
}
