//! Connection, access and transfer time as stacked bars: what a new link for each exchange costs.

use super::Figure;
use super::axes::{Axis, size_label};
use super::canvas::{Canvas, Key};
use super::cells::{self, Cell, distinct, links, spread};
use super::look::{HEIGHT, SERIES};
use crate::Subject;
use wiregauge_record::PointSummary;

const MOST_BARS: usize = 16;

/// The parts, from the bottom up.
const PARTS: [(&str, &str); 3] = [
    ("connection", SERIES[0]),
    ("access (to the first byte)", SERIES[1]),
    ("transfer (first to last byte)", SERIES[3]),
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
    let place = |cell: &Cell<'_>| {
        let point = cell.point();
        (
            (point.out_bytes, point.in_bytes, point.depth),
            (point.link, point.together, cell.subject),
        )
    };
    all.sort_by_key(place);
    let drawn = spread(&all, MOST_BARS);
    let label = labels(subjects, &drawn);
    let names: Vec<String> = drawn.iter().map(|cell| label(cell)).collect();

    let legend: Vec<(Key, String)> = PARTS
        .iter()
        .map(|(name, colour)| (Key::Area(colour, 1.0), (*name).to_owned()))
        .collect();
    let total = |cell: &Cell<'_>| parts(cell.summary).map_or(0.0, |parts| parts.iter().sum());
    let high = drawn.iter().map(total).fold(0.0, f64::max);
    let canvas = Canvas::new(HEIGHT.max(110 + 26 * drawn.len() as u32), &legend);
    let x = Axis::time("Mean time", high);
    // The first one stands on top.
    let reversed: Vec<String> = names.iter().rev().cloned().collect();
    let frame = canvas.frame(canvas.place(), "", x, Axis::slots("", &reversed));
    frame.open("bars");
    for (part, (_, colour)) in PARTS.iter().enumerate() {
        for (slot, cell) in drawn.iter().rev().enumerate() {
            let of_it = parts(cell.summary).expect("others were left out above");
            let start: f64 = of_it[..part].iter().sum();
            let (low, high) = (slot as f64 + 0.18, slot as f64 + 0.82);
            frame.bar((start, start + of_it[part]), (low, high), colour, 1.0);
        }
    }
    frame.close();
    let mut caption = String::from(
        "Means. The link is opened anew for each exchange; RTT is access and transfer together.",
    );
    if drawn.len() < all.len() {
        caption.push_str(&format!(
            " {} of {} points are drawn.",
            drawn.len(),
            all.len()
        ));
    }
    caption.push_str(&links(subjects));
    let title = "Connection, access and transfer time";
    vec![canvas.finish("connect-access-transfer", title, &caption)]
}

/// Names for points: only what distinguishes them.
fn labels<'a>(subjects: &'a [Subject], cells: &[Cell<'_>]) -> impl Fn(&Cell<'_>) -> String + 'a {
    let many = |value: fn(&Cell<'_>) -> u64| distinct(cells.iter().map(value)).len() > 1;
    let runs = many(|cell| cell.subject as u64);
    let link = many(|cell| cell.point().link.into());
    let depth = many(|cell| cell.point().depth.into());
    move |cell| {
        let point = cell.point();
        let (out, back) = (size_label(point.out_bytes), size_label(point.in_bytes));
        let mut parts = Vec::new();
        if runs {
            parts.push(super::look::fitting(
                &subjects[cell.subject].label,
                14.0,
                130.0,
            ));
        }
        if link {
            let how = if point.together { " together" } else { "" };
            parts.push(format!("link {}{how}", point.link + 1));
        }
        parts.push(format!("{out} B → {back} B"));
        if depth {
            parts.push(format!("depth {}", point.depth));
        }
        parts.join(", ")
    }
}
