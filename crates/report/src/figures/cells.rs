//! The points of several runs, sorted into what a figure lays side by side: curves and panels.
//! Colours tell runs apart (or links, or depths, if there is but one run), dashes and markers depths.

use super::Figure;
use super::axes::{Axis, bounds};
use super::canvas::{Entry, Key};
use super::look::{FONT_SIZE, Series, fitting};
use super::marked::Marked;
use super::point_key;
use crate::Subject;
use std::collections::BTreeSet;
use wiregauge_compare::{Settings, link_name};
use wiregauge_model::response_size;
use wiregauge_record::{Point, PointSummary, Schedule};
use wiregauge_run::{Run, RunKind};
use wiregauge_stats::Estimate;

/// As many colours as there are.
pub(super) const MOST_CURVES: usize = 8;

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

    /// By which a page finds what is drawn of it.
    pub(super) fn key(&self) -> String {
        point_key::exchange(self.point())
    }

    /// Where it stands in a list of points: by sizes and depth, what is to be compared side by side.
    fn rank(&self) -> impl Ord + use<> {
        let point = self.point();
        let setting = (point.out_bytes, point.in_bytes, point.depth);
        (setting, point.link, point.together, self.subject)
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

/// One curve, ascending in x.
pub(super) struct Curve {
    pub(super) name: String,
    pub(super) series: Series,
    pub(super) values: Vec<Marked>,
}

impl Curve {
    /// In the legend.
    pub(super) fn entry(&self) -> Entry {
        let keys = self.values.iter().map(|value| value.key.clone());
        let entry = Key::Points(self.series).named(&self.name);
        entry.of(point_key::list(keys))
    }
}

/// The values of some cells, ascending in x.
pub(super) fn marked<'a, 'b>(
    cells: impl Iterator<Item = &'b Cell<'a>>,
    x: impl Fn(&Point) -> f64,
    y: impl Fn(&PointSummary) -> Option<Estimate>,
) -> Vec<Marked>
where
    'a: 'b,
{
    let mut values: Vec<Marked> = cells
        .filter_map(|cell| {
            Some(Marked {
                key: cell.key(),
                x: x(&cell.point()),
                y: y(cell.summary)?,
            })
        })
        .collect();
    values.sort_by(|a, b| a.x.total_cmp(&b.x));
    values
}

/// A value whose interval is not known.
pub(super) fn bare(value: f64) -> Estimate {
    Estimate {
        value,
        low: None,
        high: None,
    }
}

/// What distinguishes curves: run, link and depth.
type CurveKey = (usize, u32, u32);

fn curve_key(cell: &Cell<'_>) -> CurveKey {
    (cell.subject, cell.point().link, cell.point().depth)
}

/// What keys of curves there are among cells, and how each is named and drawn.
pub(super) struct Keys {
    keys: Vec<(CurveKey, String, Series)>,
    /// In words, what was left out.
    pub(super) left_out: String,
}

impl Keys {
    /// At most so many curves: if there are more, depths are left out.
    pub(super) fn of(subjects: &[Subject], cells: &[Cell<'_>], most: usize) -> Keys {
        let keys = distinct(cells.iter().map(curve_key));
        let runs = distinct(keys.iter().map(|key| key.0)).len();
        let links = distinct(keys.iter().map(|key| key.1)).len();
        let colours = distinct(keys.iter().map(|key| (key.0, key.1)));
        let depths = distinct(keys.iter().map(|key| key.2));
        let a_colour = (most / colours.len().max(1)).clamp(1, most);
        let (depths, left_out) = few(&depths, a_colour, "depths", u32::to_string);
        let drawn = |key: CurveKey| {
            let (run, link, depth) = key;
            let pattern = depths.iter().position(|other| *other == depth)?;
            let colour = colours.iter().position(|other| *other == (run, link))?;
            let of = |is_named: bool, name: String| if is_named { name } else { String::new() };
            let link = of(links > 1, format!("link {link}"));
            let is_alone = colours.len() == 1;
            let depth = of(depths.len() > 1 || is_alone, format!("depth {depth}"));
            let name = joined([label(subjects, run, runs), link, depth], ", ");
            Some((key, name, Series::of_run(colours.len(), colour, pattern)))
        };
        Keys {
            keys: keys.into_iter().filter_map(drawn).collect(),
            left_out,
        }
    }

    /// The curves of some cells, one for each key that occurs among them.
    pub(super) fn curves(
        &self,
        cells: &[Cell<'_>],
        x: impl Fn(&Point) -> f64,
        y: impl Fn(&PointSummary) -> Option<Estimate>,
    ) -> Vec<Curve> {
        let curve = |(key, name, series): &(CurveKey, String, Series)| {
            let of_it = cells.iter().filter(|cell| curve_key(cell) == *key);
            let mut values = marked(of_it, &x, &y);
            values.retain(|value| value.x.is_finite() && value.y.value.is_finite());
            (!values.is_empty()).then(|| Curve {
                name: name.clone(),
                series: *series,
                values,
            })
        };
        self.keys.iter().filter_map(curve).collect()
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

/// A warning where exchanges were started by a schedule: then it bounds how many there are.
pub(super) fn schedule(subjects: &[Subject]) -> String {
    match has_schedule(subjects) {
        true => " A schedule started the exchanges, which limits the throughput.".to_owned(),
        false => String::new(),
    }
}

/// More panels of a sweep would be too small.
const MOST_PANELS: usize = 4;

/// What a panel of a sweep is of: a link, and the setting `H` that the sweep does not vary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Panel<H> {
    together: bool,
    link: u32,
    pub(super) held: H,
}

impl<H: Copy + Ord> Panel<H> {
    pub(super) fn new(cell: &Cell<'_>, held: H) -> Panel<H> {
        let Point { together, link, .. } = cell.point();
        Panel {
            together,
            link,
            held,
        }
    }

    /// The link where there are several; what is held where it varies, or there is but one panel.
    pub(super) fn name(&self, all: &[Panel<H>], held: impl Fn(H) -> String) -> String {
        let link = |panel: &Panel<H>| (panel.link, panel.together);
        let links = all.iter().any(|other| link(other) != link(self));
        let is_held = !links || all.iter().any(|other| other.held != self.held);
        let link = links.then(|| link_name(self.link, self.together));
        let held = is_held.then(|| held(self.held));
        joined([link, held].map(Option::unwrap_or_default), ", ")
    }

    /// Those that are drawn: of too many all links at one setting, so that what is left can be compared, then evenly.
    pub(super) fn few(all: &[Panel<H>]) -> Vec<Panel<H>> {
        let links = distinct(all.iter().map(|panel| (panel.link, panel.together)));
        let mut kept = all.to_vec();
        if kept.len() > MOST_PANELS && links.len() > 1 {
            let first = all.iter().map(|panel| panel.held).min();
            kept.retain(|panel| Some(panel.held) == first);
        }
        spread(&kept, MOST_PANELS)
    }
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

/// The legend of values that are drawn of each run, each with its name and the number of its look.
pub(super) fn values_legend<'a>(
    subjects: &[Subject],
    runs: &[usize],
    values: impl Iterator<Item = (&'a str, usize)> + Clone,
) -> Vec<Entry> {
    let of_run = |(at, run): (usize, &usize)| {
        let run = label(subjects, *run, runs.len());
        let values = values.clone().map(move |(name, number)| {
            let key = Key::Points(Series::of_run(runs.len(), at, number));
            key.named(joined([run.clone(), name.to_owned()], ": "))
        });
        values.collect::<Vec<_>>()
    };
    runs.iter().enumerate().flat_map(of_run).collect()
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

/// The settings that all of these runs have; if there are none, all that there are.
pub(super) fn common<T: Copy + Ord>(measured: &[(usize, T)], runs: &[usize]) -> Vec<T> {
    let mut all = distinct(measured.iter().map(|(_, cell)| *cell));
    let is_common = |cell: &T| runs.iter().all(|run| measured.contains(&(*run, *cell)));
    if all.iter().any(is_common) {
        all.retain(is_common);
    }
    all
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

/// At most so many points, one above the other: with the axis that names them, and for a caption how many are drawn.
pub(super) fn listed_points<'a>(
    subjects: &'a [Subject],
    is_drawn: impl Fn(&PointSummary) -> bool,
    most: usize,
) -> Option<(Vec<Cell<'a>>, Axis, String)> {
    let mut all = exchange(subjects);
    all.retain(|cell| is_drawn(cell.summary));
    all.sort_by_key(Cell::rank);
    let drawn = spread(&all, most);
    drawn.first()?;
    let names = labels(subjects, &drawn).into_iter();
    let axis = Axis::points(names.zip(drawn.iter().map(Cell::key)));
    let left_out = shown(drawn.len(), all.len(), "points");
    Some((drawn, axis, left_out))
}

/// Names for points, short enough to stand beside an axis: only what distinguishes them.
fn labels(subjects: &[Subject], cells: &[Cell<'_>]) -> Vec<String> {
    let runs = distinct(cells.iter().map(|cell| cell.subject)).len();
    let settings = |cell: &Cell<'_>| Settings::of_exchange(&cell.point());
    let all: Vec<Settings> = cells.iter().map(settings).collect();
    let name = |cell: &Cell<'_>| {
        let run = fitting(&label(subjects, cell.subject, runs), FONT_SIZE, 110.0);
        let mut point = settings(cell).name_among(&all);
        if point.is_empty() {
            point = response_size(cell.point().in_bytes);
        }
        fitting(&joined([run, point], ", "), FONT_SIZE, 260.0)
    };
    cells.iter().map(name).collect()
}
