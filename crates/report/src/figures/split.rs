//! Connection, access and transfer time as stacked bars: what a new link for each exchange costs.

use super::Figure;
use super::axes::Axis;
use super::canvas::{Canvas, Key};
use super::cells::{self, Cell, labels, links, spread};
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
    let mut all = cells::exchange(subjects);
    all.retain(|cell| parts(cell.summary).is_some());
    if all.is_empty() {
        return Vec::new();
    }
    all.sort_by_key(Cell::rank);
    let drawn = spread(&all, MOST_BARS);
    let names = labels(subjects, &drawn);

    let legend: Vec<(Key, String)> = PARTS
        .iter()
        .map(|(name, colour)| (Key::Area(colour, 1.0), (*name).to_owned()))
        .collect();
    let total = |cell: &Cell<'_>| parts(cell.summary).map_or(0.0, |parts| parts.iter().sum());
    let high = drawn.iter().map(total).fold(0.0, f64::max);
    let canvas = Canvas::new(HEIGHT.max(110 + 26 * drawn.len() as u32), &legend);
    let x = Axis::time("Mean time", high);
    let y = Axis::points(names.into_iter().zip(drawn.iter().map(Cell::key)));
    let frame = canvas.frame(canvas.place(), "", x, y);
    frame.open("bars");
    for (slot, cell) in drawn.iter().rev().enumerate() {
        let of_it = parts(cell.summary).expect("others were left out above");
        let (low, high) = (slot as f64 + 0.18, slot as f64 + 0.82);
        let mut start = 0.0;
        frame.of_points(&cell.key(), || {
            for (part, (_, colour)) in of_it.into_iter().zip(PARTS) {
                frame.bar((start, start + part), (low, high), colour, 1.0);
                start += part;
            }
        });
    }
    frame.close();
    let mut caption =
        String::from("Means. The link is opened for each exchange; RTT is access plus transfer.");
    if drawn.len() < all.len() {
        caption.push_str(&format!(
            " {} of {} points are shown.",
            drawn.len(),
            all.len()
        ));
    }
    caption.push_str(&links(subjects));
    let title = "Connection, access and transfer time";
    vec![canvas.finish("connect-access-transfer", title, &caption)]
}
