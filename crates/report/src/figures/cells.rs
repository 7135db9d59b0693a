//! The points of several runs: sweeps of sizes, choices where there is no room for all, names and parts of captions.

use super::Figure;
use super::axes::bounds;
use super::canvas::Entry;
use crate::Subject;
use std::collections::BTreeSet;
use wiregauge_record::{Point, PointSummary, Schedule};
use wiregauge_run::{Run, RunKind};
use wiregauge_stats::Estimate;

/// A point of an exchange run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell<'a> {
    /// Which of the subjects.
    pub(super) subject: usize,
    pub(super) summary: &'a PointSummary,
}

impl Cell<'_> {
    pub(super) fn point(&self) -> Point {
        self.summary.point
    }
}

/// All points of runs of a kind: which of the subjects, its summary, and what is loaded of it.
pub(super) fn points<'a, K: RunKind, L: 'a>(
    subjects: &'a [Subject],
    run: impl Fn(&'a Subject) -> Option<(&'a Run<K>, &'a [L])>,
) -> Vec<(usize, &'a K::Summary, &'a L)> {
    let mut all = Vec::new();
    for (at, subject) in subjects.iter().enumerate() {
        if let Some((run, loaded)) = run(subject) {
            let points = run.file.points.iter().zip(loaded);
            all.extend(points.map(|(summary, loaded)| (at, summary, loaded)));
        }
    }
    all
}

/// All points of all exchange runs.
pub(super) fn exchange(subjects: &[Subject]) -> Vec<Cell<'_>> {
    let all = points(subjects, Subject::exchange_run).into_iter();
    all.map(|(subject, summary, _)| Cell { subject, summary })
        .collect()
}

/// A figure of each run that has one; with several runs its title begins with the run, and names of files have numbers.
pub(super) fn of_each(
    subjects: &[Subject],
    draw: impl Fn(&Subject) -> Option<Figure>,
) -> Vec<Figure> {
    let titled = |(at, subject): (usize, &Subject)| {
        let mut figure = draw(subject)?;
        figure.title = joined([label(subjects, at, subjects.len()), figure.title], ": ");
        Some(figure)
    };
    let mut figures: Vec<Figure> = subjects.iter().enumerate().filter_map(titled).collect();
    for (at, figure) in figures.iter_mut().enumerate().skip(1) {
        figure.name = format!("{}-{}", figure.name, at + 1);
    }
    figures
}

/// The values that occur, ascending.
pub(super) fn distinct<T: Ord>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    values
        .into_iter()
        .collect::<BTreeSet<T>>()
        .into_iter()
        .collect()
}

/// At most `most` of them, spread evenly, the first and the last among them.
pub(super) fn spread<T: Clone>(all: &[T], most: usize) -> Vec<T> {
    if all.len() <= most {
        return all.to_vec();
    }
    let last = all.len() - 1;
    (0..most)
        .map(|n| all[n * last / (most - 1).max(1)].clone())
        .collect()
}

/// "2, 4 and 8"; at most ten of them.
pub(super) fn listed<T: ToString>(all: &[T]) -> String {
    let names: Vec<String> = all.iter().take(10).map(T::to_string).collect();
    match names.as_slice() {
        _ if all.len() > 10 => format!("{} and {} more", names.join(", "), all.len() - 10),
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// One of the sizes of a point.
pub(super) type SizeOf = fn(&Point) -> u32;

/// A sweep of sizes: what varies, and the points in which nothing else of the sizes does.
pub(super) struct Sweep<'a> {
    /// How the sizes are called.
    pub(super) name: &'static str,
    /// Part of the figure's file name.
    pub(super) stem: &'static str,
    pub(super) size: SizeOf,
    pub(super) way: Swept,
    pub(super) cells: Vec<Cell<'a>>,
    /// What was held and which points were left out for it; empty if none were.
    pub(super) held: String,
}

/// Which sizes a sweep varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Swept {
    In,
    Out,
    /// Both at once, always the same, as with an echo.
    Equal,
}

/// The sweeps of sizes that there are: of IN, of OUT, or of both where they are the same.
pub(super) fn sweeps<'a>(cells: &[Cell<'a>]) -> Vec<Sweep<'a>> {
    let is_equal = |cell: &Cell<'_>| cell.point().in_bytes == cell.point().out_bytes;
    let mut sweeps = match cells.iter().all(is_equal) {
        true => vec![Sweep {
            name: "Size in each direction",
            stem: "size",
            size: |point| point.in_bytes,
            way: Swept::Equal,
            cells: cells.to_vec(),
            held: String::new(),
        }],
        false => vec![held(Swept::In, cells), held(Swept::Out, cells)],
    };
    sweeps.retain(|sweep| distinct(sweep.cells.iter().map(|c| (sweep.size)(&c.point()))).len() > 1);
    sweeps
}

