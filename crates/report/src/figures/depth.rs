//! RTT and TRT against depth. What a depth is worth is how far TRT falls; at best it is the RTT of a
//! single exchange, divided by the depth.

use super::Figure;
use super::axes::{Axis, size_text};
use super::canvas::{Canvas, Key};
use super::cells::{self, Cell, bare, comparable, distinct, has_schedule, links, reach};
use super::look::{HEIGHT, Series};
use super::marked::{self, Marked};
use crate::Subject;
use wiregauge_compare::{Setting, Settings};
use wiregauge_model::response_size;
use wiregauge_record::{Point, PointSummary};
use wiregauge_stats::Estimate;

/// More panels would be too small.
const MOST_PANELS: usize = 4;

/// What a panel is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Panel {
    together: bool,
    link: u32,
    out_bytes: u32,
    in_bytes: u32,
}

impl Panel {
    fn of(cell: &Cell<'_>) -> Panel {
        let point = cell.point();
        Panel {
            together: point.together,
            link: point.link,
            out_bytes: point.out_bytes,
            in_bytes: point.in_bytes,
        }
    }

    /// The link where there are several; the sizes where there are several, or but one panel.
    fn name(&self, all: &[Panel]) -> String {
        let links = distinct(all.iter().map(|panel| (panel.link, panel.together))).len() > 1;
        let sizes = distinct(all.iter().map(|panel| (panel.out_bytes, panel.in_bytes))).len() > 1;
        let is_named = |setting: Setting| match setting {
            Setting::Link => links,
            Setting::Depth => false,
            _ => sizes || !links,
        };
        let point = Point {
            index: 0,
            out_bytes: self.out_bytes,
            in_bytes: self.in_bytes,
            depth: 0,
            link: self.link,
            together: self.together,
        };
        Settings::of_exchange(&point).only(is_named).name()
    }
}

pub(crate) fn draw(subjects: &[Subject]) -> Vec<Figure> {
    let mut cells = cells::exchange(subjects);
    cells.retain(|cell| cell.summary.rtt.is_some() && cell.point().depth > 0);
    // Sizes at which the depth varies.
    let depths_of = |panel: Panel| {
        let of_it = cells.iter().filter(|cell| Panel::of(cell) == panel);
        distinct(of_it.map(|cell| cell.point().depth)).len()
    };
    let mut all = distinct(cells.iter().map(Panel::of));
    all.retain(|panel| depths_of(*panel) > 1);
    if all.is_empty() {
        return Vec::new();
    }
    let panels = comparable(
        &all,
        MOST_PANELS,
        |panel| (panel.out_bytes, panel.in_bytes),
        |panel| (panel.link, panel.together),
    );
    let drawn: Vec<Cell<'_>> = cells
        .into_iter()
        .filter(|cell| panels.contains(&Panel::of(cell)))
        .collect();
    vec![figure(subjects, &drawn, &panels, all.len())]
}

fn figure(subjects: &[Subject], cells: &[Cell<'_>], panels: &[Panel], of: usize) -> Figure {
    let runs = distinct(cells.iter().map(|cell| cell.subject));
    let rtt = |summary: &PointSummary| summary.rtt.as_ref().map(|rtt| rtt.mean);
    let trt = |summary: &PointSummary| summary.trt.as_ref().map(|trt| trt.mean);
    let pick = |run: usize, what: usize| match runs.len() {
        1 => Series::of(what),
        _ => Series::with(run, what),
    };
    let curve = |run: usize, panel: &Panel, value: &dyn Fn(&PointSummary) -> Option<Estimate>| {
        let of_it = cells
            .iter()
            .filter(|cell| cell.subject == run && Panel::of(cell) == *panel);
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
    let mut legend = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        for (what, name) in ["RTT", "TRT"].into_iter().enumerate() {
            let name = match runs.len() {
                1 => format!("mean {name}"),
                _ => format!("{}: mean {name}", subjects[*run].label),
            };
            legend.push((Key::Points(pick(at, what)), name));
        }
    }
    if has_ideal {
        let name = format!("ideal TRT: RTT at depth {smallest} / depth");
        legend.push((Key::Line(Series::limit()), name));
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

    let rows = panels.len().div_ceil(2) as u32;
    let height = if panels.len() == 1 {
        HEIGHT
    } else {
        280 * rows
    };
    let canvas = Canvas::new(height, &legend);
    for (panel, place) in panels.iter().zip(canvas.panels(panels.len(), 2)) {
        let x = Axis::depths("Depth", &depths);
        let y = Axis::log_time("Time", low, high);
        let title = if of > 1 {
            panel.name(panels)
        } else {
            String::new()
        };
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
                marked::curve(&frame, &values, pick(at, what));
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
        caption.push_str(&format!(" Shown: {}.", only.name(panels)));
    }
    if panels.len() < of {
        let names: Vec<String> = panels.iter().map(|panel| panel.name(panels)).collect();
        caption.push_str(&format!(" Shown sizes, of {of}: {}.", names.join("; ")));
    }
    let sizes = distinct(panels.iter().map(|panel| (panel.out_bytes, panel.in_bytes)));
    if let ([(out, back)], true) = (sizes.as_slice(), of > 1) {
        let (out, back) = (size_text(*out), response_size(*back));
        caption.push_str(&format!(" All with OUT {out}, {back}."));
    }
    caption.push_str(&links(subjects));
    canvas.finish("rtt-trt-depth", "RTT and TRT against depth", &caption)
}
