//! A time over time, such as the RTT: the band from the shortest to the longest of each slice, their mean, every sample
//! that stands out and everything that went wrong. Drifts, bursts and periods show here and nowhere
//! else.

use super::Figure;
use super::axes::{Axis, bounds, roomy};
use super::canvas::{Canvas, Frame, Key};
use super::cells::{joined, label};
use super::look::{HEIGHT, INK, Marker, SERIES, Series};
use super::selection::{self, Sampled, Selection};
use crate::Subject;
use crate::load::{Series as Thinned, Slice};
use wiregauge_quantity::grouped;

/// More panels would be too small.
const MOST_PANELS: usize = 6;

/// Slices, outliers and bad ones that all panels together may show: what a page can hold and an eye
/// can tell apart.
const MOST_SLICES: usize = 450;
const MOST_SPOTS: usize = 200;
const MOST_BAD: usize = 200;

/// Above this ratio of longest to shortest a linear axis presses the usual RTTs flat.
const WIDE: f64 = 8.0;

/// Runs that last up to so many times as long as each other share an axis of time.
const SAME_AXIS: f64 = 3.0;

/// Maximum number of samples drawn individually, over all panels.
const MOST_DOTS: usize = 500;

/// Minimum width of a slice in pixels, so that it is visible.
const NARROWEST: f64 = 1.6;

/// Height of a row of marks at the top.
const MARK_ROW: f64 = 11.0;

const BAND: &str = SERIES[3];
const OUTLIER: &str = SERIES[4];

/// How what went wrong is marked.
pub(crate) fn bad_mark(status: &str) -> Series {
    let (colour, marker, hollow) = match status {
        "lost" => (INK, Marker::Triangle, false),
        "late" => (INK, Marker::Triangle, true),
        "overrun" => (INK, Marker::Triangle, false),
        "underrun" => (INK, Marker::Triangle, true),
        "both" => (SERIES[5], Marker::Diamond, false),
        "corrupted" => (SERIES[5], Marker::Diamond, false),
        "unexpected" => (SERIES[5], Marker::Diamond, true),
        "duplicated" => (SERIES[2], Marker::Square, true),
        "reordered" => (SERIES[1], Marker::Circle, true),
        _ => (INK, Marker::Square, false),
    };
    Series::mark(colour, marker, hollow)
}

/// What is drawn.
struct Quantity {
    /// Of the figure's file.
    name: &'static str,
    title: &'static str,
    /// The name of the values.
    axis: &'static str,
    /// What has such a value.
    one: &'static str,
    many: &'static str,
    /// What the value is; begins with a space if it is not empty.
    meaning: &'static str,
}

const RTT: Quantity = Quantity {
    name: "rtt-series",
    title: "RTT over time",
    axis: "RTT",
    one: "exchange",
    many: "exchanges",
    meaning: "",
};

const TRT: Quantity = Quantity {
    name: "trt-series",
    title: "TRT over time",
    axis: "TRT",
    meaning: " TRT: from the start of an exchange to the start of the next.",
    ..RTT
};

const DELAY: Quantity = Quantity {
    name: "service-series",
    title: "Service delay over time",
    axis: "Service delay",
    one: "block",
    many: "blocks",
    meaning: " The service delay is the time from the last input sample of a block to the delivery of its output; \
              the latency needed is one block plus the longest service delay.",
};

/// One point of one run.
struct Panel<'a> {
    title: String,
    /// The same point of several runs is in one row, with the same axes.
    row: usize,
    series: &'a Thinned,
}

pub(crate) fn draw(subjects: &[Subject]) -> Option<Figure> {
    figure(subjects, selection::rtts(subjects), &RTT)
}

/// Of the time from the start of an exchange to the start of the next.
pub(crate) fn draw_turnarounds(subjects: &[Subject]) -> Option<Figure> {
    figure(subjects, selection::trts(subjects), &TRT)
}

/// Of the service delay of a loop's blocks.
pub(crate) fn draw_services(subjects: &[Subject]) -> Option<Figure> {
    let mut points = selection::loops(subjects);
    points.retain(|point| point.series.of > 0);
    figure(subjects, points, &DELAY)
}

