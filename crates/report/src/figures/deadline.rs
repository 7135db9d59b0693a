//! How often a response takes longer than a time, on logarithmic axes: what was measured, the
//! deadline, and the fitted tail with its band as far as it is supported.

use super::Figure;
use super::axes::{Axis, bounds};
use super::canvas::{Canvas, Entry, Key};
use super::look::{HEIGHT, Marker, Series};
use super::point_key;
use crate::Subject;
use crate::load::{DeadlinePoint, Deadlines};
use crate::units::time;
use hdrhistogram::Histogram;

/// More curves cannot be distinguished.
const MOST_CURVES: usize = 4;

/// Opacity of a band.
const BAND: f64 = 0.18;

/// Of the runs with a schedule, the cycles being its periods.
pub(crate) fn draw(subjects: &[Subject]) -> Vec<Figure> {
    let all = subjects.iter().filter_map(|subject| {
        let mut figure = of_deadlines(subject.deadlines.as_ref()?)?;
        if subjects.len() > 1 {
            figure.title = format!("{}: {}", subject.label, figure.title);
        }
        Some(figure)
    });
    let mut figures: Vec<Figure> = all.collect();
    for (at, figure) in figures.iter_mut().enumerate().skip(1) {
        figure.name = format!("deadline-{}", at + 1);
    }
    figures
}

/// Draws the points of a run, the first few of them.
pub fn of_deadlines(deadlines: &Deadlines) -> Option<Figure> {
    let measured = |point: &&DeadlinePoint| !point.responses.is_empty();
    let all: Vec<&DeadlinePoint> = deadlines.points.iter().filter(measured).collect();
    let drawn = &all[..all.len().min(MOST_CURVES)];
    if drawn.is_empty() {
        return None;
    }
    let mut legend: Vec<Entry> = Vec::new();
    for (number, point) in drawn.iter().enumerate() {
        legend.push(Entry {
            key: Key::Line(measured_line(number)),
            name: name(drawn, point),
            points: point_key::exchange(point.point),
        });
    }
    if drawn.iter().any(|point| !point.beyond.curve.is_empty()) {
        legend.push((Key::Line(fitted(0)), "fitted tail".to_owned()).into());
        let band = Key::Area(fitted(0).colour, BAND);
        legend.push((band, "its 95 % interval".to_owned()).into());
    }
    let canvas = Canvas::new(HEIGHT, &legend);
    let limit = drawn
        .iter()
        .map(|point| point.limit_ns)
        .fold(f64::INFINITY, f64::min);
    let lows = drawn.iter().map(|point| point.responses.min() as f64);
    let highs = drawn.iter().flat_map(|point| {
        let reach = point.beyond.curve.last().and_then(|(_, level)| level.high);
        // A heavy tail's bound would push all else to the left.
        let most = point.responses.max() as f64;
        [most, reach.unwrap_or(most).min(20.0 * most), limit]
    });
    let (low, high) = bounds(lows.chain(highs))?;
    let rarest = drawn.iter().map(|point| {
        let tables = point.beyond.curve.last().map_or(0.0, |(one_in, _)| *one_in);
        tables.max(point.responses.len() as f64)
    });
    let rarest = 1.0 / rarest.fold(1.0, f64::max);
    let x = Axis::log_time("Response", low.max(1.0), high * 1.15);
    let y = Axis::log(
        "Share with longer responses (log)",
        rarest * 0.5,
        // Room for the deadline's name above the curves, which all begin at 1.
        2.5,
        1.0,
        share,
    );
    let frame = canvas.frame(canvas.place(), "", x, y);
    for (number, point) in drawn.iter().enumerate() {
        let curve = &point.beyond.curve;
        frame.open_point("tail", &point_key::exchange(point.point));
        let band = |&(one_in, level): &(f64, wiregauge_stats::Estimate)| {
            (
                1.0 / one_in,
                level.low.unwrap_or(level.value),
                // Beyond what is supported: to the edge.
                level.high.unwrap_or(f64::MAX),
            )
        };
        frame.band_across(
            &curve.iter().map(band).collect::<Vec<_>>(),
            fitted(number).colour,
            BAND,
        );
        let line: Vec<_> = curve
            .iter()
            .map(|(one_in, level)| (level.value, 1.0 / one_in))
            .collect();
        let inside: Vec<_> = line.into_iter().take_while(|at| frame.holds(*at)).collect();
        frame.line(&inside, fitted(number));
        frame.close();
        frame.open_point("measured", &point_key::exchange(point.point));
        frame.line(&survival(&point.responses), measured_line(number));
        frame.close();
    }
    let name = match limit < deadlines.control_loop.deadline_ns as f64 {
        true => "jitter limit",
        false => "deadline",
    };
    frame.limits_x(&[(limit, format!("{name} {}", time(limit)))]);
    let mut caption = String::from(
        "The line ends at the longest response. From the threshold on: the fitted generalised Pareto tail, as \
         far as the data support it, with the 95 % interval of the response time at each share.",
    );
    if drawn.iter().all(|point| point.beyond.curve.is_empty()) {
        caption = "The line ends at the longest response; there is no extrapolation.".into();
    }
    if drawn.len() < all.len() {
        caption += &format!(
            " Only the first {1} of {0} points are shown.",
            all.len(),
            drawn.len()
        );
    }
    let title = format!("Responses against a {name} of {}", time(limit));
    Some(canvas.finish("deadline", &title, &caption))
}

fn name(drawn: &[&DeadlinePoint], point: &DeadlinePoint) -> String {
    match drawn.len() {
        1 => "measured".to_owned(),
        _ => point.point.to_string(),
    }
}

fn measured_line(number: usize) -> Series {
    Series {
        dash: 0,
        ..Series::of(number)
    }
}

/// The same colour as the samples it was fitted to, but for a lone curve.
fn fitted(number: usize) -> Series {
    Series {
        dash: 1,
        marker: Marker::Circle,
        colour: Series::of(number).colour,
        hollow: false,
    }
}

/// Which share of the values is larger than each, as the steps that they make.
fn survival(values: &Histogram<u64>) -> Vec<(f64, f64)> {
    let n = values.len() as f64;
    let mut left = n;
    let mut line = Vec::new();
    for step in values.iter_recorded() {
        let value = step.value_iterated_to() as f64;
        line.push((value, left / n));
        left -= step.count_at_value() as f64;
        if left > 0.0 {
            line.push((value, left / n));
        }
    }
    line
}

/// A share on the axis: in percent while that is readable, then as a power of ten.
fn share(share: f64) -> String {
    match share {
        s if s >= 0.99e-6 => format!("{} %", super::axes::number(s * 100.0, s * 100.0)),
        s => format!("{s:.0e}"),
    }
}
