//! RTT and TRT against size: min, mean, mean + SD, max3, max. The figure of the literature on USB control
//! loops; several runs are laid over each other with mean and max3 only.

use super::Figure;
use super::axes::Axis;
use super::canvas::{Canvas, Key};
use super::cells::{self, Cell, Sweep, comparable, distinct, links, reach, wide};
use super::look::{HEIGHT, Series};
use super::marked;
use super::rtt::has_turnarounds;
use crate::Subject;
use wiregauge_compare::link_name;
use wiregauge_record::{Point, PointSummary};
use wiregauge_stats::{Distribution, Estimate};

/// More panels would be too small.
const MOST_PANELS: usize = 4;

/// What is drawn of a distribution: its name, its look, its value.
type Statistic = (&'static str, usize, fn(&Distribution) -> Estimate);

/// In the order in which they lie in the figure.
const ALL: [Statistic; 5] = [
    ("max", 2, |d| cells::bare(d.max)),
    ("max3", 1, |d| cells::bare(d.max3)),
    ("mean + SD", 3, |d| cells::bare(d.mean_plus_sd)),
    ("mean", 0, |d| d.mean),
    ("min", 4, |d| cells::bare(d.min)),
];

/// What a panel is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Panel {
    together: bool,
    link: u32,
    depth: u32,
}

impl Panel {
    fn of(cell: &Cell<'_>) -> Panel {
        let point = cell.point();
        Panel {
            together: point.together,
            link: point.link,
            depth: point.depth,
        }
    }
}

/// What is drawn: its name, its part of the figure's file name, its distribution.
struct Quantity {
    name: &'static str,
    stem: &'static str,
    of: fn(&PointSummary) -> Option<&Distribution>,
}

const RTT: Quantity = Quantity {
    name: "RTT",
    stem: "rtt",
    of: |point| point.rtt.as_ref(),
};

const TRT: Quantity = Quantity {
    name: "TRT",
    stem: "trt",
    of: |point| point.trt.as_ref(),
};

pub(crate) fn draw(subjects: &[Subject]) -> Vec<Figure> {
    all(subjects, cells::exchange(subjects), &RTT)
}

/// Of the time from the start of an exchange to the start of the next.
pub(crate) fn draw_turnarounds(subjects: &[Subject]) -> Vec<Figure> {
    let mut cells = cells::exchange(subjects);
    cells.retain(|cell| {
        let run = subjects[cell.subject].exchange_run();
        run.is_some_and(|(run, _)| has_turnarounds(&run.file))
    });
    all(subjects, cells, &TRT)
}

fn all(subjects: &[Subject], mut cells: Vec<Cell<'_>>, of: &Quantity) -> Vec<Figure> {
    cells.retain(|cell| (of.of)(cell.summary).is_some());
    cells::sweeps(&cells)
        .iter()
        .map(|sweep| figure(subjects, sweep, of))
        .collect()
}

fn figure(subjects: &[Subject], sweep: &Sweep<'_>, of: &Quantity) -> Figure {
    let runs = distinct(sweep.cells.iter().map(|cell| cell.subject));
    let all_panels = distinct(sweep.cells.iter().map(Panel::of));
    let panels = comparable(
        &all_panels,
        MOST_PANELS,
        |p| p.depth,
        |p| (p.link, p.together),
    );
    let drawn: Vec<Cell<'_>> = sweep
        .cells
        .iter()
        .filter(|cell| panels.contains(&Panel::of(cell)))
        .copied()
        .collect();
    let statistics: Vec<Statistic> = match runs.len() {
        1 => ALL.to_vec(),
        _ => ALL
            .into_iter()
            .filter(|s| s.0 == "mean" || s.0 == "max3")
            .collect(),
    };
    let series = |run: usize, statistic: usize| match runs.len() {
        1 => Series::of(statistic),
        _ => Series::with(run, statistic),
    };

    let mut legend = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        for (name, statistic, _) in &statistics {
            let name = match runs.len() {
                1 => (*name).to_owned(),
                _ => format!("{}: {name}", subjects[*run].label),
            };
            legend.push((Key::Points(series(at, *statistic)), name));
        }
    }
    let sizes: Vec<u32> = drawn
        .iter()
        .map(|cell| (sweep.size)(&cell.point()))
        .collect();
    let values: Vec<Estimate> = drawn
        .iter()
        .filter_map(|cell| (of.of)(cell.summary))
        .flat_map(|rtt| statistics.iter().map(|(_, _, value)| value(rtt)))
        .collect();
    // A TRT of 0 has no place on a logarithmic axis, and need not press all others flat.
    let has_zero = values.iter().any(|value| value.value == 0.0);
    let range = reach(values.iter().filter(|value| value.value > 0.0));
    let logarithmic = wide(range, 20.0);

    let rows = panels.len().div_ceil(2) as u32;
    let height = if panels.len() == 1 {
        HEIGHT
    } else {
        280 * rows
    };
    let canvas = Canvas::new(height, &legend);
    let places = canvas.panels(panels.len(), 2);
    for (panel, place) in panels.iter().zip(places) {
        let x = Axis::sizes(sweep.name, &sizes);
        let y = match logarithmic {
            true => Axis::log_time(of.name, range.0, range.1),
            false => Axis::time(of.name, range.1),
        };
        let title = if all_panels.len() > 1 {
            name(*panel, &all_panels)
        } else {
            String::new()
        };
        canvas.open("panel");
        let frame = canvas.frame(place, &title, x, y);
        for (at, run) in runs.iter().enumerate() {
            for (_, statistic, value) in &statistics {
                let of_it = drawn
                    .iter()
                    .filter(|cell| cell.subject == *run && Panel::of(cell) == *panel);
                let size = |point: &Point| f64::from((sweep.size)(point));
                let of_point = |point: &PointSummary| (of.of)(point).map(value);
                let values = cells::marked(of_it, size, of_point);
                marked::curve(&frame, &values, series(at, *statistic));
            }
        }
        canvas.close();
    }
    let mut caption =
        String::from("max3: third-largest. Bars at the mean: 95 % confidence interval.");
    if of.name == TRT.name {
        caption.push_str(" TRT: from the start of an exchange to the start of the next.");
        if has_zero && logarithmic {
            caption.push_str(
                " Requests sent in one call start together: their TRT of 0 is drawn at the lower edge.",
            );
        }
    }
    if let [only] = all_panels.as_slice() {
        caption.push_str(&format!(" Shown: {}.", name(*only, &all_panels)));
    }
    if runs.len() > 1 {
        caption.push_str(" For several runs, mean and max3 are shown.");
    }
    if panels.len() < all_panels.len() {
        caption.push_str(&format!(
            " {} of {} combinations of depth and link are shown.",
            panels.len(),
            all_panels.len()
        ));
    }
    caption.push_str(&sweep.held);
    caption.push_str(&links(subjects));
    let what = if sweep.stem == "size" {
        "size"
    } else {
        sweep.name
    };
    canvas.finish(
        &format!("{}-{}", of.stem, sweep.stem),
        &format!("{} against {what}", of.name),
        &caption,
    )
}

/// The link where there are several; the depth where there are several, or but one panel.
fn name(panel: Panel, all: &[Panel]) -> String {
    let links = distinct(all.iter().map(|panel| (panel.link, panel.together))).len() > 1;
    let depths = distinct(all.iter().map(|panel| panel.depth)).len() > 1;
    let link = links.then(|| link_name(panel.link, panel.together));
    let depth = (depths || !links).then(|| format!("depth {}", panel.depth));
    link.into_iter().chain(depth).collect::<Vec<_>>().join(", ")
}
