//! How often which RTT or TRT occurs. Every exchange is in a bar, and even a single one is visible: the bars are high on
//! a logarithmic axis, and have equal widths on an axis of time that is logarithmic where the times differ much.

use super::Figure;
use super::axes::{Axis, number, roomy};
use super::bars::Bars;
use super::canvas::{Canvas, Entry, Frame, Key, LIMIT_ROW, Limit};
use super::look::{HEIGHT, Marker, SERIES, Series};
use super::selection::{self, OfExchange, Selection};
use crate::Subject;
use wiregauge_quantity::{exact_time, grouped, percent};
use wiregauge_stats::{Mode, Share};

const MOST_PANELS: usize = 6;
/// More outlines over each other cannot be distinguished.
const MOST_RUNS: usize = 4;
/// All outlines of a figure together have about so many bars; each has `FEWEST` to `MOST`.
const BARS: f64 = 400.0;
const FEWEST: f64 = 60.0;
const MOST: f64 = 120.0;
/// No bar is narrower, relative to its value: the samples have three digits.
const FINEST: f64 = 2e-3;
/// The axis is logarithmic if the longest is so many times the shortest.
const WIDE: f64 = 3.0;
/// A value of 0 has no place on a logarithmic axis: its bar is that many decades wide or wider, and two such widths left
/// of all others.
const ZERO: f64 = 0.02;

pub(crate) fn draw(subjects: &[Subject]) -> Option<Figure> {
    figure(subjects, selection::rtts(subjects), "RTT")
}

/// Of the time from the start of an exchange to the start of the next.
pub(crate) fn draw_turnarounds(subjects: &[Subject]) -> Option<Figure> {
    figure(subjects, selection::trts(subjects), "TRT")
}

