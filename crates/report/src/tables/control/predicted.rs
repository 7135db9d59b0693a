//! What other periods would cost: predicted, and marked as such wherever it is printed.

use super::shown::Shown;
use super::words::times;
use crate::load::{PredictedPeriod, Predictions};
use crate::tables::table::Table;
use wiregauge_control::Assessment;
use wiregauge_quantity::{exact_time, number};

/// Points of which a period is printed; those of the others are in the JSON.
const POINTS: usize = 6;

/// Under the table.
const NO_BOUND: &str = "?: the trace is too short for an interval";

/// The predictions that matter; `None` where there are none.
pub(super) fn table(shown: &Shown<'_>, predictions: &Predictions) -> Option<Table> {
    let heads = ["period", "cost", "95 % interval", "to measured"];
    let title = "PREDICTED, NOT MEASURED: cost rate at other periods";
    let mut table = shown.bare(title.into(), &heads);
    for one in periods(shown, predictions) {
        let interval = one.interval.map_or("?".into(), |interval| {
            format!("{} to {}", number(interval.low), number(interval.high))
        });
        let mut row = shown.places.cells(one.point);
        row.extend([
            exact_time(one.period_ns),
            cost(one.cost),
            interval,
            ratio(one.to_measured),
        ]);
        table.row(row);
    }
    table.no_bound = NO_BOUND;
    (!table.rows.is_empty()).then_some(table)
}

/// What is worth measuring; and why some predictions are missing.
pub(super) fn notes(shown: &Shown<'_>, predictions: &Predictions) -> Vec<String> {
    let has_some = !predictions.periods.is_empty();
    let worth = has_some.then(|| match predictions.promising(shown.controls) {
        Some(one) => promising(shown, one),
        None => none_is_promising(shown, predictions),
    });
    worth
        .into_iter()
        .chain(predictions.no_periods.clone())
        .collect()
}

/// Of each of the first points the period with the lowest cost, if that is lower than what was measured.
fn periods<'a>(shown: &Shown<'_>, predictions: &'a Predictions) -> Vec<&'a PredictedPeriod> {
    let points = shown.assessed().take(POINTS);
    let lowest = points.filter_map(|(point, _)| {
        let of_point = predictions.periods.iter();
        let of_point = of_point.filter(|one| one.point == point.point.index && one.cost.is_some());
        of_point.min_by(|a, b| order(a.cost).total_cmp(&order(b.cost)))
    });
    lowest
        .filter(|one| one.to_measured.is_none_or(|ratio| ratio < 1.0))
        .collect()
}

fn order(cost: Option<f64>) -> f64 {
    cost.unwrap_or(f64::INFINITY)
}

fn cost(cost: Option<f64>) -> String {
    cost.map_or("unbounded".into(), number)
}

fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or("-".into(), |ratio| times(ratio, 1.0))
}

/// Why nothing is recommended; where the loop did not hold, what would make it hold.
fn none_is_promising(shown: &Shown<'_>, predictions: &Predictions) -> String {
    let has_cost = |of: &Assessment| of.on_trace.cost.is_some();
    let is_measured = shown.assessed().any(|(_, one)| has_cost(one));
    let by_cost =
        |a: &&PredictedPeriod, b: &&PredictedPeriod| order(a.cost).total_cmp(&order(b.cost));
    let bounded = predictions.periods.iter().filter(|one| one.cost.is_some());
    match bounded.min_by(by_cost) {
        Some(one) if !is_measured => format!(
            "Predicted, not measured: with a period of {} the loop would hold, at a cost of {}{}.",
            exact_time(one.period_ns),
            cost(one.cost),
            shown.places.at(one.point)
        ),
        _ => "Predicted: none of the other periods is sure to lower the cost by more than 1 %."
            .into(),
    }
}

fn promising(shown: &Shown<'_>, one: &PredictedPeriod) -> String {
    format!(
        "Predicted, not measured: a period of {} would cost {}, {} what was measured{}. Measure it with the flags of this run.",
        exact_time(one.period_ns),
        cost(one.cost),
        ratio(one.to_measured),
        shown.places.at(one.point)
    )
}
