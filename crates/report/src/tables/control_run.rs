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

/// Whether the cost is as predicted; the step; delays and losses.
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
    let lost = format!("{} lost{unsent}", grouped(lost(point)));
    let parts = [outcome(point)].into_iter().chain(step).chain(delay);
    sentence_of(parts.chain([lost]))
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

/// Samples and commands without a reply.
fn lost(point: &ControlSummary) -> u64 {
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
    columns.add("lost", |point| grouped(lost(point)));
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

/// The width of an interval as a part of its value.
fn width(of: Estimate) -> f64 {
    of.high.zip(of.low).map_or(0.0, |(high, low)| high - low) / of.value
}

/// True of an interval that hardly any cost would be outside of.
fn is_too_wide(of: Estimate) -> bool {
    width(of) > 1.0
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
        None if too_few(predicted).is_some() => "inconclusive",
        None => "-",
    }
}

/// The independent samples that the measured cost is worth, where they are too few for an interval.
fn too_few(predicted: &Predicted) -> Option<f64> {
    let independent = predicted.independent;
    independent.filter(|worth| *worth < Predicted::FEWEST_INDEPENDENT)
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
    if point.cost.is_some_and(|cost| width(cost) > 0.5) {
        notes.push("The interval of the cost is wide: use a longer run.".into());
    }
    let is_still = is_still(point);
    if is_still && point.step.is_none() {
        notes.push(
            "The cost is 0, because nothing excites the loop. Give the plant noise at both ends (noise.input in the \
             model, or --noise of serve and of loop-control), or use --step."
                .into(),
        );
    }
    if !is_still && point.cost.is_some() && point.predicted.iter().any(expects_none) {
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
    let of = delays_of(predicted);
    let Some(cost) = predicted.cost else {
        return Some(format!(
            "From {of} an unbounded cost is predicted; {measured} was measured."
        ));
    };
    if let Some(independent) = too_few(predicted) {
        return Some(format!(
            "The measured cost, {measured}, is worth {} independent samples, too few ({} needed) to compare it with the \
             prediction from {of}, {}: use a longer run.",
            independent.floor(),
            Predicted::FEWEST_INDEPENDENT,
            number(cost.value)
        ));
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_record::{ControlPoint, Ending, MeasuredStep};

    fn predicted(run: Option<&str>, is_within: bool) -> Predicted {
        Predicted {
            run: run.map(str::to_owned),
            cycles: 1000,
            cost: Some(Estimate {
                value: 0.06,
                low: Some(0.055),
                high: Some(0.07),
            }),
            independent: Some(400.0),
            is_within: Some(is_within),
            overshoot: None,
        }
    }

    fn summary() -> ControlSummary {
        ControlSummary {
            point: ControlPoint::default(),
            ending: Ending::Complete,
            cycles: 1000,
            samples_lost: 2,
            commands_lost: 1,
            overtaken: 0,
            unsent: 2,
            delay: None,
            left_out: 200,
            cost: Some(Estimate {
                value: 0.065,
                low: Some(0.05),
                high: Some(0.08),
            }),
            step: None,
            diverged_at: None,
            clipped: 0,
            predicted: vec![predicted(None, true), predicted(Some("there"), false)],
        }
    }

    #[test]
    fn the_cost_is_within_or_outside_of_what_was_predicted() {
        let brief = brief(&[summary()]);
        assert_eq!(
            brief.answer,
            "Cost 0.06500, within the prediction from this run's delays, outside the prediction from the delays of \
             there; 3 lost, 2 unsent."
        );
        assert_eq!(brief.tables(100).count(), 1);
    }

    #[test]
    fn a_cost_that_is_worth_few_independent_samples_is_not_compared() {
        let mut point = summary();
        point.predicted.pop();
        let predicted = &mut point.predicted[0];
        (predicted.independent, predicted.is_within) = (Some(7.6), None);
        predicted.cost = Some(Estimate {
            value: 0.06,
            low: None,
            high: None,
        });
        let said = "Cost 0.06500, the prediction from this run's delays is inconclusive; 3 lost, 2 unsent.";
        assert_eq!(answer(&point), said);
        let table = predictions(&point).expect("a prediction");
        assert_eq!(
            table.rows[0],
            ["this run", "1,000", "0.06000", "-", "inconclusive"]
        );
        let last = notes(&point).pop().expect("a sentence");
        assert!(last.contains("worth 7 independent samples"), "{last}");
    }

    #[test]
    fn a_step_has_its_overshoot_and_a_loop_that_diverged_its_cycle() {
        let mut point = summary();
        point.predicted.pop();
        point.step = Some(MeasuredStep {
            target: 1.0,
            overshoot: 0.557,
            settling_s: None,
        });
        assert_eq!(
            answer(&point),
            "Cost 0.06500, within the prediction from this run's delays; overshoot 55.7 %, not settled within the run; \
             3 lost, 2 unsent."
        );
        let still = Estimate {
            value: 0.0,
            low: Some(0.0),
            high: Some(0.0),
        };
        (point.cost, point.step) = (Some(still), None);
        assert_eq!(
            answer(&point),
            "Nothing excites the loop: use --noise 1 with serve and here, or --step 1; 3 lost, 2 unsent."
        );
        (point.diverged_at, point.cost) = (Some(1234), None);
        let diverged = "The loop diverged in cycle 1,234; 3 lost, 2 unsent.";
        assert_eq!(answer(&point), diverged);
        assert_eq!(brief(&[]).answer, "No point was finished.");
    }
}
