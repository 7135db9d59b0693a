//! How often a loop would have stalled, against its latency: counted in one run, with the bound up to
//! which that run vouches for it, and the floor of the host.

use super::Figure;
use super::axes::{Axis, bounds, number};
use super::canvas::{Canvas, Frame, Key};
use super::look::{FONT_SIZE, HEIGHT, INK, Marker, SMALL, Series, fitting};
use super::loops::{self, Curve, LoopChoice, Looped};
use super::which::time;
use crate::Subject;
use wiregauge_record::{Aim, LoopSummary, StallRate};
use wiregauge_stats::poisson_high;

/// More curves cannot be told apart.
const MOST_CURVES: usize = 8;

/// Of up to so many curves the floor has a line with its name; of more it is a marker on the axis.
const MOST_NAMED: usize = 3;

/// Of up to so many curves the room between what was counted and its bound is filled.
const MOST_FILLED: usize = 2;

/// Rungs of a curve that are drawn; neighbours are 4.4 % apart, so this is three decades.
const MOST_RUNGS: usize = 160;

/// A curve has so many markers, about.
const MARKERS: usize = 6;

pub(crate) fn draw(subjects: &[Subject]) -> Vec<Figure> {
    let all = loops::all(subjects);
    let mut points = all.clone();
    points.retain(|point| point.summary.point.aim == Aim::Curve && !rungs(point).is_empty());
    if points.is_empty() {
        return Vec::new();
    }
    let choice = LoopChoice::of(points, MOST_CURVES);
    let curves = choice.curves(subjects, "counted");
    let tested = tested(&all, &curves);
    let floors: Vec<(Series, f64, &str)> = curves
        .iter()
        .filter_map(|curve| {
            let floor = curve.point.summary.floor.as_ref()?.floor_ns;
            let name = curve.name.as_str();
            (floor.is_finite() && floor > 0.0).then_some((curve.series, floor, name))
        })
        .collect();

    let mut legend: Vec<(Key, String)> = curves
        .iter()
        .map(|curve| (Key::Points(curve.series), curve.name.clone()))
        .collect();
    if !tested.is_empty() {
        legend.push((
            Key::Mark(test_mark()),
            "bound of a tested preload".to_owned(),
        ));
    }
    let canvas = Canvas::new(HEIGHT, &legend);
    let latencies = curves
        .iter()
        .flat_map(|curve| rungs(curve.point))
        .map(|rung| rung.latency_ns)
        .chain(floors.iter().map(|(_, floor, _)| *floor))
        .chain(tested.iter().map(|(latency, _)| *latency));
    let (first, last) = bounds(latencies).unwrap_or((1.0, 1.0));
    // What goes on behind the last stall needs room to be seen.
    let x = Axis::log_time("Latency", first, last * 1.15);
    let rates = curves
        .iter()
        .flat_map(|curve| rungs(curve.point))
        .flat_map(|rung| [rung.per_minute, rung.per_minute_high])
        .chain(tested.iter().map(|(_, rate)| *rate))
        .filter(|rate| *rate > 0.0);
    let (low, high) = bounds(rates).unwrap_or((1.0, 1.0));
    let label = |value: f64| number(value, value);
    let y = Axis::log("Stalls a minute (log)", low, high, 1.0, label);
    let (end, bottom) = (x.range().1, y.range().0);
    let frame = canvas.frame(canvas.place(), "", x, y);
    for curve in &curves {
        line(&frame, curve, end, bottom, curves.len() <= MOST_FILLED);
    }
    if floors.len() <= MOST_NAMED {
        let mut named: Vec<(f64, String)> = floors
            .iter()
            .map(|(_, floor, name)| {
                let whose = match floors.len() {
                    1 => String::new(),
                    _ => format!(", {name}"),
                };
                let text = format!("floor {}{whose}", time(*floor));
                (*floor, fitting(&text, SMALL, 18.0 * FONT_SIZE))
            })
            .collect();
        named.sort_by(|a, b| b.0.total_cmp(&a.0));
        frame.limits_x(&named);
    } else {
        frame.open("limit");
        for (series, floor, _) in &floors {
            frame.markers(&[(*floor, bottom)], *series);
        }
        frame.close();
    }
    frame.open("tested");
    frame.markers(&tested, test_mark());
    frame.close();
    let caption = caption(&curves, &floors, &tested, &choice.rule);
    vec![canvas.finish("stalls-latency", "Stalls against latency", &caption)]
}

fn test_mark() -> Series {
    Series {
        colour: INK,
        dash: 0,
        marker: Marker::Diamond,
        hollow: true,
    }
}

/// The rungs that can be drawn.
fn rungs<'a>(point: &Looped<'a>) -> Vec<&'a StallRate> {
    let summary: &'a LoopSummary = point.summary;
    let sound = |rung: &&StallRate| {
        let (x, y) = (rung.latency_ns, rung.per_minute_high);
        x.is_finite() && x > 0.0 && y.is_finite() && rung.per_minute.is_finite()
    };
    summary.curve.iter().filter(sound).collect()
}