fn figure(subjects: &[Subject], points: Vec<OfExchange<'_>>, name: &str) -> Option<Figure> {
    let is_rtt = name == "RTT";
    // A limit that counts from the intended start has no place among RTTs.
    let is_paced = |point: &OfExchange<'_>| !point.loaded.from_intended.is_empty();
    let has_limits = is_rtt && !points.iter().any(is_paced);
    let has_zero = points.iter().any(|point| point.values.min() == 0);
    let selection = Selection::of(points, MOST_RUNS, |_| MOST_PANELS)?;
    let runs = &selection.runs;
    let look = |at: usize| Series {
        dash: at,
        ..Series::of(at)
    };
    let of_run = |(at, run): (usize, &usize)| Key::Line(look(at)).named(&subjects[*run].label);
    let several = runs.iter().enumerate().filter(|_| runs.len() > 1);
    let legend: Vec<Entry> = several.map(of_run).collect();
    let panels = selection.cells.len();
    let (canvas, places) = Canvas::with_panels((panels, 2), (HEIGHT, 240), &legend);
    let most = (BARS / (panels * runs.len()) as f64).clamp(FEWEST, MOST);
    let has_modes = is_rtt && runs.len() == 1;
    // Runs of different lengths are compared by shares.
    let is_share = runs.len() > 1;
    let (mut unnamed, mut has_below, mut has_peaks) = (0, false, false);
    for (cell, place) in selection.cells.iter().zip(places) {
        let drawn = runs.iter().enumerate();
        let drawn = drawn.filter_map(|(at, run)| Some((look(at), selection.at(*run, cell)?)));
        let (looks, drawn): (Vec<Series>, Vec<&OfExchange<'_>>) = drawn.unzip();
        let Some(first) = drawn.first() else {
            continue;
        };
        let limits = if has_limits {
            &first.summary.below[..]
        } else {
            &[]
        };
        let range = Range::of(&drawn);
        let edges = range.edges(most);
        let x = range.axis(name, &edges);
        let bars = drawn.iter();
        let bars = bars.map(|point| Bars::of(point.values, edges.clone()));
        let bars: Vec<Bars> = bars.collect();
        // Room above the bars for the names of limits.
        let named = limits.iter().filter(|share| x.holds(share.limit as f64));
        let head = LIMIT_ROW * (named.count() as f64 + 1.0) / (place.height - 90.0);
        let head = head.min(0.6);
        let y = counts_axis(&drawn, &bars, is_share, head);
        let frame = canvas.frame(place, &selection.name(cell), x, y);
        has_below |= !limits.is_empty();
        unnamed += draw_limits(&frame, limits, &drawn);
        for ((look, point), bars) in looks.iter().zip(&drawn).zip(&bars) {
            let n = point.values.len().max(1) as f64;
            let one = if is_share { n } else { 1.0 };
            let height = |count: u64| (count as f64 / one).max(frame.lowest());
            let outlines = bars.outlines(height);
            frame.open("histogram");
            for outline in outlines.iter().filter(|_| drawn.len() == 1) {
                let area = outline.iter().map(|(x, y)| (*x, height(0), *y));
                frame.band(&area.collect::<Vec<_>>(), SERIES[3], 0.45);
            }
            for outline in &outlines {
                frame.line_of(outline, *look, 1.4);
            }
            frame.close();
            let modes = &point.summary.modes;
            if has_modes && modes.len() > 1 {
                has_peaks = true;
                let top = |mode: &Mode| {
                    let (middle, count) = bars.top(mode.peak);
                    (middle, height(count))
                };
                let tops: Vec<(f64, f64)> = modes.iter().map(top).collect();
                let mark = Series::mark(SERIES[4], Marker::Diamond, false);
                frame.open("modes");
                frame.markers(&tops, mark);
                frame.close();
            }
        }
    }
    let mut caption = match is_share {
        true => "Percentage of each run's exchanges in each bar".to_owned(),
        false => "Number of exchanges in each bar".to_owned(),
    };
    caption += "; even a single one is visible, and an empty bar is a gap.";
    if !is_rtt {
        caption += " TRT: from the start of an exchange to the start of the next.";
        if has_zero {
            caption += " The bar at 0: requests sent in one call, which start together.";
        }
    }
    if has_peaks {
        caption += " Diamonds: peaks.";
    }
    if has_below {
        caption += " Dashed: limits of --below, with the percentage of exchanges below.";
    }
    caption += &selection.rule;
    if unnamed > 0 {
        caption += " Names of limits are left out where there is no room.";
    }
    let file = format!("{}-histogram", name.to_lowercase());
    Some(canvas.finish(&file, &format!("{name} histogram"), &caption))
}

/// The values of a panel.
struct Range {
    /// The shortest that is not 0.
    low: f64,
    high: f64,
    has_zero: bool,
}

impl Range {
    fn of(points: &[&OfExchange<'_>]) -> Range {
        let all = || points.iter().flat_map(|point| point.values.iter_recorded());
        let values = || all().map(|step| step.value_iterated_to());
        Range {
            low: values().filter(|value| *value > 0).min().unwrap_or(1) as f64,
            high: values().max().unwrap_or(1).max(1) as f64,
            has_zero: values().any(|value| value == 0),
        }
    }

    fn is_log(&self) -> bool {
        self.has_zero || self.high > WIDE * self.low
    }

    /// The edges of about so many bars.
    fn edges(&self, most: f64) -> Vec<f64> {
        let (low, high) = (self.low, self.high);
        if !self.is_log() {
            let width = ((high - low) / most).max(high * FINEST).max(1.0).ceil();
            let first = (low / width).floor();
            let count = (high / width).floor() - first + 1.0;
            return (0..=count as u32)
                .map(|n| (first + f64::from(n)) * width)
                .collect();
        }
        let span = (high / low).log10();
        let width = (span / most).max((1.0 + FINEST).log10());
        let edge = |decades: f64| low * 10_f64.powf(decades);
        let bars = (0..=(span / width) as u32 + 1).map(|n| edge(f64::from(n) * width));
        let of_zero = width.max(ZERO);
        let zero = [edge(-3.0 * of_zero), edge(-2.0 * of_zero)];
        let zero = zero.into_iter().filter(|_| self.has_zero);
        zero.chain(bars).collect()
    }

    fn axis(&self, name: &str, edges: &[f64]) -> Axis {
        let (low, high) = (edges[0], edges[edges.len() - 1]);
        match (self.is_log(), self.has_zero) {
            (false, _) => {
                let (low, high) = roomy(low, high);
                Axis::time_between(name, low, high)
            }
            (true, false) => Axis::log_time(name, low, high),
            (true, true) => {
                Axis::log_time(name, low, high).with_zero(low.midpoint(edges[1]), edges[1])
            }
        }
    }
}

/// The axis of percentages or numbers; `head` is the part of it that stays free at its top.
fn counts_axis(points: &[&OfExchange<'_>], bars: &[Bars], is_share: bool, head: f64) -> Axis {
    let tallest = bars.iter().zip(points).map(|(bars, point)| {
        let of = match is_share {
            true => point.values.len().max(1),
            false => 1,
        };
        bars.counts.iter().copied().max().unwrap_or(0) as f64 / of as f64
    });
    let tallest = tallest.fold(0.0, f64::max);
    let top = |bottom: f64, tallest: f64| bottom * (tallest / bottom).powf(1.0 / (1.0 - head));
    if is_share {
        let most = points.iter().map(|point| point.values.len()).max();
        let bottom = 0.5 / most.unwrap_or(1).max(1) as f64;
        let top = top(bottom, tallest.max(4.0 * bottom));
        let label = |value: f64| number(value, value);
        return Axis::log("Exchanges (%, log)", bottom, top, 0.01, label);
    }
    let label = |value: f64| grouped(value as u64);
    let top = top(0.5, tallest.max(2.0));
    let mut axis = Axis::log("Exchanges (log)", 0.5, top, 1.0, label);
    let is_count = |at: f64| at >= 1.0 && (at - at.round()).abs() < 1e-9 * at;
    axis.ticks.retain(|tick| is_count(tick.at));
    axis
}

/// The limits of `--below` with the share below each; gives the number of those that have no room for their names.
fn draw_limits(frame: &Frame, limits: &[Share], points: &[&OfExchange<'_>]) -> usize {
    if limits.is_empty() {
        return 0;
    }
    let name = |(at, limit): (usize, &Share)| {
        let below = points.iter();
        let shares = below.filter_map(|point| point.summary.below.get(at));
        let shares: Vec<String> = shares.map(|share| percent(share.share)).collect();
        let text = format!("< {}: {}", exact_time(limit.limit), shares.join(" / "));
        Limit {
            at: limit.limit as f64,
            name: text,
        }
    };
    let limits = limits.iter().enumerate().map(name);
    frame.limits_x(&limits.collect::<Vec<_>>())
}
