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
    let mut curves = curves("y", &signals.outputs, |signal| &signal.over_time);
    if has_step {
        let reference = &signals.reference.over_time;
        curves.push(("r".into(), Series::limit(), reference.as_slice()));
    }
    let (what, title) = match has_step {
        true => (
            "Measured outputs y and the reference r of the first one.",
            "Output and reference over time",
        ),
        false => (
            "Measured outputs y; the reference is 0.",
            "Output over time",
        ),
    };
    let caption = format!("{what} {}", thinned(signals));
    let texts = (title, "Time since the first tick", "Output");
    figure("signals-output", texts, &curves, &caption)
}

fn commands(signals: &ControlSignals, _has_step: bool) -> Option<Figure> {
    let curves = curves("u", &signals.commands, |signal| &signal.over_time);
    let thinned = thinned(signals);
    let caption = format!("Commands u, computed from the samples. {thinned}");
    let texts = ("Command over time", "Time since the first tick", "Command");
    figure("signals-command", texts, &curves, &caption)
}

fn step(signals: &ControlSignals, has_step: bool) -> Option<Figure> {
    if !has_step {
        return None;
    }
    let mut curves = curves("y", &signals.outputs, |signal| &signal.step);
    let reference = &signals.reference.step;
    curves.push(("r".into(), Series::limit(), reference.as_slice()));
    let caption = format!(
        "Measured outputs y and the reference r of the first one, {} cycles from the step on, with the noise of the \
         plant.",
        grouped(reference.len() as u64)
    );
    let title = "Step response at the samples";
    let texts = (title, "Time since the step", "Output");
    figure("signals-step", texts, &curves, &caption)
}

/// The signals of a name, numbered where there are several.
fn curves<'a>(
    name: &str,
    signals: &'a [Signal],
    values: fn(&Signal) -> &Vec<(f64, f64)>,
) -> Vec<Curve<'a>> {
    let named = |number: usize| match signals.len() {
        1 => name.to_owned(),
        _ => format!("{name}{}", number + 1),
    };
    let all = signals.iter().enumerate();
    all.map(|(number, signal)| (named(number), Series::of(number), values(signal).as_slice()))
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
