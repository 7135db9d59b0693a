//! The percentile curve on a percentile axis: the tail takes as much room as the bulk. Made of whole
//! histograms; where too few samples lie beyond a percentile the curve says so.

use super::Figure;
use super::axes::{Axis, bounds};
use super::canvas::{Canvas, Entry, Key, Place};
use super::look::{HEIGHT, Series};
use super::point_key;
use super::rtt;
use super::which::{count, roomy};
use crate::Subject;
use hdrhistogram::Histogram;

/// More curves cannot be distinguished.
const MOST_CURVES: usize = 8;

/// With fewer samples beyond it a percentile is drawn thin: its standard error is over a third of
/// the number beyond.
pub(crate) const FEW: f64 = 10.0;

/// Points of a curve for each nine: finer than can be seen.
const A_NINE: f64 = 32.0;

/// Values on a percentile axis.
pub(super) struct Curve<'a> {
    pub(super) name: String,
    /// Of its point.
    pub(super) key: String,
    pub(super) series: Series,
    pub(super) values: &'a Histogram<u64>,
}

impl Curve<'_> {
    /// In the legend.
    pub(super) fn entry(&self) -> Entry {
        Entry {
            key: Key::Points(self.series),
            name: self.name.clone(),
            points: self.key.clone(),
        }
    }

    fn n(&self) -> f64 {
        self.values.len() as f64
    }

    /// From one share of the samples to another.
    fn part(&self, from: f64, to: f64) -> Vec<(f64, f64)> {
        let decades = |share: f64| -(1.0 - share).max(1e-15).log10();
        let (first, last) = (decades(from), decades(to));
        let steps = ((last - first) * A_NINE).ceil().max(1.0);
        let at = |step: u32| {
            let decades = first + (last - first) * f64::from(step) / steps;
            let share = 1.0 - 10_f64.powf(-decades);
            // A hair below: a rank that is a whole number must not be rounded up to the next.
            let value = self.values.value_at_quantile((share - 1e-12).max(1e-15));
            (share, value as f64)
        };
        let mut line: Vec<(f64, f64)> = (0..=steps as u32).map(at).collect();
        // Only the ends of a flat stretch are needed.
        let flat: Vec<bool> = (0..line.len())
            .map(|i| {
                i > 0
                    && i + 1 < line.len()
                    && line[i - 1].1 == line[i].1
                    && line[i].1 == line[i + 1].1
            })
            .collect();
        let mut at = 0;
        line.retain(|_| {
            at += 1;
            !flat[at - 1]
        });
        line
    }
}

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
        let n = curve.n();
        let known = (1.0 - FEW / n).max(0.0);
        let end = 1.0 - 1.0 / n.max(2.0);
        frame.open_point("curve", &curve.key);
        if known > 0.0 {
            frame.line(&curve.part(0.0, known), curve.series);
        }
        let longest = (end, curve.values.max() as f64);
        let mut thin = curve.part(known, end);
        thin.push(longest);
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
    let choice = rtt::choice(&points, (MOST_CURVES / runs.len()).max(1));
    let scheduled = points
        .iter()
        .any(|point| !point.loaded.from_intended.is_empty());
    // With a schedule each point has two curves.
    let choice = match scheduled {
        true => rtt::choice(&points, (MOST_CURVES / 2 / runs.len()).max(1)),
        false => choice,
    };
    let mut curves = Vec::new();
    let mut bad = 0;
    for (at_run, &run) in runs.iter().enumerate() {
        for (at_cell, cell) in choice.cells.iter().enumerate() {
            let Some(point) = rtt::at(&points, run, *cell).next() else {
                continue;
            };
            let mut name = Vec::new();
            if runs.len() > 1 {
                name.push(subjects[run].label.clone());
            }
            name.push(choice.name(cell));
            name.retain(|part| !part.is_empty());
            let number = match runs.len() {
                1 => (at_cell, at_cell),
                _ => (at_run, at_cell),
            };
            let mut add = |what: &str, values, (colour, pattern)| {
                let mut name = name.clone();
                if scheduled || name.is_empty() {
                    name.push(what.to_owned());
                }
                let name = name.join(", ");
                let series = Series::with(colour, pattern);
                curves.push(Curve {
                    name,
                    key: point_key::exchange(point.summary.point),
                    series,
                    values,
                });
            };
            let pattern = |n: usize| {
                if scheduled {
                    2 * number.1 + n
                } else {
                    number.1
                }
            };
            add("RTT", &point.loaded.rtt, (number.0, pattern(0)));
            if !point.loaded.from_intended.is_empty() {
                let values = &point.loaded.from_intended;
                let colour = if runs.len() == 1 && choice.cells.len() == 1 {
                    1
                } else {
                    number.0
                };
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
            count(bad)
        ));
    }
    if scheduled {
        caption.push_str(
            " From the intended start: includes the delay of late starts, as a caller with a fixed schedule \
             sees it.",
        );
    }
    if runs.len() < of {
        caption.push_str(&format!(
            " Only the first {} of {of} runs are shown.",
            runs.len()
        ));
    }
    caption.push_str(&choice.rule);
    vec![canvas.finish("rtt-percentiles", "RTT percentiles", &caption)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(values: &Histogram<u64>) -> Curve<'_> {
        Curve {
            name: String::new(),
            key: String::new(),
            series: Series::of(0),
            values,
        }
    }

    #[test]
    fn a_curve_climbs_from_the_shortest_to_the_last_but_one() {
        let mut values = Histogram::new(3).expect("three digits");
        (1..=1000_u64).for_each(|value| values += value);
        let line = curve(&values).part(0.0, 1.0 - 1.0 / 1000.0);
        assert_eq!(line.first(), Some(&(0.0, 1.0)));
        assert_eq!(line.last().map(|at| at.1), Some(999.0));
        assert!(
            line.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1),
            "{line:?}"
        );
        let median = line.iter().find(|at| at.0 >= 0.5).map(|at| at.1);
        assert!(
            median.is_some_and(|ns| (500.0..530.0).contains(&ns)),
            "{median:?}"
        );
    }

    #[test]
    fn a_flat_curve_needs_few_points_and_one_sample_is_a_curve() {
        let mut values = Histogram::new(3).expect("three digits");
        values += 7;
        assert_eq!(curve(&values).part(0.0, 0.5).len(), 2);
        values.record_n(7, 999_999).expect("it is in range");
        assert_eq!(curve(&values).part(0.0, 0.999_999).len(), 2);
    }
}
