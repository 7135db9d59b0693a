//! How often a loop would have stalled, against its latency: counted in one run, with the bound up to
//! which that run vouches for it, and the floor of the host.

use super::Figure;
use super::axes::{Axis, bounds, number};
use super::canvas::{Canvas, Entry, Frame, Key, Limit, Place};
use super::cells::{distinct, spread};
use super::look::{HEIGHT, Marker, Series};
use super::loops::{self, Curve, LoopCell, LoopChoice, Looped};
use crate::Subject;
use wiregauge_quantity::time;
use wiregauge_record::{Aim, LoopSummary, StallRate};
use wiregauge_stats::poisson_high;

/// More curves in a frame cannot be distinguished.
const MOST_CURVES: usize = 6;

/// More frames would be too small.
const MOST_PANELS: usize = 4;

/// Rungs of a curve that are drawn; neighbours are 4.4 % apart, so this is three decades.
const MOST_RUNGS: usize = 160;

/// A curve has so many markers, about.
const MARKERS: usize = 6;

pub(crate) fn draw(subjects: &[Subject]) -> Vec<Figure> {
    let all = loops::all(subjects);
    let mut points = all.clone();
    points.retain(|point| point.summary.point.aim == Aim::Curve && !rungs(point).is_empty());
    let runs = distinct(points.iter().map(|point| point.subject)).len();
    if runs == 0 {
        return Vec::new();
    }
    let most = match runs {
        1 => MOST_CURVES,
        runs => MOST_PANELS * runs.min(MOST_CURVES),
    };
    let choice = LoopChoice::of(points, MOST_CURVES, most);
    let panels = panels(&choice, subjects);
    let curves = || panels.iter().flat_map(|panel| &panel.curves);

    let mut legend: Vec<Entry> = Vec::new();
    for curve in curves() {
        let entry = Key::Points(curve.series).named(&curve.name);
        if !legend.contains(&entry) {
            legend.push(entry);
        }
    }
    let tests = || curves().flat_map(|curve| tested(&all, curve));
    if tests().next().is_some() {
        legend.push(Key::Mark(of_test(Series::limit())).named("a preload under test"));
    }
    let only = if panels.len() == 1 { HEIGHT } else { 260 };
    let (canvas, places) = Canvas::with_panels((panels.len(), 2), (only, 260), &legend);
    for (panel, place) in panels.iter().zip(places) {
        panel.draw(&canvas, place, &all);
    }
    let caption = caption(&panels, tests().next().is_some(), &choice.rule);
    vec![canvas.finish("stalls-latency", "Stalls against latency", &caption)]
}

/// Curves in a frame.
struct Panel<'b, 'a> {
    title: String,
    curves: Vec<Curve<'b, 'a>>,
}

/// One panel; of several runs one for each cell, in which they are laid over each other.
fn panels<'b, 'a>(choice: &'b LoopChoice<'a>, subjects: &[Subject]) -> Vec<Panel<'b, 'a>> {
    if choice.runs.len() == 1 || choice.cells.len() == 1 {
        return vec![Panel {
            title: String::new(),
            curves: choice.curves(subjects, "counted"),
        }];
    }
    let runs = || choice.runs.iter().enumerate();
    let panel = |cell| Panel {
        title: choice.name(cell),
        curves: runs()
            .filter_map(|(at, &run)| {
                Some(Curve {
                    name: subjects[run].label.clone(),
                    series: Series::of(at),
                    point: choice.at(run, cell)?,
                })
            })
            .collect(),
    };
    choice.cells.iter().map(panel).collect()
}

impl Panel<'_, '_> {
    /// The floors that are known, from the longest on.
    fn floors(&self) -> Vec<Limit> {
        let mut floors = Vec::new();
        for curve in &self.curves {
            let known = curve.point.summary.floor_ns;
            let sound = known.filter(|ns| ns.is_finite() && *ns > 0.0);
            floors.extend(sound.map(|at| Limit {
                at,
                name: match self.curves.len() {
                    1 => format!("floor {}", time(at)),
                    _ => format!("floor {}, {}", time(at), curve.name),
                },
            }));
        }
        floors.sort_by(|a, b| b.at.total_cmp(&a.at));
        floors
    }

