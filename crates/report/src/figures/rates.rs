//! The rate of a stream over time, second by second: whether the mean is one of a steady flow.

use super::Figure;
use super::axes::{Axis, bounds, size_text};
use super::canvas::{Canvas, Entry, Key};
use super::cells::{distinct, links, only};
use super::look::{HEIGHT, Series};
use super::point_key;
use super::stream_cells::{FlowCell, panels, stream};
use crate::Subject;

/// More of them, in a quarter of a figure, hide each other.
const MOST_CURVES: usize = 6;

/// What a curve is of.
type Curve = (usize, u32, u32);

pub(crate) fn draw(subjects: &[Subject]) -> Vec<Figure> {
    let mut cells = stream(subjects);
    cells.retain(|cell| cell.flow.rate_bytes_s.len() > 1 && cell.flow.rate_step_ns > 0);
    if cells.is_empty() {
        return Vec::new();
    }
    let (panels, panels_left_out) = panels(&mut cells);
    let of = |cell: &FlowCell<'_>| -> Curve {
        (cell.subject, cell.point.transfer_bytes, cell.point.queue)
    };
    let all = distinct(cells.iter().map(of));
    let unsteady = |curve: &Curve| {
        let of_it = cells.iter().filter(|cell| of(cell) == *curve);
        of_it
            .map(|cell| swing(&cell.flow.rate_bytes_s))
            .fold(0.0, f64::max)
    };
    let mut curves = all.clone();
    curves.sort_by(|a, b| unsteady(b).total_cmp(&unsteady(a)));
    curves.truncate(MOST_CURVES);
    curves.sort_unstable();
    cells.retain(|cell| curves.contains(&of(cell)));

    let runs = distinct(curves.iter().map(|curve| curve.0));
    let queues = distinct(curves.iter().map(|curve| curve.2));
    let settings = distinct(curves.iter().map(|curve| (curve.1, curve.2)));
    let series = |curve: &Curve| {
        let same = |setting: &(u32, u32)| *setting == (curve.1, curve.2);
        let setting = settings.iter().position(same).unwrap_or(0);
        let run = runs.iter().position(|run| *run == curve.0).unwrap_or(0);
        Series::of_run(runs.len(), run, setting)
    };
    let name = |curve: &Curve| {
        let mut parts = Vec::new();
        if runs.len() > 1 {
            parts.push(subjects[curve.0].label.clone());
        }
        if settings.len() > 1 || parts.is_empty() {
            parts.push(size_text(curve.1));
        }
        if queues.len() > 1 {
            parts.push(format!("queue {}", curve.2));
        }
        parts.join(", ")
    };
    let entry = |curve: &Curve| {
        let keys = cells.iter().filter(|c| of(c) == *curve).map(FlowCell::key);
        let entry = Key::Points(series(curve)).named(name(curve));
        entry.of(point_key::list(keys))
    };
    let legend: Vec<Entry> = curves.iter().map(entry).collect();

    let rates = cells
        .iter()
        .flat_map(|cell| cell.flow.rate_bytes_s.iter().copied());
    let high = bounds(rates).unwrap_or((0.0, 1.0)).1;
    let length =
        |cell: &FlowCell<'_>| cell.flow.rate_bytes_s.len() as f64 * cell.flow.rate_step_ns as f64;
    let longest = cells.iter().map(length).fold(1.0, f64::max);
    let (canvas, places) = Canvas::with_panels((panels.len(), 2), (HEIGHT - 40, 260), &legend);
    for (panel, place) in panels.iter().zip(places) {
        let x = Axis::elapsed("Measured time", longest);
        let y = Axis::rate("Rate", high);
        canvas.open("panel");
        let frame = canvas.frame(place, &panel.name(&panels), x, y);
        for cell in cells.iter().filter(|cell| cell.panel() == *panel) {
            let step = cell.flow.rate_step_ns as f64;
            let rates = cell.flow.rate_bytes_s.iter().enumerate();
            let points: Vec<(f64, f64)> = rates
                .map(|(n, rate)| ((n as f64 + 0.5) * step, *rate))
                .collect();
            frame.open_point("curve", &cell.key());
            frame.line(&points, series(&of(cell)));
            // More than so many markers make a caterpillar.
            let every = points.len().div_ceil(25);
            let marked: Vec<_> = points.iter().step_by(every).copied().collect();
            frame.markers(&marked, series(&of(cell)));
            frame.close();
        }
        canvas.close();
    }
    let mut caption = String::from(
        "Each point is the mean over one second, or over 0.1 s if the run is shorter than 3 s. Start-up is \
         excluded.",
    );
    caption.push_str(&only(&legend));
    if curves.len() < all.len() {
        caption.push_str(&format!(
            " Of {} combinations of transfer size and queue, the {} least steady are shown.",
            all.len(),
            curves.len()
        ));
    }
    caption += &panels_left_out;
    caption.push_str(&links(subjects));
    vec![canvas.finish("rate-time", "Rate over time", &caption)]
}

/// How far the rate swings, relative to the highest.
fn swing(rates: &[f64]) -> f64 {
    match bounds(rates.iter().copied()) {
        Some((low, high)) if high > 0.0 => (high - low) / high,
        _ => 0.0,
    }
}
