//! What other periods would cost: predicted, and marked as such wherever it is printed.

use super::shown::Shown;
use super::words::times;
use crate::load::{PredictedPeriod, Predictions};
use crate::tables::table::Table;
use wiregauge_command_line::quoted;
use wiregauge_control::Assessment;
use wiregauge_quantity::{exact_time, flag_time, number};
use wiregauge_record::{Connect, Plan, Point, Protocol, Wait};

/// Points of which a period is printed; those of the others are in the JSON.
const POINTS: usize = 6;

/// What `wiregauge exchange` waits for a response if it is not told.
const USUAL_TIMEOUT_NS: u64 = 1_000_000_000;

/// Under the table.
const NO_BOUND: &str = "?: the trace is too short for an interval";

/// The predictions that matter; `None` where there are none.
pub(super) fn table(shown: &Shown<'_>, predictions: &Predictions) -> Option<Table> {
    let heads = ["period", "cost", "95 % interval", "to measured"];
    let title = "PREDICTED, NOT MEASURED: cost rate at other periods";
    let mut table = shown.bare(title.into(), &heads);
    for one in periods(shown, predictions) {
        let interval = match (one.cost, one.interval) {
            (None, _) => "-".into(),
            (Some(_), None) => "?".into(),
            (Some(_), Some(interval)) => {
                format!("{} to {}", number(interval.low), number(interval.high))
            }
        };
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

/// What is worth measuring; and under it how predictions were made, and why some are missing.
pub(super) fn notes(
    shown: &Shown<'_>,
    plan: &Plan,
    predictions: &Predictions,
    flags: &[String],
) -> Vec<String> {
    let mut notes = Vec::new();
    if !predictions.periods.is_empty() {
        notes.push(match predictions.promising(shown.controls) {
            Some(one) => promising(shown, plan, one, flags),
            None => none_is_promising(shown, predictions),
        });
        notes.push(
            "Predicted periods: the requests of this run at another period, the PID controller discretised for it. The \
             cost is a rate per time, so that periods can be compared; the interval is that of the trace."
                .into(),
        );
    }
    notes.extend(predictions.no_periods.clone());
    notes
}

/// Of the point with the lowest cost half and twice the period and the one with the lowest cost; of others that one alone,
/// if it costs less than was measured.
fn periods<'a>(shown: &Shown<'_>, predictions: &'a Predictions) -> Vec<&'a PredictedPeriod> {
    let period_ns = shown.controls.period_ns;
    let mut first = shown.assessed().map(|(point, _)| point.point.index);
    let best = shown.controls.lowest_cost.or(first.next());
    let points = shown.assessed().map(|(point, _)| point.point.index);
    let mut found: Vec<&PredictedPeriod> = Vec::new();
    for (count, point) in points.enumerate() {
        let is_best = best == Some(point);
        if count >= POINTS && !is_best {
            continue;
        }
        let of_point = || predictions.periods.iter().filter(|one| one.point == point);
        let lowest = of_point().filter(|one| one.cost.is_some());
        let lowest = lowest.min_by(|a, b| order(a.cost).total_cmp(&order(b.cost)));
        // At other points only a period that lowers the cost is of interest.
        let lowest =
            lowest.filter(|one| is_best || one.to_measured.is_none_or(|ratio| ratio < 1.0));
        found.extend(of_point().filter(|one| {
            let is_usual = [period_ns / 2, period_ns * 2].contains(&one.period_ns);
            (is_best && is_usual) || lowest.is_some_and(|lowest| lowest.period_ns == one.period_ns)
        }));
    }
    found
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
        _ if predictions.periods.iter().all(|one| one.interval.is_none()) => {
            "Predicted: nothing is recommended, as the run is too short for intervals of the predicted costs.".into()
        }
        _ => "Predicted: none of the other periods is sure to lower the cost by more than 1 %.".into(),
    }
}

fn promising(shown: &Shown<'_>, plan: &Plan, one: &PredictedPeriod, flags: &[String]) -> String {
    let point = shown.point(one.point);
    let command = point.and_then(|point| command(plan, point, one.period_ns, flags));
    format!(
        "Predicted, not measured: a period of {} would cost {}, {} what was measured{}. Measure it{}",
        exact_time(one.period_ns),
        cost(one.cost),
        ratio(one.to_measured),
        shown.places.at(one.point),
        match command {
            Some(command) => format!(": {command}"),
            None => " with the flags of this run.".into(),
        }
    )
}

/// What measures a prediction and computes the loop; `None` where the run has queries of its own.
fn command(plan: &Plan, point: Point, period_ns: u64, flags: &[String]) -> Option<String> {
    let mut measure: Vec<String> =
        vec!["wiregauge".into(), "exchange".into(), plan.address.clone()];
    let mut flag = |name: &str, value: String| measure.extend([name.to_owned(), value]);
    match plan.protocol {
        Protocol::Wiregauge => {
            flag("--out", point.out_bytes.to_string());
            flag("--in", point.in_bytes.to_string());
        }
        Protocol::Echo => {
            flag("--protocol", "echo".into());
            flag("--out", point.out_bytes.to_string());
        }
        _ => return None,
    }
    flag("--depth", point.depth.to_string());
    flag("--interval", flag_time(period_ns));
    if plan.timeout_ns != USUAL_TIMEOUT_NS {
        flag("--timeout", flag_time(plan.timeout_ns));
    }
    if plan.connect == Connect::Each {
        flag("--connect", "each".into());
    }
    if plan.wait != Wait::Block {
        flag("--wait", plan.wait.name().into());
    }
    if let Some(baud) = plan.link.baud {
        flag("--baud", baud.to_string());
    }
    let mut control: Vec<String> = ["wiregauge", "control", "last"].map(str::to_owned).into();
    let mut given = flags.chunks_exact(2);
    control.extend(
        given
            .by_ref()
            .filter(|pair| pair[0] != "--period")
            .flatten()
            .cloned(),
    );
    control.extend(["--period".to_owned(), flag_time(period_ns)]);
    Some(format!("{} && {}", quoted(&measure), quoted(&control)))
}