/// Of the cells and runs that have a curve: latency and bound of every preload that was tested.
fn tested(all: &[Looped<'_>], curves: &[Curve<'_, '_>]) -> Vec<(f64, f64)> {
    let has_curve = |point: &Looped<'_>| {
        curves.iter().any(|curve| {
            let mut cell = point.cell;
            cell.tested = None;
            (curve.point.subject, curve.point.cell) == (point.subject, cell)
        })
    };
    all.iter()
        .filter(|point| point.cell.tested.is_some() && has_curve(point))
        .filter(|point| point.summary.elapsed_ns > 0)
        .map(|point| {
            let minutes = point.summary.elapsed_ns as f64 / 60e9;
            let stalls = point.summary.overruns + point.summary.underruns;
            let bound = poisson_high(stalls) / minutes;
            (point.summary.point.preload_ns(), bound)
        })
        .filter(|(latency, bound)| latency.is_finite() && *latency > 0.0 && bound.is_finite())
        .collect()
}

/// What was counted thick, its bound thin and on to `end`, where no stall was seen.
fn line(frame: &Frame, curve: &Curve<'_, '_>, end: f64, bottom: f64, filled: bool) {
    let rungs = rungs(curve.point);
    let counted: Vec<(f64, f64)> = rungs
        .iter()
        .filter(|rung| rung.per_minute > 0.0)
        .map(|rung| (rung.latency_ns, rung.per_minute))
        .collect();
    let mut bound: Vec<(f64, f64)> = rungs
        .iter()
        .map(|rung| (rung.latency_ns, rung.per_minute_high))
        .collect();
    bound.extend(bound.last().map(|(_, rate)| (end, *rate)));
    if filled {
        let mut edges: Vec<(f64, f64, f64)> = rungs
            .iter()
            .map(|rung| {
                let low = rung.per_minute.max(bottom);
                (rung.latency_ns, low, rung.per_minute_high)
            })
            .collect();
        edges.extend(edges.last().map(|(_, _, high)| (end, bottom, *high)));
        frame.open("band");
        frame.band(
            &thinned(edges, |edge| (edge.1, edge.2)),
            curve.series.colour,
            0.15,
        );
        frame.close();
    }
    frame.open("bound");
    frame.line_of(&thinned(bound, |at| at.1), curve.series, 0.9);
    frame.close();
    frame.open("curve");
    let counted = thinned(counted, |at| at.1);
    frame.line(&counted, curve.series);
    let every = counted.len().div_ceil(MARKERS).max(1);
    // From the end, so that the last stall has one.
    let marked: Vec<_> = counted.iter().rev().step_by(every).copied().collect();
    frame.markers(&marked, curve.series);
    frame.close();
}

/// Without what lies within a level stretch; of very many the rest evenly, the ends always.
fn thinned<T: Copy, Y: PartialEq>(points: Vec<T>, y: impl Fn(&T) -> Y) -> Vec<T> {
    let last = points.len().saturating_sub(1);
    let level = |at: usize| {
        at > 0
            && at < last
            && y(&points[at - 1]) == y(&points[at])
            && y(&points[at]) == y(&points[at + 1])
    };
    let kept: Vec<T> = (0..points.len())
        .filter(|at| !level(*at))
        .map(|at| points[at])
        .collect();
    super::cells::spread(&kept, MOST_RUNGS)
}

fn caption(
    curves: &[Curve<'_, '_>],
    floors: &[(Series, f64, &str)],
    tested: &[(f64, f64)],
    rule: &str,
) -> String {
    let mut text = String::from(
        "How often the loop would have stalled with this latency, counted in one run whose rings were \
         large enough for every delay; a stall is a stretch of blocks in a row that come too late. \
         Thin: the upper 95 % confidence bound, which goes on level where no stall was seen, for none \
         in this run is not none.",
    );
    match floors.len() {
        0 => {}
        n if n <= MOST_NAMED => text.push_str(
            " The floor is one block and the worst wake-up of a plain timer thread in the same run.",
        ),
        _ => text.push_str(
            " The markers on the axis are the floors: one block and the worst wake-up of a plain timer \
             thread in the same run.",
        ),
    }
    if !tested.is_empty() {
        text.push_str(
            " Hollow diamonds: the bound of preloads that were tested in runs of their own.",
        );
    }
    if let [only] = curves
        && only.name != "counted"
    {
        text.push_str(&format!(" Of {}.", only.name));
    }
    text.push_str(rule);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_stretch_keeps_its_ends_and_a_slope_all_of_it() {
        let level: Vec<(f64, f64)> = (0..10).map(|x| (f64::from(x), 1.0)).collect();
        assert_eq!(thinned(level, |at| at.1), [(0.0, 1.0), (9.0, 1.0)]);
        let slope: Vec<(f64, f64)> = (0..100).map(|x| (f64::from(x), f64::from(x))).collect();
        assert_eq!(thinned(slope.clone(), |at| at.1), slope);
        assert!(thinned(Vec::<(f64, f64)>::new(), |at| at.1).is_empty());
    }
}
