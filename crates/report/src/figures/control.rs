//! What measured delays do to a control loop: its step response, and its cost beside that of constant delays.

use super::Figure;
use super::axes::{Axis, bounds};
use super::canvas::{Canvas, Key};
use super::look::{HEIGHT, INK, Series};
use wiregauge_control::{Assessment, Steps};
use wiregauge_quantity::time;

/// Opacity of a band.
const BAND: f64 = 0.25;

/// An output that goes further beyond that without delay, as a multiple of its range, leaves the figure.
const REACH: f64 = 4.0;

/// A cost of more than this multiple of that without delay is not drawn.
const MOST_COST: f64 = 40.0;

/// The loop without delay.
const NONE: usize = 2;

/// The measured delays.
const MEASURED: usize = 0;

/// All figures of an assessment. `place`: the settings of its point, such as `depth 2`; empty if the run has no other.
pub fn of_control(assessment: &Assessment, place: &str) -> Vec<Figure> {
    let steps = assessment.on_trace.step.as_ref();
    let drawn = [
        steps.and_then(|steps| step(steps, place)),
        cost(assessment, place),
    ];
    drawn.into_iter().flatten().collect()
}

/// The title of a figure of a point.
fn titled(title: &str, place: &str) -> String {
    match place {
        "" => title.to_owned(),
        place => format!("{title} at {place}"),
    }
}

fn step(steps: &Steps, place: &str) -> Option<Figure> {
    let legend = [
        Key::Line(Series::with(NONE, 1)).named("no delay"),
        Key::Line(line(MEASURED)).named("measured delays, median"),
        Key::Area(line(MEASURED).colour, BAND).named(format!("{} starting moments", steps.starts)),
        Key::Line(Series::limit()).named("final value"),
    ];
    let canvas = Canvas::new(HEIGHT, &legend);
    let sample_ns = steps.sample_s * 1e9;
    let values = (steps.output.iter().copied()).chain(steps.band.iter().flatten().copied());
    let (lowest, highest) = bounds(values.chain([0.0, steps.target]))?;
    let usual = steps.output.iter().copied().chain([0.0, steps.target]);
    let (usual_low, usual_high) = bounds(usual)?;
    let reach = REACH * (usual_high - usual_low);
    let (low, high) = (
        lowest.max(usual_low - reach),
        highest.min(usual_high + reach),
    );
    let x = Axis::elapsed("Time since the step", sample_ns * steps.output.len() as f64);
    let margin = 0.05 * (high - low);
    let bottom = if low < 0.0 { low - margin } else { 0.0 };
    let y = Axis::linear("Output for a reference of 1", bottom, high + margin, 1.0);
    let frame = canvas.frame(canvas.place(), place, x, y);
    let at = |sample: usize| sample as f64 * sample_ns;
    let band = steps.band.iter().enumerate();
    let edges: Vec<_> = band
        .map(|(n, [low, _, high])| (at(n), *low, *high))
        .collect();
    frame.band(&edges, line(MEASURED).colour, BAND);
    let end = at(steps.output.len());
    frame.line(&[(0.0, steps.target), (end, steps.target)], Series::limit());
    let without: Vec<_> = (steps.output.iter().enumerate())
        .map(|(n, y)| (at(n), *y))
        .collect();
    frame.line(&without, Series::with(NONE, 1));
    let middle: Vec<_> = (steps.band.iter().enumerate())
        .map(|(n, [_, middle, _])| (at(n), *middle))
        .collect();
    frame.line(&middle, line(MEASURED));
    let mut caption = format!(
        "The reference goes from 0 to 1 at {} moments spread over the trace, without noise: lowest, median and highest \
         output.",
        steps.starts
    );
    if lowest < low || highest > high {
        caption += " Outputs beyond the figure are drawn at its edge.";
    }
    if steps.is_limited {
        caption += " Commands reached the limits of the model.";
    }
    Some(canvas.finish("control-step", &titled("Step response", place), &caption))
}

fn cost(assessment: &Assessment, place: &str) -> Option<Figure> {
    let trace = &assessment.on_trace;
    let curve: Vec<(f64, f64)> = (trace.curve.iter())
        .filter_map(|point| Some((point.delay_ns as f64, point.cost?)))
        .collect();
    let run = Series {
        colour: Series::of(1).colour,
        ..Series::of(0)
    };
    let mut legend = vec![Key::Line(line(MEASURED)).named("every delay the same")];
    let median = assessment.delays.median_ns;
    let most = MOST_COST * trace.no_delay.cost.unwrap_or(f64::INFINITY);
    let (drawn, beyond) = match trace.cost {
        Some(cost) if cost > most && most > 0.0 => (None, Some(cost)),
        cost => (cost, None),
    };
    let this = drawn.map(|cost| (median as f64, cost));
    if this.is_some() {
        legend.push(Key::Mark(run).named("this trace, at its median delay"));
    }
    let (_, high) = bounds(curve.iter().map(|(_, cost)| *cost).chain(drawn))?;
    let (_, longest) = bounds(curve.iter().map(|(delay, _)| *delay).chain([median as f64]))?;
    let canvas = Canvas::new(HEIGHT, &legend);
    // Near the limit of stability the cost has no bound: the part that matters is below.
    let shown = trace.no_delay.cost.map_or(high, |none| {
        let part = 8.0 * none.max(f64::MIN_POSITIVE);
        high.min(part.max(1.3 * drawn.unwrap_or(0.0)))
    });
    let x = Axis::time("Delay of each command", longest.max(1.0));
    let y = Axis::linear("Cost", 0.0, shown * 1.05, 1.0);
    let (_, top) = y.range();
    let frame = canvas.frame(canvas.place(), place, x, y);
    let inside = curve.iter().copied().take_while(|at| frame.holds(*at));
    let mut inside: Vec<_> = inside.collect();
    let is_cut = inside.len() < curve.len();
    inside.extend(crossing(&curve[inside.len().saturating_sub(1)..], top));
    frame.line(&inside, line(MEASURED));
    if let (Some(at), Some(interval)) = (this, trace.interval) {
        frame.intervals(&[(at.0, interval.low, interval.high)], INK);
    }
    frame.markers(&this.into_iter().collect::<Vec<_>>(), run);
    let mut caption = format!("This trace: median delay {}", time(median as f64));
    match trace.equal_delay_ns {
        Some(equal) => {
            caption += &format!(
                "; it costs as much as a constant delay of {}.",
                time(equal as f64)
            )
        }
        None => caption += ".",
    }
    if let Some(cost) = beyond {
        let times = cost / trace.no_delay.cost.unwrap_or(f64::NAN);
        caption += &match times < 1e6 {
            true => format!(" Its cost, {times:.0} x that without delay, is beyond the figure."),
            false => format!(" Its cost, {times:.1e} x that without delay, is beyond the figure."),
        };
    }
    if is_cut {
        caption += " The curve goes on above the figure.";
    }
    Some(canvas.finish(
        "control-cost",
        &titled("Cost against constant delay", place),
        &caption,
    ))
}

/// Where the first segment of a line reaches this value.
fn crossing(rest: &[(f64, f64)], value: f64) -> Option<(f64, f64)> {
    let [(x0, y0), (x1, y1), ..] = *rest else {
        return None;
    };
    let part = (value - y0) / (y1 - y0);
    (part > 0.0 && part < 1.0).then_some((x0 + part * (x1 - x0), value))
}

fn line(number: usize) -> Series {
    Series::of(number).solid()
}
