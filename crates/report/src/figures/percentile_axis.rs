//! The percentile curve on a percentile axis: the tail takes as much room as the bulk. Made of whole
//! histograms; where too few samples lie beyond a percentile the curve says so.

use super::Figure;
use super::axes::{Axis, bounds, roomy};
use super::canvas::{Canvas, Key, Place};
use super::cells::joined;
use super::look::{DASHES, HEIGHT, Series};
use super::percentile_line::PercentileLine;
use super::selection::{self, Curve, Selection};
use crate::Subject;
use hdrhistogram::Histogram;
use wiregauge_quantity::grouped;

/// More curves cannot be distinguished.
const MOST_CURVES: usize = 8;

/// With fewer samples beyond it a percentile is drawn thin: its standard error is over a third of
/// the number beyond.
pub(crate) const FEW: f64 = 10.0;

/// The look and the values of a curve.
pub(super) type Counted<'a> = (Series, &'a Histogram<u64>);

/// Corners of a line.
type Corners = Vec<(f64, f64)>;

/// The looks and the values of these curves.
pub(super) fn counted<'a, S, L>(curves: &[Curve<'a, S, L>]) -> Vec<Counted<'a>> {
    let counted = curves.iter().map(|curve| (curve.look, curve.point.values));
    counted.collect()
}

/// The corners of a curve, as share and value, up to where fewer than `FEW` samples lie beyond, and from there on.
fn parts(values: &Histogram<u64>) -> (Corners, Corners) {
    let mut corners = PercentileLine::of(values).corners();
    let known = (values.len() as f64 / FEW).max(1.0).log10();
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

/// Draws curves of `name`, one value for each of the `things`, into a place. They end at the share of all samples but one, with a mark.
pub(super) fn panel(
    canvas: &Canvas,
    place: Place,
    title: &str,
    name: &str,
    things: &str,
    curves: &[Counted<'_>],
) {
    let most = curves.iter().map(|(_, values)| values.len()).max();
    let lows = curves.iter().map(|(_, values)| values.min() as f64);
    let highs = curves.iter().map(|(_, values)| values.max() as f64);
    let (low, high) = bounds(lows.chain(highs)).unwrap_or((1.0, 1.0));
    let y = if high > 4.0 * low.max(1.0) {
        Axis::log_time(name, low.max(1.0), high)
    } else {
        let (low, high) = roomy(low, high);
        Axis::time_between(name, low, high)
    };
    let title_of_x = format!("Percentile of the {things}");
    let x = Axis::percentiles(&title_of_x, most.unwrap_or(1));
    let frame = canvas.frame(place, title, x, y);
    for (series, values) in curves {
        let end = 1.0 - 1.0 / (values.len() as f64).max(2.0);
        let (thick, thin) = parts(values);
        frame.open("curve");
        if thick.last().is_some_and(|corner| corner.0 > 0.0) {
            frame.line(&thick, *series);
        }
        frame.line_of(&thin, *series, 0.8);
        frame.markers(&[(end, values.max() as f64)], *series);
        frame.close();
    }
}

/// What is said of every such figure.
pub(super) const CAPTION: &str = "Each curve ends with its longest sample. The thin part of the line: \
    fewer than 10 samples.";

/// RTTs; with a schedule also from the intended start.
pub(crate) fn draw(subjects: &[Subject]) -> Option<Figure> {
    let points = selection::rtts(subjects);
    let mut intended = points.iter().map(|point| &point.loaded.from_intended);
    let scheduled = intended.any(|values| !values.is_empty());
    // With a schedule each point has two curves.
    let a_point = if scheduled { 2 } else { 1 };
    let selection = Selection::of(points, MOST_CURVES, |runs| MOST_CURVES / a_point / runs)?;
    let (mut legend, mut curves, mut bad) = (Vec::new(), Vec::new(), 0);
    for curve in selection.curves(subjects, |_| true) {
        let (look, loaded) = (curve.look, curve.point.loaded);
        let what = if scheduled { "RTT" } else { "" };
        let name = |what: &str| joined([curve.name.clone(), what.to_owned()], ", ");
        legend.push(Key::Points(look).named(name(what)));
        curves.push((look, &loaded.rtt));
        if !loaded.from_intended.is_empty() {
            let look = Series {
                dash: (look.dash + 1) % DASHES.len(),
                hollow: !look.hollow,
                ..look
            };
            legend.push(Key::Points(look).named(name("from the intended start")));
            curves.push((look, &loaded.from_intended));
        }
        let counts = curve.point.summary.counts;
        bad += counts.exchanges.saturating_sub(counts.answered);
    }
    let canvas = Canvas::new(HEIGHT, &legend);
    panel(&canvas, canvas.place(), "", "RTT", "exchanges", &curves);
    let mut caption = CAPTION.to_owned();
    if bad > 0 {
        caption += &format!(
            " {} exchanges without a correct answer in time have no RTT and are not in the curves.",
            grouped(bad)
        );
    }
    if scheduled {
        caption += " From the intended start: includes the delay of late starts.";
    }
    caption += &selection.rule;
    Some(canvas.finish("rtt-percentiles", "RTT percentiles", &caption))
}

/// The service delays of the blocks of loops.
pub(crate) fn draw_services(subjects: &[Subject]) -> Option<Figure> {
    let mut points = selection::loops(subjects);
    points.retain(|point| !point.values.is_empty());
    let selection = Selection::of(points, MOST_CURVES, |runs| MOST_CURVES / runs)?;
    let curves = selection.curves(subjects, |_| true);
    let canvas = Canvas::new(HEIGHT, &selection::legend(&curves));
    let (place, counted) = (canvas.place(), counted(&curves));
    panel(&canvas, place, "", "Service delay", "blocks", &counted);
    let caption = format!(
        "Time from the last input sample of a block to the delivery of its output. {CAPTION}{}",
        selection.rule
    );
    Some(canvas.finish("service-percentiles", "Service delay percentiles", &caption))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_thin_where_fewer_than_ten_samples_lie_beyond() {
        let mut values = Histogram::new(3).expect("three digits");
        (1..=1000_u64).for_each(|value| values += value);
        let (thick, thin) = parts(&values);
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
        let (thick, thin) = parts(&values);
        assert!(thick.iter().all(|corner| corner.0 == 0.0), "{thick:?}");
        assert!(thin.len() > 8, "{thin:?}");
    }
}
