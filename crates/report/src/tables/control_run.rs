//! A control loop over a link: its cycles, its delays, its cost and step, and what was predicted.

use super::brief::{Brief, sentence_of};
use super::columns::Columns;
use super::heading::host;
use super::table::Table;
use wiregauge_quantity::{TimeUnit, exact_time, grouped};
use wiregauge_quantity::{number, percent, percent_number, time};
use wiregauge_record::{ControlSummary, Predicted};
use wiregauge_run::{Control, RunFile};
use wiregauge_stats::{Distribution, Estimate};

/// Of a predicted cost without a bound.
const UNBOUNDED: &str = "unbounded";

/// What was run, and the host.
pub(super) fn heading(file: &RunFile<Control>) -> Vec<String> {
    let plan = &file.plan;
    let model = match plan.model.words.as_str() {
        "" => String::new(),
        words => format!("{words}, "),
    };
    let mut line = format!(
        "{}, control loop: {model}period {}, {} cycles",
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
    let mut lines = vec![line];
    lines.extend(host(&file.conditions, ""));
    lines
}

/// The result in one sentence and one table.
pub(super) fn brief(points: &[ControlSummary]) -> Brief {
    let none = || sentence_of(["no point was finished".to_owned()]);
    let answer = points.first().map_or_else(none, answer);
    Brief::of_tables(answer, points.iter().map(measured))
}

/// Whether the cost is as predicted; the step; delays and missing replies.
fn answer(point: &ControlSummary) -> String {
    let step = point.step.map(|step| {
        let settled = match step.settling_s {
            Some(settling_s) => format!("settled after {}", time(settling_s * 1e9)),
            None => "not settled within the run".into(),
        };
        format!("overshoot {}, {settled}", percent(step.overshoot))
    });
    let delay = point.delay.as_ref().map(|delay| {
        let (median, longest) = (time(delay.p50.value), time(delay.max));
        format!("median delay {median}, longest {longest}")
    });
    let unsent = match point.unsent {
        0 => String::new(),
        unsent => format!(", {} unsent", grouped(unsent)),
    };
    let silent = format!("{} unanswered{unsent}", grouped(unanswered(point)));
    let parts = [outcome(point)].into_iter().chain(step).chain(delay);
    sentence_of(parts.chain([silent]))
}

/// The cost beside what was predicted.
fn outcome(point: &ControlSummary) -> String {
    if let Some(cycle) = point.diverged_at {
        return format!("the loop diverged in cycle {}", grouped(cycle));
    }
    let Some(cost) = point.cost else {
        return "too few cycles for a cost".into();
    };
    let measured = format!("cost {}", number(cost.value));
    if is_still(point) {
        return match point.step {
            Some(_) => format!("{measured} before the step"),
            None => {
                "nothing excites the loop: use --noise 1 with serve and here, or --step 1".into()
            }
        };
    }
    if point.predicted.iter().any(expects_none) {
        return format!("{measured}; the predicted cost is 0, because the model has no noise");
    }
    let beside = ["within", "outside", "inconclusive", UNBOUNDED].map(|found| {
        let of = (point.predicted.iter()).filter(|of| is_found(of, found));
        let of: Vec<String> = of.map(delays_of).collect();
        let of = of.join(" and ");
        match found {
            _ if of.is_empty() => String::new(),
            "within" | "outside" => format!(", {found} the prediction from {of}"),
            _ => format!(", the prediction from {of} is {found}"),
        }
    });
    measured + &beside.concat()
}

/// True of a prediction of which this was found.
fn is_found(of: &Predicted, found: &str) -> bool {
    match of.cost {
        Some(_) => verdict(of) == found,
        None => found == UNBOUNDED,
    }
}

/// Samples and commands without a reply in time: lost or late, which the cycles do not tell apart.
fn unanswered(point: &ControlSummary) -> u64 {
    point.samples_lost + point.commands_lost
}

/// True if the loop stayed at rest.
fn is_still(point: &ControlSummary) -> bool {
    point.cost.is_some_and(|cost| cost.value == 0.0)
}

/// True of a prediction from a model without noise.
fn expects_none(of: &Predicted) -> bool {
    of.cost.is_some_and(|cost| cost.value == 0.0)
}

/// Whose delays a prediction is from.
fn delays_of(predicted: &Predicted) -> String {
    match &predicted.run {
        None => "this run's delays".into(),
        Some(run) => format!("the delays of {run}"),
    }
}

/// Every table that has something to say.
pub(super) fn tables(point: &ControlSummary) -> Vec<Table> {
    let mut tables = vec![measured(point)];
    tables.extend(step(point));
    tables.extend(predictions(point));
    tables
}

fn measured(point: &ControlSummary) -> Table {
    let unit = TimeUnit::fitting(point.delay.as_ref().map_or(1e6, |delay| delay.p50.value));
    let title = format!(
        "Delay from sample to command in {}, cost at the samples",
        unit.name()
    );
    let mut columns = Columns::<&ControlSummary>::new();
    columns.add("cycles", |point| grouped(point.cycles));
    columns.add("unanswered", |point| grouped(unanswered(point)));
    columns.add("unsent", |point| grouped(point.unsent));
    let mut delay = |head: &str, of: fn(&Distribution) -> f64| {
        columns.some(head, move |point| {
            Some(unit.show(of(point.delay.as_ref()?)))
        });
    };
    delay("p50", |delay| delay.p50.value);
    delay("p99", |delay| delay.p99.value);
    delay("max", |delay| delay.max);
    columns.some("cost", |point| Some(number(point.cost?.value)));
    columns.some("95 % CI", |point| Some(interval(point.cost?)));
    columns.of_rows(title, [point])
}

fn step(point: &ControlSummary) -> Option<Table> {
    let step = point.step?;
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
    Some(table)
}

fn predictions(point: &ControlSummary) -> Option<Table> {
    point.predicted.first()?;
    let mut columns = Columns::<&Predicted>::new();
    columns.add("delays of", |of| {
        of.run.clone().unwrap_or_else(|| "this run".into())
    });
    columns.add("cycles", |of| grouped(of.cycles));
    columns.some("cost", |of| Some(number(of.cost?.value)));
    columns.some("expected 95 %", |of| Some(interval(of.cost?)));
    columns.add("measured", verdict);
    if point.predicted.iter().any(|of| of.overshoot.is_some()) {
        columns.some("overshoot %", |of| Some(overshoot(of.overshoot?)));
    }
    Some(columns.of_rows("Prediction from delays", &point.predicted))
}

/// True of an interval that hardly any cost would be outside of.
fn is_too_wide(of: Estimate) -> bool {
    let bounds = of.low.zip(of.high);
    bounds.is_some_and(|(low, high)| high - low > of.value)
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
        None if is_worth_few(predicted) => "inconclusive",
        None => "-",
    }
}

/// True where the measured cost is worth too few independent samples for an interval.
fn is_worth_few(predicted: &Predicted) -> bool {
    let independent = predicted.independent;
    independent.is_some_and(|worth| worth < Predicted::FEWEST_INDEPENDENT)
}

/// What the tables do not show.
pub(super) fn notes(point: &ControlSummary) -> Vec<String> {
    let mut notes = Vec::new();
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
    let is_open = |of: &Predicted| verdict(of) == "inconclusive";
    if !is_still(point) && point.predicted.iter().any(is_open) {
        notes.push(format!(
            "inconclusive: the measured cost is worth fewer than {} independent samples, or the expected interval is wider \
             than the cost: use a longer run.",
            Predicted::FEWEST_INDEPENDENT
        ));
    }
    notes
}
