//! The percentile curve on a percentile axis: the tail takes as much room as the bulk. Made of whole
//! histograms; where too few samples lie beyond a percentile the curve says so.

use super::Figure;
use super::axes::{Axis, bounds};
use super::canvas::{Canvas, Entry, Key, Place};
use super::cells::{joined, label, shown};
use super::look::{HEIGHT, Series};
use super::percentile_line::PercentileLine;
use super::rtt;
use super::which::roomy;
use crate::Subject;
use hdrhistogram::Histogram;
use wiregauge_quantity::grouped;

/// More curves cannot be distinguished.
const MOST_CURVES: usize = 8;

/// With fewer samples beyond it a percentile is drawn thin: its standard error is over a third of
/// the number beyond.
pub(crate) const FEW: f64 = 10.0;

/// Values on a percentile axis.
pub(super) struct Curve<'a> {
    pub(super) name: String,
    pub(super) series: Series,
    pub(super) values: &'a Histogram<u64>,
}

impl Curve<'_> {
    /// In the legend.
    pub(super) fn entry(&self) -> Entry {
        Key::Points(self.series).named(&self.name)
    }

    fn n(&self) -> f64 {
        self.values.len() as f64
    }

    /// The corners of the curve, as share and value, up to where fewer than `FEW` samples lie beyond, and from there on.
    fn parts(&self) -> (Corners, Corners) {
        let mut corners = PercentileLine::of(self.values).corners();
        let known = (self.n() / FEW).max(1.0).log10();
        let split = corners.partition_point(|corner| corner.0 <= known);
        if let [.., before] = corners[..split]
            && let Some(&after) = corners.get(split)
        {
            let part = (known - before.0) / (after.0 - before.0);
            corners.insert(split, (known, before.1 + part * (after.1 - before.1)));
        }
        let share = |&(place, value): &(f64, f64)| (1.0 - 10_f64.powf(-place), value);
        let thick = &corners[..corners.len().min(split + 1)];
        (
            thick.iter().map(share).collect(),
            corners[split..].iter().map(share).collect(),
        )
    }
}

/// Of a line.
type Corners = Vec<(f64, f64)>;

/// Draws curves of `name`, one value for each of the `things`, into a place. They end at the share of all samples but one, with a mark.
pub(super) fn panel(
    canvas: &Canvas,
    place: Place,
    title: &str,
    name: &str,
    things: &str,
    curves: &[Curve<'_>],
) {
    let most = curves
        .iter()
        .map(|curve| curve.values.len())
        .max()
        .unwrap_or(1);
    let lows = curves.iter().map(|curve| curve.values.min() as f64);
    let highs = curves.iter().map(|curve| curve.values.max() as f64);
    let (low, high) = bounds(lows.chain(highs)).unwrap_or((1.0, 1.0));
    let y = if high > 4.0 * low.max(1.0) {
        Axis::log_time(name, low.max(1.0), high)
    } else {
        let (low, high) = roomy(low, high);
        Axis::time_between(name, low, high)
    };
    let x = Axis::percentiles(&format!("Percentile of the {things}"), most);
    canvas.open("panel");
    let frame = canvas.frame(place, title, x, y);
    for curve in curves {
        let end = 1.0 - 1.0 / curve.n().max(2.0);
        let longest = (end, curve.values.max() as f64);
        let (thick, thin) = curve.parts();
        frame.open("curve");
        if thick.last().is_some_and(|corner| corner.0 > 0.0) {
            frame.line(&thick, curve.series);
        }
        frame.line_of(&thin, curve.series, 0.8);
        frame.markers(&[longest], curve.series);
        frame.close();
    }
    canvas.close();
}

/// What is said of every such figure.
pub(super) const CAPTION: &str = "Each curve ends with its longest sample. The thin part of the line: \
    fewer than 10 samples.";

pub(crate) fn draw(subjects: &[Subject]) -> Vec<Figure> {
    let points = rtt::all(subjects);
    let mut runs = rtt::runs(&points);
    if points.is_empty() {
        return Vec::new();
    }
    let of = runs.len();
    runs.truncate(MOST_CURVES);
    let scheduled = points
        .iter()
        .any(|point| !point.loaded.from_intended.is_empty());
    // With a schedule each point has two curves.
    let a_point = if scheduled { 2 } else { 1 };
    let choice = rtt::choice(&points, (MOST_CURVES / a_point / runs.len()).max(1));
    let mut curves = Vec::new();
    let mut bad = 0;
    for (at_run, &run) in runs.iter().enumerate() {
        for (at_cell, cell) in choice.cells.iter().enumerate() {
            let Some(point) = rtt::at(&points, run, *cell).next() else {
                continue;
            };
            let name = joined([label(subjects, run, runs.len()), choice.name(cell)], ", ");
            let number = match runs.len() {
                1 => (at_cell, at_cell),
                _ => (at_run, at_cell),
            };
            let mut add = |what: &str, values, (colour, pattern)| {
                let is_said = scheduled || name.is_empty();
                let what = if is_said { what } else { "" };
                curves.push(Curve {
                    name: joined([name.clone(), what.to_owned()], ", "),
                    series: Series::with(colour, pattern),
                    values,
                });
            };
            let pattern = |n: usize| a_point * number.1 + n;
            add("RTT", &point.loaded.rtt, (number.0, pattern(0)));
            if !point.loaded.from_intended.is_empty() {
                let values = &point.loaded.from_intended;
                let is_only = runs.len() == 1 && choice.cells.len() == 1;
                let colour = if is_only { 1 } else { number.0 };
                add("from the intended start", values, (colour, pattern(1)));
            }
            let counts = point.summary.counts;
            bad += counts.exchanges.saturating_sub(counts.answered);
        }
    }
    let legend: Vec<Entry> = curves.iter().map(Curve::entry).collect();
    let canvas = Canvas::new(HEIGHT, &legend);
    panel(&canvas, canvas.place(), "", "RTT", "exchanges", &curves);
    let mut caption = CAPTION.to_owned();
    if bad > 0 {
        caption.push_str(&format!(
            " {} exchanges without a correct answer in time have no RTT and are not in the curves.",
            grouped(bad)
        ));
    }
    if scheduled {
        caption.push_str(
            " From the intended start: includes the delay of late starts, as a caller with a fixed schedule \
             sees it.",
        );
    }
    caption += &shown(runs.len(), of, "runs");
    caption.push_str(&choice.rule);
    vec![canvas.finish("rtt-percentiles", "RTT percentiles", &caption)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(values: &Histogram<u64>) -> Curve<'_> {
        Curve {
            name: String::new(),
            series: Series::of(0),
            values,
        }
    }

    #[test]
    fn a_curve_is_thin_where_fewer_than_ten_samples_lie_beyond() {
        let mut values = Histogram::new(3).expect("three digits");
        (1..=1000_u64).for_each(|value| values += value);
        let (thick, thin) = curve(&values).parts();
        let share = |corners: &Corners, at: usize| (corners[at].0 * 1000.0).round();
        assert_eq!(
            (share(&thick, 0), share(&thick, thick.len() - 1)),
            (0.0, 990.0)
        );
        assert_eq!(thick.last(), thin.first());
        assert_eq!(thin.last(), Some(&(1.0 - 1.0 / 1000.0, 1000.0)));
        // Of so few there is nothing else.
        let mut values = Histogram::new(3).expect("three digits");
        (1..=8_u64).for_each(|value| values += value);
        let (thick, thin) = curve(&values).parts();
        assert!(thick.iter().all(|corner| corner.0 == 0.0), "{thick:?}");
        assert!(thin.len() > 8, "{thin:?}");
    }
}
