//! How often a loop would have stalled, against its latency: counted in one run, with the bound up to
//! which that run vouches for it, and the floor of the host.

use super::Figure;
use super::axes::{Axis, bounds, number};
use super::canvas::{Canvas, Frame, Limit};
use super::cells::{joined, spread};
use super::look::HEIGHT;
use super::selection::{self, Curve, Selection};
use crate::Subject;
use crate::load::LoopPoint;
use wiregauge_quantity::time;
use wiregauge_record::{Aim, LoopSummary, StallRate};

/// More curves cannot be distinguished.
const MOST_CURVES: usize = 6;

/// Rungs of a curve that are drawn; neighbours are 4.4 % apart, so this is three decades.
const MOST_RUNGS: usize = 160;

/// A curve has at most so many markers.
const MARKERS: usize = 6;

type LoopCurve<'a> = Curve<'a, LoopSummary, LoopPoint>;

pub(crate) fn draw(subjects: &[Subject]) -> Option<Figure> {
    let mut points = selection::loops(subjects);
    points.retain(|point| {
        let summary = point.summary;
        summary.point.aim == Aim::Curve && !rungs(summary).is_empty()
    });
    let selection = Selection::of(points, MOST_CURVES, |runs| MOST_CURVES / runs)?;
    let curves = selection.curves(subjects, |_| true);
    let floors: Vec<Limit> = curves.iter().filter_map(floor).collect();
    let rungs = || curves.iter().flat_map(|curve| rungs(curve.point.summary));
    let latencies = rungs().map(|rung| rung.latency_ns);
    let latencies = latencies.chain(floors.iter().map(|floor| floor.at));
    let (first, last) = bounds(latencies).unwrap_or((1.0, 1.0));
    // What goes on behind the last stall needs room to be seen.
    let x = Axis::log_time("Latency", first, last * 1.15);
    let rates = rungs().flat_map(|rung| [rung.per_minute, rung.per_minute_high]);
    let (low, high) = bounds(rates.filter(|rate| *rate > 0.0)).unwrap_or((1.0, 1.0));
    let label = |value: f64| number(value, value);
    let y = Axis::log("Stalls per minute (log)", low, high, 1.0, label);
    let end = x.range().1;
    let canvas = Canvas::new(HEIGHT, &selection::legend(&curves));
    let frame = canvas.frame(canvas.place(), "", x, y);
    curves.iter().for_each(|curve| line(&frame, curve, end));
    frame.limits_x(&floors);
    let caption = format!(
        "How often the loop would have stalled with this latency, counted in one run with rings large enough \
         for every delay; a stall is a sequence of consecutive late blocks. Thin: the upper 95 % confidence \
         bound, which stays level where no stall was observed. The floor: one block plus the longest host \
         delay of the same run.{}",
        selection.rule
    );
    Some(canvas.finish("stalls-latency", "Stalls against latency", &caption))
}

/// The floor of a curve, if it is known.
fn floor(curve: &LoopCurve<'_>) -> Option<Limit> {
    let known = curve.point.summary.floor_ns;
    let at = known.filter(|ns| ns.is_finite() && *ns > 0.0)?;
    let name = joined([format!("floor {}", time(at)), curve.name.clone()], ", ");
    Some(Limit { at, name })
}

/// The rungs that can be drawn, from the one with the most stalls on: with a shorter latency hardly a
/// block is in time, and all of them are one stall.
fn rungs(summary: &LoopSummary) -> Vec<&StallRate> {
    let sound = |rung: &&StallRate| {
        let (x, y) = (rung.latency_ns, rung.per_minute_high);
        x.is_finite() && x > 0.0 && y.is_finite() && rung.per_minute.is_finite()
    };
    // Below it not one block is in time.
    let service = summary.service.as_ref().map_or(0.0, |service| service.min);
    let shortest = summary.point.period_ns() + service;
    let some_in_time = |rung: &&StallRate| rung.latency_ns >= shortest * (1.0 - 1e-9);
    let curve = summary.curve.iter();
    let mut rungs: Vec<&StallRate> = curve.filter(sound).filter(some_in_time).collect();
    let most = rungs.iter().map(|rung| rung.stalls).max();
    let peak = rungs.iter().rposition(|rung| Some(rung.stalls) == most);
    rungs.drain(..peak.unwrap_or(0));
    rungs
}

/// What was counted thick, its bound thin and on to `end`, where no stall was seen.
fn line(frame: &Frame, curve: &LoopCurve<'_>, end: f64) {
    let rungs = rungs(curve.point.summary);
    let bound = rungs.iter();
    let bound = bound.map(|rung| (rung.latency_ns, rung.per_minute_high));
    let mut bound: Vec<(f64, f64)> = bound.collect();
    bound.extend(bound.last().map(|(_, rate)| (end, *rate)));
    frame.open("bound");
    frame.line_of(&thinned(&bound), curve.look, 0.9);
    frame.close();
    let counted = rungs.iter().filter(|rung| rung.per_minute > 0.0);
    let counted = counted.map(|rung| (rung.latency_ns, rung.per_minute));
    let counted: Vec<(f64, f64)> = counted.collect();
    frame.curve_marked(&thinned(&counted), MARKERS, curve.look);
}

/// Without what lies within a level stretch; of very many the rest evenly, the ends always.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let last = points.len().saturating_sub(1);
    let is_end = |at: usize| {
        at == 0
            || at == last
            || points[at - 1].1 != points[at].1
            || points[at].1 != points[at + 1].1
    };
    let kept = (0..points.len()).filter(|at| is_end(*at));
    let kept: Vec<(f64, f64)> = kept.map(|at| points[at]).collect();
    spread(&kept, MOST_RUNGS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_stretch_keeps_its_ends_and_a_slope_all_of_it() {
        let level: Vec<(f64, f64)> = (0..10).map(|x| (f64::from(x), 1.0)).collect();
        assert_eq!(thinned(&level), [(0.0, 1.0), (9.0, 1.0)]);
        let slope: Vec<(f64, f64)> = (0..100).map(|x| (f64::from(x), f64::from(x))).collect();
        assert_eq!(thinned(&slope), slope);
        assert!(thinned(&[]).is_empty());
    }
}
