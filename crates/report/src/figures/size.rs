//! RTT and TRT against size: min, mean, mean + SD, max3, max. The figure of the literature on USB control
//! loops; several runs are laid over each other with mean and max3 only.

use super::Figure;
use super::axes::Axis;
use super::canvas::Canvas;
use super::cells::{
    self, Cell, Panel, Sweep, Swept, distinct, links, reach, shown, values_legend, wide,
};
use super::look::{HEIGHT, Series};
use super::marked;
use super::rtt::has_turnarounds;
use crate::Subject;
use wiregauge_record::{Point, PointSummary};
use wiregauge_stats::{Distribution, Estimate};

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

/// At each depth.
fn panel(cell: &Cell<'_>) -> Panel<u32> {
    Panel::new(cell, cell.point().depth)
}

fn name(panel: &Panel<u32>, all: &[Panel<u32>]) -> String {
    panel.name(all, |depth| format!("depth {depth}"))
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
    let all_panels = distinct(sweep.cells.iter().map(panel));
    let panels = Panel::few(&all_panels);
    let drawn: Vec<Cell<'_>> = sweep
        .cells
        .iter()
        .filter(|cell| panels.contains(&panel(cell)))
        .copied()
        .collect();
    let is_drawn = |name: &str| runs.len() == 1 || name == "mean" || name == "max3";
    let statistics = ALL.into_iter().filter(|(name, ..)| is_drawn(name));
    let statistics: Vec<Statistic> = statistics.collect();
    let named = statistics.iter().map(|(name, look, _)| (*name, *look));
    let legend = values_legend(subjects, &runs, named);
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

    let only = if panels.len() == 1 { HEIGHT } else { 280 };
    let (canvas, places) = Canvas::with_panels((panels.len(), 2), (only, 280), &legend);
    for (this, place) in panels.iter().zip(places) {
        let x = Axis::sizes(sweep.name, &sizes);
        let y = match logarithmic {
            true => Axis::log_time(of.name, range.0, range.1),
            false => Axis::time(of.name, range.1),
        };
        let title = (all_panels.len() > 1).then(|| name(this, &all_panels));
        let title = title.unwrap_or_default();
        canvas.open("panel");
        let frame = canvas.frame(place, &title, x, y);
        for (at, run) in runs.iter().enumerate() {
            for (_, look, value) in &statistics {
                let of_it = drawn
                    .iter()
                    .filter(|cell| cell.subject == *run && panel(cell) == *this);
                let size = |point: &Point| f64::from((sweep.size)(point));
                let of_point = |point: &PointSummary| (of.of)(point).map(value);
                let values = cells::marked(of_it, size, of_point);
                marked::curve(&frame, &values, Series::of_run(runs.len(), at, *look));
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
        caption.push_str(&format!(" Shown: {}.", name(only, &all_panels)));
    }
    if runs.len() > 1 {
        caption.push_str(" For several runs, mean and max3 are shown.");
    }
    let what = "combinations of depth and link";
    caption += &shown(panels.len(), all_panels.len(), what);
    caption.push_str(&sweep.held);
    caption.push_str(&links(subjects));
    let is_both = sweep.way == Swept::Equal;
    let what = if is_both { "size" } else { sweep.name };
    canvas.finish(
        &format!("{}-{}", of.stem, sweep.stem),
        &format!("{} against {what}", of.name),
        &caption,
    )
}
