//! How often which RTT occurs. Twice: as it is read in print, on linear axes that hold the bulk, and
//! on logarithmic ones that hold every single exchange.

use super::Figure;
use super::axes::{Axis, number};
use super::bars::Bars;
use super::canvas::{Canvas, Entry, Frame, Key, LIMIT_ROW, Limit};
use super::cells::{joined, label, shown};
use super::look::{HEIGHT, Marker, SERIES, SMALL, Series, text_width};
use super::point_key;
use super::rtt::{self, Sampled};
use super::svg::Anchor;
use super::which::{Choice, roomy};
use crate::Subject;
use hdrhistogram::Histogram;
use wiregauge_quantity::{exact_time, grouped, percent, time};
use wiregauge_stats::{Mode, Share};

const MOST_PANELS: usize = 6;
/// More outlines over each other cannot be distinguished.
const MOST_RUNS: usize = 4;
/// Bars of the linear histogram.
const BARS: f64 = 60.0;
/// All outlines of a figure together may have so many.
const MOST_BARS: f64 = 1500.0;
/// Bars a decade of the logarithmic one.
const A_DECADE: f64 = 24.0;
/// The linear one ends at this percentile, or where `SPREAD` interquartile ranges are passed: a tail
/// would leave the bulk a single bar.
const BULK: f64 = 0.995;
const SPREAD: f64 = 6.0;

/// It goes on to a limit of `--below` up to so many times further.
const LIMIT_REACH: f64 = 2.0;

/// A value of 0 has no place on a logarithmic axis: its bar is so many bars left of all others.
const ZERO_APART: f64 = 4.0;

/// One of the two.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Linear,
    Log,
}

/// What is counted.
#[derive(Clone, Copy, PartialEq)]
enum Quantity {
    Rtt,
    /// The response time from the intended start, which the limits of a scheduled run are about.
    FromIntended,
    Trt,
}

impl Quantity {
    fn name(self) -> &'static str {
        match self {
            Quantity::Rtt => "RTT",
            Quantity::FromIntended => "Response time from the intended start",
            Quantity::Trt => "TRT",
        }
    }
}

pub(crate) fn draw(subjects: &[Subject]) -> Vec<Figure> {
    let points = rtt::all(subjects);
    if points.is_empty() {
        return Vec::new();
    }
    let choice = rtt::choice(&points, MOST_PANELS);
    let from_intended: Vec<Sampled<'_>> = points.iter().map(from_intended).collect();
    let linear = match has_limits_from_intended(&points) {
        true => (&from_intended, Quantity::FromIntended),
        false => (&points, Quantity::Rtt),
    };
    vec![
        figure(subjects, linear.0, &choice, Kind::Linear, linear.1),
        figure(subjects, &points, &choice, Kind::Log, Quantity::Rtt),
    ]
}

/// True if limits of `--below` count from the intended start, at some point.
fn has_limits_from_intended(points: &[Sampled<'_>]) -> bool {
    let mut limited = points
        .iter()
        .filter(|point| !point.summary.below.is_empty());
    limited.any(|point| !point.loaded.from_intended.is_empty())
}

/// The point with its times from the intended start; as it is where they are its RTTs.
fn from_intended<'a>(point: &Sampled<'a>) -> Sampled<'a> {
    let values = &point.loaded.from_intended;
    match values.is_empty() {
        true => *point,
        false => Sampled { values, ..*point },
    }
}

/// For the TRT only the histogram with logarithmic axes, in which every single exchange is visible.
pub(crate) fn draw_turnarounds(subjects: &[Subject]) -> Vec<Figure> {
    let points = rtt::turnarounds(subjects);
    if points.is_empty() {
        return Vec::new();
    }
    let choice = rtt::choice(&points, MOST_PANELS);
    vec![figure(subjects, &points, &choice, Kind::Log, Quantity::Trt)]
}

