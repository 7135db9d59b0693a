//! Throughput against size, one curve for each depth, under what the medium can carry.

use super::Figure;
use super::axes::{Axis, bounds};
use super::canvas::{Canvas, Entry};
use super::cells::{
    self, Cell, Curve, Keys, MOST_CURVES, Sweep, Swept, distinct, links, only, wide,
};
use super::limits::Limits;
use super::look::HEIGHT;
use super::marked;
use crate::Subject;
use wiregauge_compare::alone_or_together;
use wiregauge_record::PointSummary;

pub(crate) fn draw(subjects: &[Subject]) -> Vec<Figure> {
    let mut cells = cells::exchange(subjects);
    cells.retain(|cell| cell.summary.counts.answered > 0);
    cells::sweeps(&cells)
        .iter()
        .map(|sweep| figure(subjects, sweep))
        .collect()
}

fn figure(subjects: &[Subject], sweep: &Sweep<'_>) -> Figure {
    let rate = |summary: &PointSummary| {
        let throughput = &summary.throughput;
        Some(cells::bare(match sweep.way {
            Swept::In | Swept::Equal => throughput.in_bytes_s,
            Swept::Out => throughput.out_bytes_s,
        }))
    };
    let size = |point: &_| f64::from((sweep.size)(point));
    let keys = Keys::of(subjects, &sweep.cells, MOST_CURVES);
    let curves = keys.curves(&sweep.cells, size, rate);
    let legend: Vec<Entry> = curves.iter().map(Curve::entry).collect();
    let values = curves.iter().flat_map(|curve| &curve.values);
    let range = bounds(values.map(|value| value.y.value)).unwrap_or((0.0, 1.0));
    let logarithmic = wide(range, 30.0);
    let known = sweep.cells.iter().map(|cell| {
        (
            (cell.subject, cell.point().link),
            cell.summary.limit.as_ref(),
        )
    });
    let limits = Limits::of(
        subjects,
        known,
        range.1,
        if logarithmic { 100.0 } else { 4.0 },
    );
    let (low, high) = (range.0, range.1.max(limits.highest()));

    let panels = panels(sweep);
    let (canvas, places) = Canvas::with_panels((panels.len(), 2), (HEIGHT, 280), &legend);
    let sizes: Vec<u32> = sweep
        .cells
        .iter()
        .map(|c| (sweep.size)(&c.point()))
        .collect();
    let what = match sweep.way {
        Swept::In => "IN throughput",
        Swept::Out => "OUT throughput",
        Swept::Equal => "Throughput in each direction",
    };
    for ((name, cells), place) in panels.iter().zip(places) {
        let x = Axis::sizes(sweep.name, &sizes);
        let y = match logarithmic {
            true => Axis::log_rate(what, low, high),
            false => Axis::rate(what, high),
        };
        let title = if panels.len() > 1 { *name } else { "" };
        canvas.open("panel");
        let frame = canvas.frame(place, title, x, y);
        for curve in keys.curves(cells, size, rate) {
            marked::curve(&frame, &curve.values, curve.series);
        }
        let links: Vec<u32> = cells.iter().map(|cell| cell.point().link).collect();
        limits.draw(&frame, &links);
        canvas.close();
    }
    let caption = format!(
        "Bytes of complete, correct exchanges, divided by the measured time.{}{}{}{}{}{}",
        only(&legend),
        cells::schedule(subjects),
        limits.caption(),
        keys.left_out,
        sweep.held,
        links(subjects)
    );
    let title = format!("{what} against size");
    canvas.finish(&format!("throughput-{}", sweep.stem), &title, &caption)
}

/// Alone and together stand side by side.
fn panels<'a>(sweep: &Sweep<'a>) -> Vec<(&'static str, Vec<Cell<'a>>)> {
    let all = distinct(sweep.cells.iter().map(|cell| cell.point().together));
    let panel = |together: &bool| {
        let of_it = sweep.cells.iter();
        let of_it = of_it.filter(|cell| cell.point().together == *together);
        (alone_or_together(*together), of_it.copied().collect())
    };
    all.iter().map(panel).collect()
}
