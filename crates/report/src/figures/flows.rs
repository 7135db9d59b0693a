//! The flows of streams that are drawn, which the figures made from a stream run's samples share, and two of these: the
//! rate over time, second by second, which says whether the mean is one of a steady flow, and the gaps between completions,
//! on a percentile axis, which say how long the host did not look.

use super::Figure;
use super::axes::{Axis, bounds};
use super::canvas::{Canvas, Entry, Key, Place};
use super::cells::{common, joined, label, links, points, shown};
use super::look::{HEIGHT, Series};
use super::percentile_axis::{self, Curve};
use super::which::{Cell, Choice};
use crate::Subject;
use crate::load::Flow;
use wiregauge_record::{FlowSummary, Way};

/// More curves in a panel cannot be distinguished.
const MOST_CURVES: usize = 6;

/// More markers of a curve hide its line.
const MOST_MARKERS: usize = 25;

/// One way of a point with its samples.
#[derive(Clone, Copy)]
pub(super) struct Sampled<'a> {
    /// Which of the subjects.
    pub(super) subject: usize,
    pub(super) cell: Cell,
    pub(super) summary: &'a FlowSummary,
    pub(super) loaded: &'a Flow,
}

/// One way of several points, chosen, named and given their look.
pub(super) struct Panel<'a> {
    pub(super) way: Way,
    pub(super) curves: Vec<(String, Series, Sampled<'a>)>,
}

/// What is drawn.
pub(super) struct Drawn<'a> {
    pub(super) panels: Vec<Panel<'a>>,
    /// What is not drawn, in words; begins with a space if it is not empty.
    pub(super) left_out: String,
}

fn all(subjects: &[Subject]) -> Vec<Sampled<'_>> {
    let all = points(subjects, Subject::stream_run).into_iter();
    let flows = all.flat_map(|(subject, summary, loaded)| {
        let both = summary.flows.iter().zip(&loaded.flows);
        both.map(move |(flow, loaded)| Sampled {
            subject,
            cell: summary.point.into(),
            summary: flow,
            loaded,
        })
    });
    flows.collect()
}

/// Chooses among the flows that have something to show: at most so many curves in each way's panel.
pub(super) fn chosen(
    subjects: &[Subject],
    shows: impl Fn(&Sampled<'_>) -> bool,
    most: usize,
) -> Option<Drawn<'_>> {
    let mut flows = all(subjects);
    flows.retain(|flow| shows(flow));
    let mut runs: Vec<usize> = flows.iter().map(|flow| flow.subject).collect();
    runs.dedup();
    let of = runs.len();
    runs.truncate(most);
    if runs.is_empty() {
        return None;
    }
    let measured: Vec<_> = flows.iter().map(|one| (one.subject, one.cell)).collect();
    // Each way has its own panel, so each may have so many.
    let most = (most / runs.len()).max(1);
    let choice = Choice::of(common(&measured, &runs).into_iter(), most);
    let name = |run: usize, cell: &Cell| {
        let run = label(subjects, run, runs.len());
        joined([run, choice.name(cell)], ", ")
    };
    let mut panels = Vec::new();
    for way in [Way::In, Way::Out] {
        let mut curves = Vec::new();
        for (at_run, &run) in runs.iter().enumerate() {
            for (at_cell, cell) in choice.cells.iter().enumerate() {
                let mut of_it = flows.iter().filter(|flow| {
                    flow.subject == run && flow.cell == *cell && flow.summary.way == way
                });
                let Some(flow) = of_it.next() else { continue };
                let series = Series::of_run(runs.len(), at_run, at_cell);
                curves.push((name(run, cell), series, *flow));
            }
        }
        if !curves.is_empty() {
            panels.push(Panel { way, curves });
        }
    }
    let drawn: usize = panels.iter().map(|panel| panel.curves.len()).sum();
    // Each way of a point is a curve of its own.
    let left_out = shown(drawn, flows.len(), "curves") + &shown(runs.len(), of, "runs");
    Some(Drawn { panels, left_out })
}

