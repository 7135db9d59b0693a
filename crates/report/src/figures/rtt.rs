//! The RTTs of the points that are drawn: what the figures made from an exchange run's samples share.

use super::which::{Cell, Choice};
use crate::Subject;
use crate::load::{ExchangePoint, Loaded};
use wiregauge_record::PointSummary;
use wiregauge_run::AnyRun;

/// A point with its samples.
#[derive(Clone, Copy)]
pub(super) struct Sampled<'a> {
    /// Which of the subjects.
    pub(super) subject: usize,
    pub(super) cell: Cell,
    pub(super) summary: &'a PointSummary,
    pub(super) loaded: &'a ExchangePoint,
}

/// All points of exchange runs that have samples.
pub(super) fn all(subjects: &[Subject]) -> Vec<Sampled<'_>> {
    let mut points = Vec::new();
    for (subject, of) in subjects.iter().enumerate() {
        let (AnyRun::Exchange(run), Loaded::Exchange(loaded)) = (&of.run, &of.loaded) else {
            continue;
        };
        for (summary, loaded) in run.file.points.iter().zip(loaded) {
            if loaded.series.of > 0 {
                points.push(Sampled {
                    subject,
                    cell: summary.point.into(),
                    summary,
                    loaded,
                });
            }
        }
    }
    points
}

/// The runs that have such points.
pub(super) fn runs(points: &[Sampled<'_>]) -> Vec<usize> {
    let mut runs: Vec<usize> = points.iter().map(|point| point.subject).collect();
    runs.dedup();
    runs
}

/// The points of a run that were measured so, in the order in which they ran; more than one only in
/// a run that asks for the same twice.
pub(super) fn at<'a, 'b>(
    points: &'b [Sampled<'a>],
    subject: usize,
    cell: Cell,
) -> impl Iterator<Item = &'b Sampled<'a>> {
    points
        .iter()
        .filter(move |point| point.subject == subject && point.cell == cell)
}

/// Which cells are drawn: of several runs those that all of them have, if there are any.
pub(super) fn choice(points: &[Sampled<'_>], most: usize) -> Choice {
    let runs = runs(points);
    let common = |cell: &Cell| {
        runs.iter()
            .all(|&run| at(points, run, *cell).next().is_some())
    };
    let cells = points.iter().map(|point| point.cell);
    if cells.clone().any(|cell| common(&cell)) {
        Choice::of(cells.filter(common), most)
    } else {
        Choice::of(cells, most)
    }
}
