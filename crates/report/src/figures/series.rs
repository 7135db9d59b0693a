//! A time over time, such as the RTT: the band from the shortest to the longest of each slice, their mean, every sample
//! that stands out and everything that went wrong. Drifts, bursts and periods show here and nowhere
//! else.

use super::Figure;
use super::axes::{Axis, bounds};
use super::canvas::{Canvas, Frame, Key};
use super::look::{HEIGHT, INK, Marker, SERIES, Series};
use super::rtt;
use super::which::{count, roomy, time};
use crate::Subject;
use crate::load::{Series as Thinned, Slice, Spot};

/// More panels would be too small.
pub(super) const MOST_PANELS: usize = 6;

/// Slices, outliers and bad ones that all panels together may show: what a page can hold and an eye
/// can tell apart.
const MOST_SLICES: usize = 780;
const MOST_SPOTS: usize = 200;
const MOST_BAD: usize = 200;

/// Above this ratio of longest to shortest a linear axis presses the usual RTTs flat.
const WIDE: f64 = 8.0;

/// Slices so many times further apart than usual have a silence between them.
const SILENCE: u64 = 4;

/// Runs that last up to so many times as long as each other share an axis of time.
const SAME_AXIS: f64 = 3.0;

/// Fewer slices than this are drawn large enough to be found.
const FEW: usize = 10;

/// Height of a row of marks at the top.
const MARK_ROW: f64 = 11.0;

const BAND: &str = SERIES[3];
const OUTLIER: &str = SERIES[4];

/// How what went wrong is marked.
fn bad_mark(status: &str) -> Series {
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
    Series {
        colour,
        dash: 0,
        marker,
        hollow,
    }
}

/// What is drawn.
pub(super) struct Quantity {
    /// Of the figure's file.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// The name of the values.
    pub(super) axis: &'static str,
    /// What has such a value.
    pub(super) one: &'static str,
    pub(super) many: &'static str,
}

const RTT: Quantity = Quantity {
    name: "rtt-series",
    title: "RTT over time",
    axis: "RTT",
    one: "exchange",
    many: "exchanges",
};

/// One point of one run.
pub(super) struct Panel<'a> {
    pub(super) title: String,
    /// The same point of several runs is in one row, with the same axes.
    pub(super) row: usize,
    pub(super) series: &'a Thinned,
    /// The first value, if it is not in the series.
    pub(super) first: Option<Spot>,
}

pub(crate) fn draw(subjects: &[Subject]) -> Vec<Figure> {
    let points = rtt::all(subjects);
    let mut runs = rtt::runs(&points);
    runs.truncate(MOST_PANELS);
    if points.is_empty() {
        return Vec::new();
    }
    let choice = rtt::choice(&points, MOST_PANELS / runs.len());
    // One row a point, one column a run; of a single run the points fill the rows.
    let mut panels = Vec::new();
    for (row, cell) in choice.cells.iter().enumerate() {
        for &run in &runs {
            let Some(point) = rtt::at(&points, run, *cell).next() else {
                continue;
            };
            let mut parts = vec![choice.name(cell)];
            if runs.len() > 1 {
                parts.insert(0, subjects[run].label.clone());
            }
            parts.retain(|part| !part.is_empty());
            panels.push(Panel {
                title: parts.join(": "),
                row,
                series: &point.loaded.series,
                first: point.loaded.first,
            });
        }
    }
    vec![figure(&RTT, &panels, runs.len(), &choice.rule)]
}

