//! Latency against throughput of the settings that a search measured, and the front of those that
//! nothing else beats in both.

use super::Figure;
use super::axes::{Axis, bounds};
use super::canvas::{Canvas, Key};
use super::cells::of_each;
use super::look::{HEIGHT, MUTED, Marker, SERIES, Series};
use crate::Subject;
use crate::load::{Tuned, TunedRow};

/// What there is to draw. Each setting is (mean time of one in nanoseconds, bytes a second).
#[derive(Clone, Debug, Default, PartialEq)]
struct Front {
    /// The device.
    of: String,
    /// What takes the time: an exchange, a transfer.
    what: &'static str,
    /// The front, from the shortest time on.
    front: Vec<(f64, f64)>,
    /// All that was measured.
    measured: Vec<(f64, f64)>,
    /// The setting that was chosen.
    best: Option<FrontMark>,
    /// The setting with the most throughput for its latency.
    knee: Option<FrontMark>,
}

/// A setting that is pointed out.
#[derive(Clone, Debug, Default, PartialEq)]
struct FrontMark {
    /// Where it stands.
    at: (f64, f64),
    /// What it is.
    name: String,
}

/// Of the runs that confirmed a search.
pub(crate) fn draw(subjects: &[Subject]) -> Vec<Figure> {
    of_each(subjects, |one| Some(of_front(&found(one.tuned.as_ref()?)?)))
}

/// What is kept of a search.
fn found(tuned: &Tuned) -> Option<Front> {
    let place = |row: &TunedRow| (row.latency_ns.value, row.bytes_s);
    let marked = |row: Option<&TunedRow>| {
        row.map(|row| FrontMark {
            at: place(row),
            name: row.name.clone(),
        })
    };
    // The rows are those of the objective's throughput; here it is that of both directions.
    let mut front: Vec<(f64, f64)> = Vec::new();
    for (latency, bytes_s) in tuned.front.iter().map(place) {
        if front.last().is_none_or(|(_, most)| bytes_s > *most) {
            front.push((latency, bytes_s));
        }
    }
    (!front.is_empty()).then(|| Front {
        of: tuned.address.clone(),
        what: match tuned.kind.as_str() {
            "stream" => "transfer",
            _ => "exchange",
        },
        measured: (tuned.probes.iter())
            .filter_map(|probe| probe.rtt_ns.zip(probe.bytes_s))
            .collect(),
        best: marked(tuned.front.iter().find(|row| row.is_best)),
        knee: marked(tuned.front.iter().find(|row| row.is_knee)),
        front,
    })
}

/// Draws it.
fn of_front(drawn: &Front) -> Figure {
    let probe = Series::mark(MUTED, Marker::Circle, true);
    let front = Series::mark(SERIES[0], Marker::Circle, false);
    let best = Series::mark(SERIES[4], Marker::Diamond, false);
    let knee = Series::mark(SERIES[2], Marker::Square, false);
    let mut legend = Vec::new();
    if !drawn.measured.is_empty() {
        legend.push(Key::Mark(probe).named("measured"));
    }
    legend.push(Key::Points(front).named("best trade-offs (Pareto front)"));
    let same = |a: &FrontMark, b: &FrontMark| a.at == b.at;
    let both = drawn.best.as_ref().zip(drawn.knee.as_ref());
    let as_one = both.is_some_and(|(a, b)| same(a, b));
    if let Some(mark) = &drawn.best {
        let what = if as_one { "chosen, and knee" } else { "chosen" };
        legend.push(Key::Mark(best).named(format!("{what}: {}", mark.name)));
    }
    if let Some(mark) = drawn.knee.as_ref().filter(|_| !as_one) {
        legend.push(Key::Mark(knee).named(format!("knee: {}", mark.name)));
    }

    let marks = || drawn.best.iter().chain(&drawn.knee).map(|mark| &mark.at);
    let all = || drawn.measured.iter().chain(&drawn.front).chain(marks());
    let (short, long) = bounds(all().map(|point| point.0)).unwrap_or((1e3, 1e6));
    let most = all().map(|point| point.1).fold(0.0, f64::max);
    let canvas = Canvas::new(HEIGHT, &legend);
    let x = Axis::log_time(&format!("Mean time of one {}", drawn.what), short, long);
    let y = Axis::rate("Throughput, both directions", most);
    let frame = canvas.frame(canvas.place(), "", x, y);
    frame.open("measured");
    frame.markers(&drawn.measured, probe);
    frame.close();
    frame.curve(&drawn.front, front);
    if let Some(mark) = drawn.knee.as_ref().filter(|_| !as_one) {
        frame.markers(&[mark.at], knee);
    }
    if let Some(mark) = &drawn.best {
        frame.markers(&[mark.at], best);
    }
    let caption = format!(
        "Settings of {} measured by a search. Left: lower latency; up: higher throughput. The knee has the \
         largest ratio of throughput to latency (power, Kleinrock 1979). Constraints are ignored.",
        drawn.of
    );
    canvas.finish("front", "Latency against throughput", &caption)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(at: (f64, f64), name: &str) -> Option<FrontMark> {
        let name = name.to_owned();
        Some(FrontMark { at, name })
    }

    #[test]
    fn a_choice_that_is_the_knee_is_named_once() {
        let points = vec![(1e6, 1e5), (2e6, 8e5), (9e6, 1e6)];
        let mut front = Front {
            of: "tcp://board:7700".into(),
            what: "exchange",
            front: points.clone(),
            measured: points,
            best: mark((2e6, 8e5), "depth 2"),
            knee: mark((2e6, 8e5), "depth 2"),
        };
        let svg = of_front(&front).svg;
        assert!(svg.contains("chosen, and knee: depth 2"), "{svg}");
        assert!(!svg.contains(">knee: "), "{svg}");
        front.best = mark((9e6, 1e6), "depth 4");
        let svg = of_front(&front).svg;
        assert!(svg.contains("chosen: depth 4") && svg.contains("knee: depth 2"));
    }

    #[test]
    fn a_single_setting_can_be_drawn() {
        let front = Front {
            front: vec![(1e6, 1e5)],
            measured: vec![(1e6, 1e5)],
            ..Front::default()
        };
        assert!(of_front(&front).svg.starts_with("<svg"));
    }
}
