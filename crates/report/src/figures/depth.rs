//! RTT and TRT against depth. What a depth is worth is how far TRT falls; at best it is the RTT of a
//! single exchange, divided by the depth.

use super::Figure;
use super::axes::{Axis, size_text};
use super::canvas::{Canvas, Key};
use super::cells::{self, Cell, bare, distinct, has_schedule, links, reach, values_legend};
use super::look::{HEIGHT, Series};
use super::marked::{self, Marked};
use crate::Subject;
use wiregauge_model::response_size;
use wiregauge_record::PointSummary;
use wiregauge_stats::Estimate;

/// Of each size OUT and IN.
type Panel = cells::Panel<(u32, u32)>;

fn panel(cell: &Cell<'_>) -> Panel {
    Panel::new(cell, (cell.point().out_bytes, cell.point().in_bytes))
}

fn sizes((out, back): (u32, u32)) -> String {
    format!("OUT {}, {}", size_text(out), response_size(back))
}

pub(crate) fn draw(subjects: &[Subject]) -> Vec<Figure> {
    let mut cells = cells::exchange(subjects);
    cells.retain(|cell| cell.summary.rtt.is_some() && cell.point().depth > 0);
    // Sizes at which the depth varies.
    let depths_of = |held: &Panel| {
        let of_it = cells.iter().filter(|cell| panel(cell) == *held);
        distinct(of_it.map(|cell| cell.point().depth)).len()
    };
    let mut all = distinct(cells.iter().map(panel));
    all.retain(|held| depths_of(held) > 1);
    if all.is_empty() {
        return Vec::new();
    }
    let panels = Panel::few(&all);
    cells.retain(|cell| panels.contains(&panel(cell)));
    vec![figure(subjects, &cells, &panels, all.len())]
}

fn figure(subjects: &[Subject], cells: &[Cell<'_>], panels: &[Panel], of: usize) -> Figure {
    let runs = distinct(cells.iter().map(|cell| cell.subject));
    let rtt = |summary: &PointSummary| summary.rtt.as_ref().map(|rtt| rtt.mean);
    let trt = |summary: &PointSummary| summary.trt.as_ref().map(|trt| trt.mean);
    let curve = |run: usize, of: &Panel, value: &dyn Fn(&PointSummary) -> Option<Estimate>| {
        let of_it = cells
            .iter()
            .filter(|cell| cell.subject == run && panel(cell) == *of);
        cells::marked(of_it, |point| f64::from(point.depth), value)
    };
    // The RTT at the smallest depth, divided by the depth.
    let ideal = |run: usize, panel: &Panel| -> Vec<Marked> {
        let mut values = curve(run, panel, &rtt);
        if let Some(first) = values.first().map(|value| value.y.value) {
            for value in &mut values {
                value.y = bare(first / value.x);
            }
        }
        values
    };

    // A schedule sets when exchanges start: no depth can bring TRT down to the ideal.
    let scheduled = has_schedule(subjects);
    let has_ideal = runs.len() == 1 && !scheduled;
    let smallest = cells
        .iter()
        .map(|cell| cell.point().depth)
        .min()
        .unwrap_or(1);
    let names = ["mean RTT", "mean TRT"].into_iter().zip(0..);
    let mut legend = values_legend(subjects, &runs, names);
    if has_ideal {
        let name = format!("ideal TRT: RTT at depth {smallest} / depth");
        legend.push(Key::Line(Series::limit()).named(name));
    }
    let mut values = Vec::new();
    for panel in panels {
        for run in &runs {
            values.extend(curve(*run, panel, &rtt));
            values.extend(curve(*run, panel, &trt));
            if has_ideal {
                values.extend(ideal(*run, panel));
            }
        }
    }
    let (low, high) = reach(values.iter().map(|value| &value.y));
    let depths: Vec<u32> = cells.iter().map(|cell| cell.point().depth).collect();

    let only = if panels.len() == 1 { HEIGHT } else { 280 };
    let (canvas, places) = Canvas::with_panels((panels.len(), 2), (only, 280), &legend);
    for (panel, place) in panels.iter().zip(places) {
        let x = Axis::depths("Depth", &depths);
        let y = Axis::log_time("Time", low, high);
        let title = (of > 1).then(|| panel.name(panels, sizes));
        let title = title.unwrap_or_default();
        canvas.open("panel");
        let frame = canvas.frame(place, &title, x, y);
        if has_ideal {
            let values = ideal(runs[0], panel);
            // It is made of the RTT at the smallest depth.
            let first = values.first().map_or("", |value| value.key.as_str());
            frame.open_point("ideal", first);
            marked::line(&frame, &values, Series::limit(), 1.4);
            frame.close();
        }
        for (at, run) in runs.iter().enumerate() {
            let both = [curve(*run, panel, &rtt), curve(*run, panel, &trt)];
            for (what, values) in both.into_iter().enumerate() {
                marked::curve(&frame, &values, Series::of_run(runs.len(), at, what));
            }
        }
        canvas.close();
    }
    let mut caption =
        String::from("TRT is the time from the start of one exchange to the start of the next.");
    caption.push_str(match (has_ideal, scheduled) {
        (true, _) => " Where it stays above the ideal, a higher depth helps less.",
        (false, true) => {
            " A schedule starts the exchanges, so no depth makes TRT shorter than its period."
        }
        (false, false) => "",
    });
    caption.push_str(" Bars: 95 % confidence interval.");
    if let ([only], 1) = (panels, of) {
        caption.push_str(&format!(" Shown: {}.", only.name(panels, sizes)));
    }
    if panels.len() < of {
        let names = panels.iter().map(|panel| panel.name(panels, sizes));
        let names: Vec<String> = names.collect();
        caption.push_str(&format!(" Shown sizes, of {of}: {}.", names.join("; ")));
    }
    let held = distinct(panels.iter().map(|panel| panel.held));
    if let ([only], true) = (&held[..], of > 1) {
        caption.push_str(&format!(" All with {}.", sizes(*only)));
    }
    caption.push_str(&links(subjects));
    canvas.finish("rtt-trt-depth", "RTT and TRT against depth", &caption)
}