impl<'a> Drawn<'a> {
    /// All that have a curve.
    pub(super) fn flows(&self) -> impl Iterator<Item = &Sampled<'a>> {
        let curves = self.panels.iter().flat_map(|panel| &panel.curves);
        curves.map(|(.., flow)| flow)
    }

    /// A sheet with a panel for each way, one above the other.
    pub(super) fn sheet(&self, legend: &[Entry]) -> (Canvas, Vec<Place>) {
        Canvas::with_panels((self.panels.len(), 1), (HEIGHT, 290), legend)
    }

    /// The names of the curves, each once.
    pub(super) fn legend(&self) -> Vec<Entry> {
        let mut legend: Vec<Entry> = Vec::new();
        for (name, series, _) in self.panels.iter().flat_map(|panel| &panel.curves) {
            let is_new = legend.iter().all(|entry| entry.name != *name);
            if is_new && !name.is_empty() {
                legend.push(Key::Points(*series).named(name));
            }
        }
        legend
    }
}

/// A way as the title of a panel.
pub(super) fn title(way: Way) -> &'static str {
    match way {
        Way::In => "IN: device to host",
        Way::Out => "OUT: host to device",
    }
}

pub(crate) fn draw(subjects: &[Subject]) -> Vec<Figure> {
    let both = [rates(subjects), gaps(subjects)];
    both.into_iter().flatten().collect()
}

fn rates(subjects: &[Subject]) -> Option<Figure> {
    let has_rates =
        |flow: &Sampled<'_>| flow.summary.rate_bytes_s.len() > 1 && flow.summary.rate_step_ns > 0;
    let drawn = chosen(subjects, has_rates, MOST_CURVES)?;
    let all = drawn.flows().flat_map(|flow| &flow.summary.rate_bytes_s);
    let (_, high) = bounds(all.copied()).unwrap_or((0.0, 1.0));
    let length = |flow: &FlowSummary| flow.rate_bytes_s.len() as f64 * flow.rate_step_ns as f64;
    let longest = drawn.flows().map(|flow| length(flow.summary));
    let longest = longest.fold(1.0, f64::max);
    let (canvas, places) = drawn.sheet(&drawn.legend());
    for (panel, place) in drawn.panels.iter().zip(places) {
        let x = Axis::elapsed("Measured time", longest);
        canvas.open("panel");
        let frame = canvas.frame(place, title(panel.way), x, Axis::rate("Rate", high));
        for (_, series, flow) in &panel.curves {
            let step = flow.summary.rate_step_ns as f64;
            let rates = flow.summary.rate_bytes_s.iter().enumerate();
            let points = rates.map(|(n, rate)| ((n as f64 + 0.5) * step, *rate));
            let points: Vec<(f64, f64)> = points.collect();
            let every = points.len().div_ceil(MOST_MARKERS);
            let marked: Vec<_> = points.iter().step_by(every).copied().collect();
            frame.open("curve");
            frame.line(&points, *series);
            frame.markers(&marked, *series);
            frame.close();
        }
        canvas.close();
    }
    let caption = format!(
        "Each point is the mean over one second, or over 0.1 s if the run is shorter than 3 s. Start-up is \
         excluded.{}{}",
        drawn.left_out,
        links(subjects)
    );
    Some(canvas.finish("rate-time", "Rate over time", &caption))
}

fn gaps(subjects: &[Subject]) -> Option<Figure> {
    let drawn = chosen(subjects, |flow| !flow.loaded.gap.is_empty(), MOST_CURVES)?;
    let (canvas, places) = drawn.sheet(&drawn.legend());
    for (panel, place) in drawn.panels.iter().zip(places) {
        let curves = panel.curves.iter().map(|(name, series, flow)| Curve {
            name: name.clone(),
            series: *series,
            values: &flow.loaded.gap,
        });
        let (title, curves) = (title(panel.way), curves.collect::<Vec<_>>());
        percentile_axis::panel(&canvas, place, title, "Gap", "gaps", &curves);
    }
    let caption = format!(
        "Time from one completion to the next; the device must buffer its data for that long. {}{}",
        percentile_axis::CAPTION,
        drawn.left_out
    );
    Some(canvas.finish("gap-percentiles", "Gaps between completions", &caption))
}