    fn draw(&self, canvas: &Canvas, place: Place, all: &[Looped<'_>]) {
        let floors = self.floors();
        let tested: Vec<(Series, Vec<Test>)> = self
            .curves
            .iter()
            .map(|curve| (of_test(curve.series), tested(all, curve)))
            .collect();
        let tests = || tested.iter().flat_map(|(_, tests)| tests);
        let rungs = || self.curves.iter().flat_map(|curve| rungs(curve.point));
        let latencies = rungs()
            .map(|rung| rung.latency_ns)
            .chain(floors.iter().map(|floor| floor.at))
            .chain(tests().map(|test| test.latency_ns));
        let (first, last) = bounds(latencies).unwrap_or((1.0, 1.0));
        // What goes on behind the last stall needs room to be seen.
        let x = Axis::log_time("Latency", first, last * 1.15);
        let rates = rungs()
            .flat_map(|rung| [rung.per_minute, rung.per_minute_high])
            .chain(tests().map(|test| test.bound))
            .filter(|rate| *rate > 0.0);
        let (low, high) = bounds(rates).unwrap_or((1.0, 1.0));
        let label = |value: f64| number(value, value);
        let y = Axis::log("Stalls per minute (log)", low, high, 1.0, label);
        let end = x.range().1;
        canvas.open("panel");
        let frame = canvas.frame(place, &self.title, x, y);
        for curve in &self.curves {
            line(&frame, curve, end);
        }
        frame.limits_x(&floors);
        frame.open("tested");
        for (series, test) in tested
            .iter()
            .flat_map(|(series, tests)| tests.iter().map(move |test| (series, test)))
        {
            frame.markers(&[(test.latency_ns, test.bound)], *series);
        }
        frame.close();
        canvas.close();
    }
}

/// A preload that was tested.
struct Test {
    latency_ns: f64,
    /// Of stalls per minute.
    bound: f64,
}

/// How the test of a preload looks where its curve looks so.
fn of_test(series: Series) -> Series {
    Series {
        marker: Marker::Diamond,
        hollow: true,
        ..series
    }
}

/// The rungs that can be drawn, from the one with the most stalls on: with a shorter latency hardly a
/// block is in time, and all of them are one stall.
fn rungs<'a>(point: &Looped<'a>) -> Vec<&'a StallRate> {
    let summary: &'a LoopSummary = point.summary;
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

/// Every preload that was tested where the curve was counted.
fn tested(all: &[Looped<'_>], curve: &Curve<'_, '_>) -> Vec<Test> {
    let of_curve = |point: &&Looped<'_>| {
        let cell = LoopCell {
            tested: None,
            ..point.cell
        };
        point.cell.tested.is_some()
            && point.summary.elapsed_ns > 0
            && (curve.point.subject, curve.point.cell) == (point.subject, cell)
    };
    all.iter()
        .filter(of_curve)
        .map(|point| {
            let minutes = point.summary.elapsed_ns as f64 / 60e9;
            let stalls = point.summary.overruns + point.summary.underruns;
            Test {
                latency_ns: point.summary.point.preload_ns(),
                bound: poisson_high(stalls) / minutes,
            }
        })
        .filter(|test| test.latency_ns.is_finite() && test.latency_ns > 0.0)
        .filter(|test| test.bound.is_finite())
        .collect()
}

/// What was counted thick, its bound thin and on to `end`, where no stall was seen.
fn line(frame: &Frame, curve: &Curve<'_, '_>, end: f64) {
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
    spread(&kept, MOST_RUNGS)
}

fn caption(panels: &[Panel<'_, '_>], tests: bool, rule: &str) -> String {
    let mut text = String::from(
        "How often the loop would have stalled with this latency, counted in one run with rings large enough \
         for every delay; a stall is a sequence of consecutive late blocks. At latencies shorter than shown, \
         stalls merge. Thin: the upper 95 % confidence bound, which stays level where no stall was observed: \
         none observed does not prove that there are none.",
    );
    if panels.iter().any(|panel| !panel.floors().is_empty()) {
        text.push_str(" The floor: one block plus the longest host delay of the same run.");
    }
    if tests {
        text.push_str(" Hollow diamonds: the bound for preloads tested separately.");
    }
    if let [panel] = panels
        && let [only] = &panel.curves[..]
        && only.name != "counted"
    {
        text.push_str(&format!(" Shown: {}.", only.name));
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