fn figure<S: Clone, L: Clone>(
    subjects: &[Subject],
    points: Vec<Sampled<'_, S, L>>,
    of: &Quantity,
) -> Option<Figure> {
    let selection = Selection::of(points, MOST_PANELS, |runs| MOST_PANELS / runs)?;
    let runs = selection.runs.len();
    // One row a point, one column a run; of a single run the points fill the rows.
    let mut panels = Vec::new();
    for (row, cell) in selection.cells.iter().enumerate() {
        for &run in &selection.runs {
            if let Some(point) = selection.at(run, cell) {
                let run = label(subjects, run, runs);
                panels.push(Panel {
                    title: joined([run, selection.name(cell)], ": "),
                    row,
                    series: point.series,
                });
            }
        }
    }
    let series = || panels.iter().map(|panel| panel.series);
    let statuses = statuses(series());
    let mut legend = Vec::new();
    let has_few = |panel: &Panel<'_>| has_few(panel.series, panels.len());
    if !panels.iter().all(has_few) {
        legend.push(Key::Line(mean_line()).named("mean of a time slice"));
        legend.push(Key::Area(BAND, 0.45).named("shortest to longest"));
    }
    if panels.iter().any(has_few) {
        legend.push(Key::Mark(mean_line()).named(format!("one {}", of.one)));
    }
    if series().any(|series| !series.longest.is_empty()) {
        legend.push(Key::Mark(outlier()).named("outlier"));
    }
    for (status, n) in &statuses {
        let name = format!("{status} ({})", grouped(*n));
        legend.push(Key::Mark(bad_mark(status)).named(name));
    }
    let columns = if runs == 3 { 3 } else { 2 };
    let (canvas, places) = Canvas::with_panels((panels.len(), columns), (HEIGHT, 230), &legend);
    let mut spots_left_out = 0;
    for (one, place) in panels.iter().zip(places) {
        let series = one.series;
        // The part of the panel that the marks at its top take up.
        let head = MARK_ROW * statuses.len() as f64 / (place.height - 95.0);
        // Runs are compared along a row: the same axis for all of it.
        let row: Vec<&Thinned> = match runs {
            1 => vec![series],
            _ => panels
                .iter()
                .filter(|other| other.row == one.row)
                .map(|other| other.series)
                .collect(),
        };
        let x = elapsed_axis(series, &row);
        let y = value_axis(of.axis, &row, head);
        let frame = canvas.frame(place, &one.title, x, y);
        spots_left_out += panel(&frame, series, panels.len(), &statuses);
    }
    let caption = caption(of, &panels, spots_left_out) + of.meaning + &selection.rule;
    Some(canvas.finish(of.name, of.title, &caption))
}

fn mean_line() -> Series {
    Series::of(0).solid()
}

fn outlier() -> Series {
    Series::mark(OUTLIER, Marker::Circle, false)
}

