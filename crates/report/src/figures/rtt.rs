//! The RTTs and TRTs of the points that are drawn: what the figures made from an exchange run's samples share.

use super::cells::{common, points};
use super::which::{Cell, Choice};
use crate::Subject;
use crate::load::{ExchangePoint, Series};
use hdrhistogram::Histogram;
use wiregauge_record::{Connect, PointSummary, Schedule};
use wiregauge_run::{Exchange, RunFile};

/// A point with its samples.
#[derive(Clone, Copy)]
pub(super) struct Sampled<'a> {
    /// Which of the subjects.
    pub(super) subject: usize,
    pub(super) cell: Cell,
    pub(super) summary: &'a PointSummary,
    pub(super) loaded: &'a ExchangePoint,
    /// What is drawn of it: RTTs or TRTs, over time and counted.
    pub(super) series: &'a Series,
    pub(super) values: &'a Histogram<u64>,
}

/// All points of exchange runs that have samples, with their RTTs.
pub(super) fn all(subjects: &[Subject]) -> Vec<Sampled<'_>> {
    sampled(subjects, |_| true, |loaded| (&loaded.series, &loaded.rtt))
}

/// The same with their TRTs, of runs in which a TRT is neither the RTT nor what the schedule set.
pub(super) fn turnarounds(subjects: &[Subject]) -> Vec<Sampled<'_>> {
    sampled(subjects, has_turnarounds, |loaded| {
        (&loaded.trt_series, &loaded.trt)
    })
}

/// True of a run that is as fast as possible, with several outstanding at some point.
pub(crate) fn has_turnarounds(file: &RunFile<Exchange>) -> bool {
    let plan = &file.plan;
    plan.schedule == Schedule::AsFastAsPossible
        && plan.connect == Connect::Once
        && file.points.iter().any(|point| point.point.depth > 1)
}

fn sampled<'a>(
    subjects: &'a [Subject],
    is_drawn: impl Fn(&RunFile<Exchange>) -> bool,
    of: impl Fn(&'a ExchangePoint) -> (&'a Series, &'a Histogram<u64>),
) -> Vec<Sampled<'a>> {
    let run = |one: &'a Subject| one.exchange_run().filter(|(run, _)| is_drawn(&run.file));
    let all = points(subjects, run).into_iter();
    let sampled = all.map(|(subject, summary, loaded)| {
        let (series, values) = of(loaded);
        Sampled {
            subject,
            cell: summary.point.into(),
            summary,
            loaded,
            series,
            values,
        }
    });
    sampled.filter(|point| point.series.of > 0).collect()
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
    let measured: Vec<_> = points.iter().map(|one| (one.subject, one.cell)).collect();
    Choice::of(common(&measured, &runs(points)).into_iter(), most)
}