/// A sweep of the sizes in one direction: the points at the smallest other size of each run.
fn held<'a>(way: Swept, cells: &[Cell<'a>]) -> Sweep<'a> {
    let (size_in, size_out): (SizeOf, SizeOf) = (|point| point.in_bytes, |point| point.out_bytes);
    let (name, stem, size, other_name, other) = match way {
        Swept::Out => ("OUT size", "size-out", size_out, "IN", size_in),
        Swept::In | Swept::Equal => ("IN size", "size-in", size_in, "OUT", size_out),
    };
    let other = |cell: &Cell<'_>| other(&cell.point());
    let smallest = |subject: usize| {
        let of_it = cells.iter().filter(|cell| cell.subject == subject);
        of_it.map(other).min()
    };
    let is_kept = |cell: &&Cell<'a>| Some(other(cell)) == smallest(cell.subject);
    let kept: Vec<Cell<'a>> = cells.iter().filter(is_kept).copied().collect();
    let mut sizes = distinct(kept.iter().map(other));
    sizes.truncate(4);
    let held = match kept.len() == cells.len() {
        true => String::new(),
        false => format!(" Points with {other_name} size {} B only.", listed(&sizes)),
    };
    Sweep {
        name,
        stem,
        size,
        way,
        cells: kept,
        held,
    }
}

/// A value whose interval is not known.
pub(super) fn bare(value: f64) -> Estimate {
    Estimate {
        value,
        low: None,
        high: None,
    }
}

/// True if a logarithmic axis shows values that a linear one would press flat.
pub(super) fn wide((low, high): (f64, f64), factor: f64) -> bool {
    low > 0.0 && high / low > factor
}

/// The addresses of the links, where there are several.
pub(super) fn links(subjects: &[Subject]) -> String {
    let [only] = subjects else {
        return String::new();
    };
    let exchanges = only.exchange_run().into_iter();
    let exchanges = exchanges.flat_map(|(run, _)| run.file.plan.links());
    let streams = only.stream_run().into_iter();
    let streams = streams.flat_map(|(run, _)| run.file.plan.links());
    let addresses: Vec<&str> = exchanges.chain(streams).collect();
    if addresses.len() < 2 {
        return String::new();
    }
    let named = addresses.iter().enumerate();
    let named: Vec<String> = named.map(|(n, name)| format!("{n} is {name}")).collect();
    format!(" Link {}.", listed(&named))
}

/// What a legend of one name would say, for the caption.
pub(super) fn only(legend: &[Entry]) -> String {
    match legend {
        [only] => format!(" Shown: {}.", only.name),
        _ => String::new(),
    }
}

/// True if exchanges of any run were started by a schedule.
pub(super) fn has_schedule(subjects: &[Subject]) -> bool {
    let mut runs = subjects.iter().filter_map(Subject::exchange_run);
    runs.any(|(run, _)| matches!(run.file.plan.schedule, Schedule::EveryNs(_)))
}

/// The parts of a name that are not empty.
pub(super) fn joined<const N: usize>(parts: [String; N], by: &str) -> String {
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(by)
}

/// The name of a run, where there are several.
pub(super) fn label(subjects: &[Subject], run: usize, runs: usize) -> String {
    match runs {
        1 => String::new(),
        _ => subjects[run].label.clone(),
    }
}

/// How many of all are drawn, for a caption; nothing if all are.
pub(super) fn shown(drawn: usize, all: usize, what: &str) -> String {
    match drawn < all {
        true => format!(" {drawn} of {all} {what} are shown."),
        false => String::new(),
    }
}

/// At most so many values, spread evenly; for a caption which they are, if they are not all.
pub(super) fn few<T: Clone>(
    all: &[T],
    most: usize,
    what: &str,
    name: impl Fn(&T) -> String,
) -> (Vec<T>, String) {
    let drawn = spread(all, most);
    let names: Vec<String> = drawn.iter().map(name).collect();
    let left_out = match drawn.len() < all.len() {
        true => format!(" Shown {what}, of {}: {}.", all.len(), listed(&names)),
        false => String::new(),
    };
    (drawn, left_out)
}

/// The low and the high end of what is to be drawn, confidence bounds included.
pub(super) fn reach<'a>(values: impl IntoIterator<Item = &'a Estimate>) -> (f64, f64) {
    let mut all = Vec::new();
    for value in values {
        all.push(value.value);
        all.extend(value.high);
        // A bound near 0 would leave a logarithmic axis to itself.
        all.extend(value.low.filter(|low| *low > 0.3 * value.value));
    }
    bounds(all).unwrap_or((0.0, 1.0))
}