/// `most`: bars that a linear axis may have.
fn edges(points: &[&Sampled<'_>], kind: Kind, most: f64) -> Vec<f64> {
    let all = || points.iter().map(|point| point.values);
    let low = all().map(|rtt| rtt.min()).min().unwrap_or(0) as f64;
    match kind {
        Kind::Linear => {
            let end = |rtt: &Histogram<u64>| {
                let at = |share| rtt.value_at_quantile(share) as f64;
                let far = at(0.5) + SPREAD * (at(0.75) - at(0.25)).max(at(0.5) * 0.01);
                at(BULK).min(far).max(at(0.9)).min(rtt.max() as f64)
            };
            let bulk = all().map(end).fold(low, f64::max);
            // A limit not far beyond is still seen.
            let limits = points[0]
                .summary
                .below
                .iter()
                .map(|share| share.limit as f64);
            let near = limits.filter(|limit| *limit < low + LIMIT_REACH * (bulk - low));
            let high = near.map(|limit| limit * 1.02).fold(bulk, f64::max);
            // Of several runs the narrowest is still a histogram, but none is finer than what is
            // distinguished or can be drawn.
            let narrowest = all().map(|rtt| end(rtt) - rtt.min() as f64);
            let narrowest = narrowest.fold(high - low, f64::min) / BARS;
            let width = narrowest.max((high - low) / most).max(high * 2e-3).max(1.0);
            let width = width.ceil();
            let first = (low / width).floor();
            let bars = ((high / width).floor() - first + 1.0).clamp(1.0, 2.0 * most);
            (0..=bars as u32)
                .map(|n| (first + f64::from(n)) * width)
                .collect()
        }
        Kind::Log => {
            let high = all().map(|rtt| rtt.max()).max().unwrap_or(1) as f64;
            let place = |value: f64| (value.max(1.0).log10() * A_DECADE).floor();
            let positive = all().filter_map(shortest_positive).min();
            let (first, last) = (place(positive.unwrap_or(1) as f64), place(high));
            let edge = |n: f64| 10_f64.powf((first + n) / A_DECADE);
            let bars = (0..=(last - first) as u32 + 1).map(|n| edge(n.into()));
            // A bar of its own, apart from the others.
            let zero = (low == 0.0).then_some([edge(-ZERO_APART - 1.0), edge(-ZERO_APART)]);
            zero.into_iter().flatten().chain(bars).collect()
        }
    }
}

fn shortest_positive(values: &Histogram<u64>) -> Option<u64> {
    let mut recorded = values.iter_recorded().map(|step| step.value_iterated_to());
    recorded.find(|value| *value > 0)
}

fn figure(
    subjects: &[Subject],
    points: &[Sampled<'_>],
    choice: &Choice,
    kind: Kind,
    of_what: Quantity,
) -> Figure {
    let mut runs = rtt::runs(points);
    let of = runs.len();
    runs.truncate(MOST_RUNS);
    let series = |at: usize| Series {
        dash: at,
        ..Series::of(at)
    };
    let of_run = |(at, run): (usize, &usize)| Key::Line(series(at)).named(&subjects[*run].label);
    let several = runs.iter().enumerate().filter(|_| runs.len() > 1);
    let legend: Vec<Entry> = several.map(of_run).collect();
    let panels = choice.cells.len();
    let (canvas, places) = Canvas::with_panels((panels, 2), (HEIGHT, 240), &legend);
    let mut notes = Vec::new();
    // A limit that counts from the intended start has no place among RTTs.
    let has_limits = match of_what {
        Quantity::Rtt => !has_limits_from_intended(points),
        Quantity::FromIntended => true,
        Quantity::Trt => false,
    };
    // The peaks are those of the RTTs.
    let marks_modes = of_what == Quantity::Rtt && runs.len() == 1;
    // Runs of different lengths are compared by shares.
    let is_share = kind == Kind::Linear || runs.len() > 1;
    for (cell, place) in choice.cells.iter().zip(places) {
        let drawn: Vec<(usize, &Sampled<'_>)> = runs
            .iter()
            .enumerate()
            .filter_map(|(at, run)| Some((at, rtt::at(points, *run, *cell).next()?)))
            .collect();
        let of_them: Vec<&Sampled<'_>> = drawn.iter().map(|(_, point)| *point).collect();
        if of_them.is_empty() {
            continue;
        }
        let most = (MOST_BARS / (panels * of_them.len()) as f64).clamp(BARS, 4.0 * BARS);
        let edges = edges(&of_them, kind, most);
        let bars: Vec<Bars> = of_them
            .iter()
            .map(|point| Bars::of(point.values, edges.clone()))
            .collect();
        let title = choice.name(cell);
        let key = point_key::exchange(of_them[0].summary.point);
        canvas.open_point("panel", &key);
        let frame = axes(
            &canvas,
            place,
            &title,
            &of_them,
            &bars,
            (kind, of_what),
            (is_share, has_limits),
        );
        if has_limits {
            limits(&frame, &of_them);
        }
        for (((at, point), bars), only) in drawn
            .iter()
            .zip(&bars)
            .zip([drawn.len() == 1].iter().cycle())
        {
            let n = point.values.len().max(1) as f64;
            let height = |count: u64| match (kind, is_share) {
                (Kind::Linear, _) => count as f64 / n,
                (Kind::Log, true) => (count as f64 / n).max(frame.lowest()),
                (Kind::Log, false) => (count as f64).max(0.5),
            };
            let outlines = bars.outlines(height);
            frame.open("histogram");
            if *only {
                let floor = height(0);
                for outline in &outlines {
                    let area: Vec<_> = outline.iter().map(|(x, y)| (*x, floor, *y)).collect();
                    frame.band(&area, SERIES[3], 0.45);
                }
            }
            for outline in &outlines {
                frame.line_of(outline, series(*at), 1.4);
            }
            frame.close();
            if marks_modes {
                mark_modes(&frame, point, bars, height);
            }
            if bars.beyond > 0 {
                let run = label(subjects, point.subject, runs.len());
                let name = joined([title.clone(), run], ", ");
                let share = percent(bars.beyond as f64 / n);
                let max = time(point.values.max() as f64);
                notes.push(joined([name, format!("{share}, up to {max}")], ": "));
            }
        }
        canvas.close();
    }
    let (name, title) = match (of_what, kind) {
        (Quantity::Rtt, Kind::Linear) => ("rtt-histogram", "RTT histogram"),
        (Quantity::FromIntended, _) => ("rtt-histogram", "Histogram of response times"),
        (Quantity::Rtt, Kind::Log) => ("rtt-histogram-log", "RTT histogram, logarithmic axes"),
        (Quantity::Trt, _) => ("trt-histogram", "TRT histogram, logarithmic axes"),
    };
    let what = (kind, of_what, has_limits, marks_modes);
    let caption = caption(points, choice, what, &notes, (runs.len(), of));
    canvas.finish(name, title, &caption)
}

fn axes(
    canvas: &Canvas,
    place: super::canvas::Place,
    title: &str,
    points: &[&Sampled<'_>],
    bars: &[Bars],
    (kind, quantity): (Kind, Quantity),
    (is_share, has_limits): (bool, bool),
) -> Frame {
    let edges = &bars[0].edges;
    let (low, high) = (edges[0], edges[edges.len() - 1]);
    let tallest = |share: bool| {
        let all = bars.iter().zip(points).map(|(bars, point)| {
            let of = if share { point.values.len().max(1) } else { 1 };
            bars.counts.iter().copied().max().unwrap_or(0) as f64 / of as f64
        });
        all.fold(0.0, f64::max)
    };
    let name = quantity.name();
    let x = match kind {
        Kind::Linear => Axis::time_between(name, roomy(low, high).0, roomy(low, high).1),
        Kind::Log if points.iter().any(|point| point.values.min() == 0) => {
            Axis::log_time(name, low, high).with_zero(low.midpoint(edges[1]), edges[1])
        }
        Kind::Log => Axis::log_time(name, low, high),
    };
    // Room above the bars for the names of limits and the shares of peaks.
    let limits = points[0].summary.below.iter().filter(|_| has_limits);
    let named = limits.filter(|share| x.holds(share.limit as f64)).count();
    let head = (LIMIT_ROW * (named as f64 + 1.0) / (place.height - 90.0)).min(0.6);
    let y = match (kind, is_share) {
        (Kind::Linear, _) => Axis::percent("Exchanges", 0.0, tallest(true) / (1.0 - head)),
        (Kind::Log, true) => {
            let most = points.iter().map(|point| point.values.len()).max();
            let bottom = 0.5 / most.unwrap_or(1).max(1) as f64;
            let tallest = tallest(true).max(4.0 * bottom);
            let top = bottom * (tallest / bottom).powf(1.0 / (1.0 - head));
            let label = |value: f64| number(value, value);
            Axis::log("Exchanges (%, log)", bottom, top, 0.01, label)
        }
        (Kind::Log, false) => {
            let label = |value: f64| grouped(value as u64);
            let top = 0.5 * (tallest(false).max(2.0) / 0.5).powf(1.0 / (1.0 - head));
            let mut y = Axis::log("Exchanges (log)", 0.5, top, 1.0, label);
            let is_count = |at: f64| at >= 1.0 && (at - at.round()).abs() < 1e-9 * at;
            y.ticks.retain(|tick| is_count(tick.at));
            y
        }
    };
    canvas.frame(place, title, x, y)
}

/// The peaks that were found in all samples, each with its share where there is room.
fn mark_modes(frame: &Frame, point: &Sampled<'_>, bars: &Bars, height: impl Fn(u64) -> f64) {
    let modes = &point.summary.modes;
    if modes.len() < 2 {
        return;
    }
    let mark = Series::mark(SERIES[4], Marker::Diamond, false);
    frame.open("modes");
    let mut largest_first: Vec<_> = modes.iter().collect();
    largest_first.sort_by(|a, b| b.share.total_cmp(&a.share));
    let all = point.values.len().max(1) as f64;
    let marked: Vec<_> = largest_first
        .into_iter()
        .map(|mode| (mode, bars.top(mode.peak)))
        .map(|(mode, (middle, n))| (mode, (middle, height(n)), n as f64 / all))
        .filter(|(mode, at, _)| frame.holds((mode.peak, at.1)))
        .collect();
    let places: Vec<(f64, f64)> = marked.iter().map(|(_, at, _)| *at).collect();
    frame.markers(&places, mark);
    let px = |at: &(f64, f64)| (frame.x_px(at.0), frame.y_px(at.1));
    // Each with its place, how far it is moved to stay in the frame, and its text.
    let mut labels: Vec<((f64, f64), f64, String)> = Vec::new();
    // A bar that is wider than its peak holds more: the smaller percentage above it would contradict the axis.
    let narrower = |(mode, _, of_bar): &&(&Mode, (f64, f64), f64)| mode.share >= *of_bar - 0.005;
    for (mode, at, _) in marked.iter().filter(narrower) {
        let text = percent(mode.share);
        let width = text_width(&text, SMALL);
        let (top, y) = px(at);
        let x = frame.inside(top, width);
        // Over no other label and over no other mark.
        let clear_of_label = |other: &(f64, f64), moved: f64| {
            let other = px(other);
            (other.0 + moved - x).abs() > 40.0 || (other.1 - y).abs() > LIMIT_ROW
        };
        let clear_of_mark = |other: &(f64, f64)| {
            let other = px(other);
            (other.0 - x).abs() > 22.0 || !(y - 26.0..y - 3.0).contains(&other.1)
        };
        let clear_of_bar = |(from, to, n): (f64, f64, u64)| {
            let beside = frame.x_px(to) < x - width / 2.0 || frame.x_px(from) > x + width / 2.0;
            beside || frame.y_px(height(n)) > y - 7.0
        };
        let is_clear = labels
            .iter()
            .all(|(other, moved, _)| clear_of_label(other, *moved))
            && places.iter().all(clear_of_mark)
            && bars.all().all(clear_of_bar);
        if is_clear {
            labels.push((*at, x - top, text));
        }
    }
    for (at, moved, text) in labels {
        frame.label(at, (moved, -9.0), Anchor::Middle, &text);
    }
    frame.close();
}

/// The limits of `--below` with the share below each.
fn limits(frame: &Frame, points: &[&Sampled<'_>]) {
    let name = |(at, limit): (usize, &Share)| {
        let shares = points
            .iter()
            .filter_map(|point| point.summary.below.get(at));
        let shares: Vec<String> = shares.map(|share| percent(share.share)).collect();
        let shares = shares.join(" / ");
        let text = format!("< {}: {shares}", exact_time(limit.limit));
        Limit::new(limit.limit as f64, text)
    };
    let limits = points[0].summary.below.iter().enumerate();
    frame.limits_x(&limits.map(name).collect::<Vec<_>>());
}

fn caption(
    points: &[Sampled<'_>],
    choice: &Choice,
    (kind, of_what, has_limits, marks_modes): (Kind, Quantity, bool, bool),
    notes: &[String],
    (runs, of): (usize, usize),
) -> String {
    let mut text = String::from(match kind {
        Kind::Linear => {
            "Percentage of the exchanges in each bar; the axis shows at least 90 % of each point."
        }
        Kind::Log if runs > 1 => {
            "Percentage of each run's exchanges in each bar; even a single one is visible, and an empty bar is a gap."
        }
        Kind::Log => {
            "Number of exchanges in each bar; even a single one is visible, and an empty bar is a gap."
        }
    });
    if of_what == Quantity::Trt {
        text.push_str(" TRT: from the start of an exchange to the start of the next.");
        if points.iter().any(|point| point.values.min() == 0) {
            text.push_str(" The bar at 0: requests sent in one call, which start together.");
        }
    }
    if kind == Kind::Linear && !notes.is_empty() {
        let few = notes.iter().take(6).cloned().collect::<Vec<_>>().join("; ");
        text.push_str(&format!(" Longer: {few}."));
    }
    if marks_modes && points.iter().any(|point| point.summary.modes.len() > 1) {
        text.push_str(
            " Diamonds: peaks, with their percentage of the exchanges where there is room and the bar is no wider than \
             its peak.",
        );
    }
    if of_what == Quantity::FromIntended {
        text.push_str(
            " From the intended start: includes the delay of late starts, as the limits of a run with a schedule \
             do.",
        );
    }
    if has_limits && points.iter().any(|point| !point.summary.below.is_empty()) {
        text.push_str(
            " Dashed: limits of --below and the percentage of all exchanges below; one without a correct answer \
             is not below. A limit beyond the axis is not shown.",
        );
    }
    text += &shown(runs, of, "runs");
    text.push_str(&choice.rule);
    text
}