/// The panels row by row; `rule` ends the caption.
pub(super) fn figure(of: &Quantity, panels: &[Panel<'_>], runs: usize, rule: &str) -> Figure {
    let series = || panels.iter().map(|panel| panel.series);
    let statuses = statuses(series());
    let mut legend = vec![
        (Key::Line(mean_line()), "mean of a time slice".to_owned()),
        (Key::Area(BAND, 0.45), "shortest to longest".to_owned()),
    ];
    if series().any(|series| !series.longest.is_empty()) {
        legend.push((Key::Mark(outlier()), "outlier".to_owned()));
    }
    for (status, n) in &statuses {
        let name = format!("{status} ({})", count(*n));
        legend.push((Key::Mark(bad_mark(status)), name));
    }
    let rows = if panels.len() == 1 {
        1
    } else {
        panels.len().div_ceil(2)
    };
    let height = if rows == 1 { HEIGHT } else { 230 * rows as u32 };
    let columns = if runs == 3 { 3 } else { 2 };
    let canvas = Canvas::new(height, &legend);
    let mut spots_left_out = 0;
    // The part of a panel that the marks at its top take up.
    let inner = f64::from(height) / rows as f64 - 95.0;
    let head = MARK_ROW * statuses.len() as f64 / inner;
    for (at, one) in panels.iter().enumerate() {
        let place = canvas.panels(panels.len(), columns)[at];
        let series = one.series;
        // Runs are compared along a row: the same axis for all of it.
        let row: Vec<&Thinned> = match runs {
            1 => vec![series],
            _ => panels
                .iter()
                .filter(|other| other.row == one.row)
                .map(|other| other.series)
                .collect(),
        };
        let frame = canvas.frame(
            place,
            &one.title,
            elapsed_axis(series, &row),
            value_axis(of.axis, &row, head),
        );
        spots_left_out += panel(&frame, series, panels.len(), &statuses);
    }
    canvas.finish(
        of.name,
        of.title,
        &caption(of, panels, spots_left_out, rule),
    )
}

fn mean_line() -> Series {
    Series {
        dash: 0,
        ..Series::of(0)
    }
}

fn outlier() -> Series {
    Series {
        colour: OUTLIER,
        dash: 0,
        marker: Marker::Circle,
        hollow: false,
    }
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
    if high > WIDE * low.max(1.0) {
        let low = low.max(1.0);
        Axis::log_time(name, low, low * (high / low).powf(1.0 / (1.0 - head)))
    } else {
        let (low, high) = roomy(low, high);
        Axis::time_between(name, low, low + (high - low) / (1.0 - head))
    }
}

/// Slices that a panel has room for.
fn a_panel(panels: usize) -> usize {
    match panels {
        1 => 300,
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
    let slices = joined(&series.slices, a_panel(panels));
    let pieces = pieces(&slices);
    let single: Vec<&Slice> = pieces
        .iter()
        .filter_map(|piece| match piece {
            [only] => Some(only),
            _ => None,
        })
        .collect();
    frame.open("band");
    for piece in &pieces {
        let edge = |slice: &Slice| (slice.at_ns as f64, slice.min_ns as f64, slice.max_ns as f64);
        let edges: Vec<_> = piece.iter().map(edge).collect();
        frame.band(&edges, BAND, 0.45);
    }
    let half = frame.x_step(0.8);
    for slice in &single {
        let (at, low, high) = (slice.at_ns as f64, slice.min_ns as f64, slice.max_ns as f64);
        frame.bar((at - half, at + half), (low, high), BAND, 0.45);
    }
    frame.close();
    frame.open("mean");
    for piece in &pieces {
        let mean: Vec<_> = piece.iter().map(|s| (s.at_ns as f64, s.mean_ns)).collect();
        frame.line_of(&mean, mean_line(), 1.4);
    }
    let alone = single.iter().map(|s| (s.at_ns as f64, s.mean_ns));
    let radius = if slices.len() < FEW { 3.0 } else { 1.4 };
    frame.dots(&alone.collect::<Vec<_>>(), mean_line().colour, radius);
    frame.close();

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

/// The slices between silences: no line leads through a time in which no exchange that was answered
/// was under way.
fn pieces(slices: &[Slice]) -> Vec<&[Slice]> {
    let apart = |pair: &[Slice]| pair[1].at_ns - pair[0].at_ns;
    let mut distances: Vec<u64> = slices.windows(2).map(apart).collect();
    distances.sort_unstable();
    let usual = distances.get(distances.len() / 2).copied().unwrap_or(0);
    slices
        .chunk_by(|a, b| {
            let quiet = SILENCE
                .saturating_mul(usual)
                .max(a.max_ns.saturating_mul(2));
            b.at_ns - a.at_ns <= quiet
        })
        .collect()
}

/// The slices, neighbours made one so that there are at most `most`. Loses no extreme.
fn joined(slices: &[Slice], most: usize) -> Vec<Slice> {
    let times = slices.len().div_ceil(most.max(1)).max(1);
    let join = |some: &[Slice]| {
        let n: u64 = some.iter().map(|slice| slice.n).sum();
        let sum: f64 = some
            .iter()
            .map(|slice| slice.mean_ns * slice.n as f64)
            .sum();
        let first = some.first()?;
        Some(Slice {
            at_ns: first.at_ns,
            n,
            min_ns: some.iter().map(|slice| slice.min_ns).min()?,
            mean_ns: sum / n as f64,
            max_ns: some.iter().map(|slice| slice.max_ns).max()?,
        })
    };
    slices.chunks(times).filter_map(join).collect()
}

fn caption(of: &Quantity, panels: &[Panel<'_>], spots_left_out: usize, rule: &str) -> String {
    let series = || panels.iter().map(|panel| panel.series);
    let a_panel = a_panel(panels.len());
    let samples: u64 = series().map(|series| series.of).sum();
    let mut text = format!(
        "{} of the measured part, in at most {a_panel} time slices per panel: the longest and the shortest of \
         each slice are shown, so extremes stay visible.",
        match samples {
            1 => format!("One {}", of.one),
            n => format!("{} {}", count(n), of.many),
        },
    );
    let stand_out: u64 = series().map(|series| series.stand_out_in_all).sum();
    if stand_out > 0 {
        let kept: usize = series().map(|series| series.longest.len()).sum();
        let shown = (kept - spots_left_out) as u64;
        let which = match shown < stand_out {
            true => format!(
                "{} outliers, one dot for each of the {} longest",
                count(stand_out),
                count(shown)
            ),
            false => format!("{} outliers, one dot each", count(stand_out)),
        };
        text.push_str(&format!(
            " Outliers are longer than p75 + 3 (p75 - p25): {which}."
        ));
    }
    if series().any(|series| !series.bad.is_empty()) {
        text.push_str(" Rows at the top: errors, at the start time of the exchange.");
    }
    if let [one] = panels
        && let Some(first) = one.first
    {
        let (what, first) = (of.one, time(first.value_ns as f64));
        text.push_str(&format!(" Not shown: the first {what}, {first}."));
    }
    text.push_str(rule);
    text
}
