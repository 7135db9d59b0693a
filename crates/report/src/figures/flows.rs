//! The ways of stream points that are drawn: what the figures made from a stream run's samples share.

use super::canvas::{Canvas, Entry, Key, Place};
use super::cells::{common, first_runs, joined, label, points};
use super::look::{HEIGHT, Series};
use super::point_key;
use super::which::{Cell, Choice};
use crate::Subject;
use crate::load::Flow;
use wiregauge_record::{FlowSummary, StreamPoint, Way};

/// One way of a point with its samples.
#[derive(Clone, Copy)]
pub(super) struct Sampled<'a> {
    /// Which of the subjects.
    pub(super) subject: usize,
    pub(super) cell: Cell,
    point: StreamPoint,
    pub(super) summary: &'a FlowSummary,
    pub(super) loaded: &'a Flow,
}

impl Sampled<'_> {
    /// By which a page finds what is drawn of it.
    pub(super) fn key(&self) -> String {
        point_key::flow(self.point, self.summary.way)
    }
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
            point: summary.point,
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
    let mut left_out = match choice.which.as_str() {
        "" => String::new(),
        which => format!(" {drawn} of {} curves are shown: {which}.", flows.len()),
    };
    left_out += &first_runs(runs.len(), of);
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
        for (name, series, flow) in self.panels.iter().flat_map(|panel| &panel.curves) {
            match legend.iter_mut().find(|entry| entry.name == *name) {
                // The same in the other direction.
                Some(entry) => {
                    entry.points.push(' ');
                    entry.points.push_str(&flow.key());
                }
                None if name.is_empty() => {}
                None => legend.push(Key::Points(*series).named(name).of(flow.key())),
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
