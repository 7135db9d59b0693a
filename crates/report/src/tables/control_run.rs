//! A control loop over a link: its cycles, its delays, its cost and step, and what was predicted.

use super::table::Table;
use wiregauge_quantity::{TimeUnit, exact_time, grouped};
use wiregauge_quantity::{number, percent_number};
use wiregauge_record::{ControlSummary, Predicted};
use wiregauge_run::{Control, RunFile};
use wiregauge_stats::Estimate;

/// What was run, in a line.
pub(super) fn heading(file: &RunFile<Control>) -> String {
    let plan = &file.plan;
    let mut line = format!(
        "{}, control loop of {}, {} cycles",
        plan.address,
        exact_time(plan.point.period_ns),
        grouped(plan.cycles)
    );
    if plan.point.step != 0.0 {
        line += &format!(
            ", step of the reference to {} at half of them",
            plan.point.step
        );
    }
    line
}

/// Every table that has something to say.
pub(super) fn tables(point: &ControlSummary) -> Vec<Table> {
    let unit = TimeUnit::fitting(point.delay.as_ref().map_or(1e6, |delay| delay.p50.value));
    let title = format!(
        "Delay from sample to command in {}, cost at the samples",
        unit.name()
    );
    let heads = [
        "cycles", "lost", "unsent", "p50", "p99", "max", "cost", "95 % CI",
    ];
    let mut measured = Table::new(title, &heads);
    let delay = |of: fn(&wiregauge_stats::Distribution) -> f64| {
        (point.delay.as_ref()).map_or("-".into(), |delay| unit.show(of(delay)))
    };
    let lost = point.samples_lost + point.commands_lost;
    measured.row(vec![
        grouped(point.cycles),
        grouped(lost),
        grouped(point.unsent),
        delay(|delay| delay.p50.value),
        delay(|delay| delay.p99.value),
        delay(|delay| delay.max),
        point.cost.map_or("-".into(), |cost| number(cost.value)),
        point.cost.map_or("-".into(), interval),
    ]);
    let mut tables = vec![measured];
    if let Some(step) = point.step {
        let mut table = Table::new(
            format!(
                "Step response at the samples (final value {} of the reference)",
                number(step.target)
            ),
            &["overshoot %", "settling ms"],
        );
        table.row(vec![
            percent_number(step.overshoot),
            step.settling_s.map_or("> run".into(), |s| number(s * 1e3)),
        ]);
        tables.push(table);
    }
    if !point.predicted.is_empty() {
        let has_step = point.predicted.iter().any(|of| of.overshoot.is_some());
        let heads = [
            "delays of",
            "cycles",
            "cost",
            "expected 95 %",
            "measured",
            "overshoot %",
        ];
        let heads = &heads[..heads.len() - usize::from(!has_step)];
        let mut table = Table::new("Prediction from delays", heads);
        for predicted in &point.predicted {
            let mut row = vec![
                predicted.run.clone().unwrap_or_else(|| "this run".into()),
                grouped(predicted.cycles),
                predicted.cost.map_or("-".into(), |cost| number(cost.value)),
                predicted.cost.map_or("-".into(), interval),
                verdict(predicted).into(),
            ];
            if has_step {
                row.push(predicted.overshoot.map_or("-".into(), overshoot));
            }
            table.row(row);
        }
        tables.push(table);
    }
    tables
}

/// True of an interval that is wider than half of the value.
fn is_wide(of: Estimate) -> bool {
    let width = of.high.zip(of.low).map_or(0.0, |(high, low)| high - low);
    width > 0.5 * of.value
}

/// True of an interval that hardly any cost would be outside of.
fn is_too_wide(of: Estimate) -> bool {
    let width = of.high.zip(of.low).map_or(0.0, |(high, low)| high - low);
    width > of.value
}

fn interval(of: Estimate) -> String {
    match (of.low, of.high) {
        (Some(low), Some(high)) => format!("{} to {}", number(low), number(high)),
        _ => "-".into(),
    }
}

/// One value where lowest and highest are printed alike.
fn overshoot((low, high): (f64, f64)) -> String {
    match (percent_number(low), percent_number(high)) {
        (low, high) if low == high => low,
        (low, high) => format!("{low} to {high}"),
    }
}

fn verdict(predicted: &Predicted) -> &'static str {
    match predicted.is_within {
        Some(true) if predicted.cost.is_some_and(is_too_wide) => "inconclusive",
        Some(true) => "within",
        Some(false) => "outside",
        None => "-",
    }
}

/// What the figures amount to, in sentences.
pub(super) fn notes(point: &ControlSummary) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(cycle) = point.diverged_at {
        notes.push(format!(
            "The loop diverged: in cycle {} output or command exceeded 1e100, and the run ended.",
            grouped(cycle)
        ));
        return notes;
    }
    if point.clipped > 0 {
        notes.push(format!(
            "In {} cycles the command was at a limit; the predicted cost does not know limits.",
            grouped(point.clipped)
        ));
    }
    if point.step.is_some() && point.cost.is_some_and(|cost| cost.value > 0.0) {
        notes.push(
            "The measured step includes the noise of the plant, the predicted overshoot does not: for a step without \
             noise set the noise to 0 in the model of both ends."
                .into(),
        );
    }
    if point.cost.is_some_and(is_wide) {
        notes.push(
            "The interval of the cost is wide: a few moments of the run dominate it. Use a longer run; if the host delays \
             the loop, --priority and --pin."
                .into(),
        );
    }
    let is_still = point.cost.is_some_and(|cost| cost.value == 0.0);
    if is_still && point.step.is_none() {
        notes.push(
            "Nothing excites the loop. Give the plant noise (noise.input in the model of both ends, or --noise), or \
             use --step."
                .into(),
        );
    }
    let expects_none = |of: &&Predicted| of.cost.is_some_and(|cost| cost.value == 0.0);
    if !is_still && point.cost.is_some() && point.predicted.iter().any(|of| expects_none(&of)) {
        notes.push(
            "The predicted cost is 0, because the model has no noise. Give the noise of the plant: noise.input in the \
             file of --model, or --noise."
                .into(),
        );
    } else if !is_still {
        notes.extend(point.predicted.iter().filter_map(|of| sentence(point, of)));
    }
    notes
}

fn sentence(point: &ControlSummary, predicted: &Predicted) -> Option<String> {
    let measured = number(point.cost?.value);
    let of = match &predicted.run {
        None => "this run's own delays".into(),
        Some(run) => format!("the delays of {run}"),
    };
    let Some(cost) = predicted.cost else {
        return Some(format!(
            "From {of} an unbounded cost is predicted; {measured} was measured."
        ));
    };
    if predicted.is_within? && is_too_wide(cost) {
        return Some(format!(
            "The measured cost, {measured}, is within the 95 % interval predicted from {of}, {}, but so would be nearly any \
             other: use a longer run.",
            interval(cost)
        ));
    }
    let how = match predicted.is_within? {
        true => "within",
        false => "outside",
    };
    Some(format!(
        "The measured cost, {measured}, is {how} the 95 % interval predicted from {of}: {}.",
        interval(cost)
    ))
}