/// What went wrong anywhere, and how often.
fn statuses<'a>(series: impl Iterator<Item = &'a Thinned>) -> Vec<(&'static str, u64)> {
    let mut all: Vec<(&'static str, u64)> = Vec::new();
    for (status, n) in series.flat_map(|series| &series.bad_in_all) {
        match all.iter_mut().find(|(other, _)| other == status) {
            Some((_, sum)) => *sum += n,
            None => all.push((status, *n)),
        }
    }
    all
}

/// When the last of it started.
fn last(series: &Thinned) -> f64 {
    let slice = series.slices.last().map(|slice| slice.at_ns);
    let bad = series.bad.last().map(|bad| bad.at_ns);
    slice.max(bad).unwrap_or(0) as f64
}

/// The same axis for all of a row, unless one of it would be pressed to a line.
fn elapsed_axis(series: &Thinned, row: &[&Thinned]) -> Axis {
    let (shortest, longest) = bounds(row.iter().map(|series| last(series))).unwrap_or((0.0, 1.0));
    let same = longest <= SAME_AXIS * shortest;
    // A little more, so that the last one is not on the edge.
    let high = if same { longest } else { last(series) } * 1.01;
    Axis::elapsed("Time since the start", high)
}

/// `head`: the part of the axis that stays free at its top.
fn value_axis(name: &str, row: &[&Thinned], head: f64) -> Axis {
    let slices = || row.iter().flat_map(|series| &series.slices);
    let low = bounds(slices().map(|slice| slice.min_ns as f64)).map_or(1.0, |b| b.0);
    let high = bounds(slices().map(|slice| slice.max_ns as f64)).map_or(1.0, |b| b.1);
    // A TRT of 0 has no place on a logarithmic axis.
    if low > 0.0 && high > WIDE * low {
        Axis::log_time(name, low, low * (high / low).powf(1.0 / (1.0 - head)))
    } else {
        let (low, high) = roomy(low, high);
        Axis::time_between(name, low, low + (high - low) / (1.0 - head))
    }
}

/// Slices that a panel has room for.
fn a_panel(panels: usize) -> usize {
    match panels {
        1 => 240,
        _ => MOST_SLICES / panels.max(MOST_PANELS),
    }
}

/// Draws a series; gives the number of outliers that were kept and have no room.
fn panel(
    frame: &Frame,
    series: &Thinned,
    panels: usize,
    statuses: &[(&'static str, u64)],
) -> usize {
    if has_few(series, panels) {
        let each = series.each.iter();
        let each: Vec<_> = each.map(|s| (s.at_ns as f64, s.value_ns as f64)).collect();
        let radius = if each.len() < 20 { 3.0 } else { 1.8 };
        frame.open("samples");
        frame.dots(&each, mean_line().colour, radius);
        frame.close();
    } else {
        let steps = steps(series, a_panel(panels), frame.x_step(NARROWEST));
        frame.open("band");
        for piece in &steps {
            let ends = |step: &Step| {
                let (low, high) = (step.slice.min_ns as f64, step.slice.max_ns as f64);
                [(step.from, low, high), (step.to, low, high)]
            };
            frame.band(&piece.iter().flat_map(ends).collect::<Vec<_>>(), BAND, 0.45);
        }
        frame.close();
        frame.open("mean");
        for piece in &steps {
            let ends = |step: &Step| [step.from, step.to].map(|at| (at, step.slice.mean_ns));
            let mean: Vec<_> = piece.iter().flat_map(ends).collect();
            frame.line_of(&mean, mean_line(), 1.4);
        }
        frame.close();
    }

    let mut spots: Vec<(f64, f64)> = series
        .longest
        .iter()
        .map(|spot| (spot.at_ns as f64, spot.value_ns as f64))
        .collect();
    spots.sort_by(|a, b| b.1.total_cmp(&a.1));
    let kept = spots.len();
    spots.truncate((MOST_SPOTS / panels).min(100));
    spots.sort_by(|a, b| a.0.total_cmp(&b.0));
    frame.open("outliers");
    frame.dots(&spots, OUTLIER, 2.2);
    frame.close();

    frame.open("bad");
    let room = MOST_BAD / panels / statuses.len().max(1);
    for (row, (status, _)) in statuses.iter().enumerate() {
        let when: Vec<f64> = series
            .bad
            .iter()
            .filter(|bad| bad.status == *status)
            .map(|bad| bad.at_ns as f64)
            .collect();
        let every = when.len().div_ceil(room.max(1)).max(1);
        let when: Vec<f64> = when.into_iter().step_by(every).collect();
        frame.marks_on_top(&when, MARK_ROW * (row as f64 + 0.5), bad_mark(status));
    }
    frame.close();
    kept - spots.len()
}

/// True if every sample is drawn individually.
fn has_few(series: &Thinned, panels: usize) -> bool {
    !series.each.is_empty() && series.each.len() <= MOST_DOTS / panels.max(1)
}

/// A slice with its begin and end on the axis of time.
struct Step {
    from: f64,
    to: f64,
    slice: Slice,
}

/// The slices as steps, those between silences together, about `most` of them. A slice lasts until the next one, before
/// a silence until its last sample, and is at least `narrowest` wide.
fn steps(series: &Thinned, most: usize, narrowest: f64) -> Vec<Vec<Step>> {
    let pieces = series.pieces(most / 2);
    let drawn = |times: usize| {
        pieces
            .iter()
            .map(|piece| piece.len().div_ceil(times))
            .sum::<usize>()
    };
    let mut times = series.slices.len().div_ceil(most.max(1)).max(1);
    while drawn(times) > most.max(1) {
        times += 1;
    }
    let length = series.usual_distance() as f64;
    let piece = |slices: &&[Slice]| {
        let end = slices
            .last()
            .map_or(0.0, |last| last.last_ns as f64 + length);
        let slices: Vec<Slice> = slices.chunks(times).filter_map(Slice::joined).collect();
        let next = slices.iter().skip(1).map(|slice| slice.at_ns as f64);
        let ends = next.chain([end]);
        slices
            .iter()
            .zip(ends)
            .map(|(slice, to)| Step {
                from: slice.at_ns as f64,
                to: to.max(slice.at_ns as f64 + narrowest),
                slice: *slice,
            })
            .collect()
    };
    pieces.iter().map(piece).collect()
}

fn caption(of: &Quantity, panels: &[Panel<'_>], spots_left_out: usize) -> String {
    let series = || panels.iter().map(|panel| panel.series);
    let samples: u64 = series().map(|series| series.of).sum();
    let few = series().filter(|series| has_few(series, panels.len()));
    let how = match few.count() {
        n if n == panels.len() => "one dot each.".to_owned(),
        _ => format!(
            "in about {} time slices per panel: the longest and the shortest of each slice are shown, so \
             extremes stay visible.",
            a_panel(panels.len())
        ),
    };
    let what = if samples == 1 { of.one } else { of.many };
    let mut text = format!("{} {what} of the measured part, {how}", grouped(samples));
    let stand_out: u64 = series().map(|series| series.stand_out_in_all).sum();
    if stand_out > 0 {
        let kept: usize = series().map(|series| series.longest.len()).sum();
        let shown = (kept - spots_left_out) as u64;
        let (all, drawn) = (grouped(stand_out), grouped(shown));
        text +=
            &format!(" Outliers are longer than p75 + 3 (p75 - p25): {drawn} of {all} are drawn.");
    }
    text
}
