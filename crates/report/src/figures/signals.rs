//! The signals of a control loop over a link: outputs and reference over time, commands over time, the step.

use super::Figure;
use super::axes::{Axis, bounds};
use super::canvas::{Canvas, Entry, Key};
use super::cells::of_each;
use super::look::{HEIGHT, Series};
use crate::Subject;
use crate::load::{ControlSignals, Signal};
use wiregauge_quantity::grouped;

/// Magnitudes that are printed as they are.
const PLAIN: std::ops::Range<f64> = 1e-2..1e5;

/// A curve: its name, its look, its values.
type Curve<'a> = (String, Series, &'a [(f64, f64)]);

/// The values of a signal: over time, or since the step.
type Part = fn(&Signal) -> &[(f64, f64)];

/// Of every run of a control loop.
pub(crate) fn draw(subjects: &[Subject]) -> Vec<Figure> {
    let drawn = |part: fn(&ControlSignals, bool) -> Option<Figure>| {
        of_each(subjects, |one| {
            let (run, [signals]) = one.control_run()? else {
                return None;
            };
            part(signals, run.file.plan.point.step != 0.0)
        })
    };
    [drawn(outputs), drawn(commands), drawn(step)].concat()
}

fn outputs(signals: &ControlSignals, has_step: bool) -> Option<Figure> {
    let over_time: Part = |signal| &signal.over_time[..];
    let mut curves = curves("y", &signals.outputs, over_time);
    if has_step {
        curves.push(reference(signals, over_time));
    }
    let caption = format!("Measured outputs y. {}", thinned(signals));
    let texts = ("Output over time", "Time since the first tick", "Output");
    figure("signals-output", texts, &curves, &caption)
}

fn commands(signals: &ControlSignals, _has_step: bool) -> Option<Figure> {
    let curves = curves("u", &signals.commands, |signal| &signal.over_time[..]);
    let caption = format!("Commands u. {}", thinned(signals));
    let texts = ("Command over time", "Time since the first tick", "Command");
    figure("signals-command", texts, &curves, &caption)
}

fn step(signals: &ControlSignals, has_step: bool) -> Option<Figure> {
    let step: Part = |signal| &signal.step[..];
    let mut curves = curves("y", &signals.outputs, step);
    curves.push(reference(signals, step));
    let caption = "Measured outputs y from the step on, with the noise of the plant.";
    let title = "Step response at the samples";
    let texts = (title, "Time since the step", "Output");
    figure("signals-step", texts, &curves, caption).filter(|_| has_step)
}

/// The reference of the first output.
fn reference(signals: &ControlSignals, values: Part) -> Curve<'_> {
    ("r".into(), Series::limit(), values(&signals.reference))
}

/// The signals of a name, numbered where there are several.
fn curves<'a>(name: &str, signals: &'a [Signal], values: Part) -> Vec<Curve<'a>> {
    let named = |number: usize| match signals.len() {
        1 => name.to_owned(),
        _ => format!("{name}{}", number + 1),
    };
    let all = signals.iter().enumerate();
    all.map(|(number, signal)| (named(number), Series::of(number), values(signal)))
        .collect()
}

/// How many cycles are drawn, and what was left out of the drawing.
fn thinned(signals: &ControlSignals) -> String {
    let cycles = grouped(signals.of);
    match signals.per_slice {
        0..=2 => format!("{cycles} cycles."),
        several => format!(
            "{cycles} cycles; of each {} the lowest and the highest value are drawn.",
            grouped(several)
        ),
    }
}

/// `None` if there is nothing to draw.
fn figure(
    name: &str,
    (title, x_title, y_title): (&str, &str, &str),
    curves: &[Curve<'_>],
    caption: &str,
) -> Option<Figure> {
    let all = || curves.iter().flat_map(|(_, _, values)| values.iter());
    let (_, end) = bounds(all().map(|(at, _)| *at))?;
    let (low, high) = bounds(all().map(|(_, value)| *value))?;
    let legend: Vec<Entry> = (curves.iter())
        .map(|(name, series, _)| Key::Line(*series).named(name.clone()))
        .collect();
    let canvas = Canvas::new(HEIGHT, &legend);
    let most = low.abs().max(high.abs());
    let y = match most == 0.0 || PLAIN.contains(&most) {
        true => Axis::linear(y_title, low, high, 1.0),
        false => {
            let unit = 10f64.powi(most.log10().floor() as i32);
            Axis::linear(&format!("{y_title} ({unit:e})"), low, high, unit)
        }
    };
    let frame = canvas.frame(canvas.place(), "", Axis::elapsed(x_title, end), y);
    for (_, series, values) in curves {
        frame.line(values, *series);
    }
    Some(canvas.finish(name, title, caption))
}
