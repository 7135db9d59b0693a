//! The verdict on this trace: held or not, cost, step response, worst moment.

use super::shown::{Assessed, Shown};
use super::words::{growth, times};
use crate::load::ControlPoint;
use crate::tables::columns::Columns;
use crate::tables::table::Table;
use wiregauge_control::{ConstantDelay, OnTrace, StepFigures};
use wiregauge_quantity::{number, percent_number, time};

/// Whether the loop held.
pub(super) fn held(verdict: &OnTrace) -> bool {
    verdict.cost.is_some()
}

/// The verdict in words.
pub(super) fn verdict(found: &OnTrace) -> &'static str {
    match held(found) {
        true => "held",
        false => "did not hold",
    }
}

/// Verdict and cost, and the step response where there is one. What the loop does without delay is the same at all points.
pub(super) fn tables(shown: &Shown<'_>) -> Vec<Table> {
    let Some((_, first)) = shown.assessed().next() else {
        return Vec::new();
    };
    let mut tables = vec![verdicts(shown, &first.on_trace.no_delay)];
    tables.extend(steps(shown));
    tables
}

fn verdicts(shown: &Shown<'_>, no_delay: &ConstantDelay) -> Table {
    let marked = match shown.controls.lowest_cost {
        Some(_) => "; lowest cost: *",
        None => "",
    };
    let title = format!(
        "ON THIS TRACE: measured delays in their order (without delay: growth {} per cycle, cost {}){marked}",
        growth(no_delay.growth),
        of_constant(no_delay)
    );
    let mut columns = Columns::<Assessed<'_>>::new();
    columns.add("verdict", |(_, one)| verdict(&one.on_trace));
    columns.add("growth", |(_, one)| growth(one.on_trace.growth));
    columns.add("highest SD", |(_, one)| highest_cell(&one.on_trace));
    columns.add("cost", |(point, one)| {
        cost_cell(shown, point, &one.on_trace)
    });
    columns.some("95 % CI", |(_, one)| {
        let interval = one.on_trace.interval;
        one.on_trace.cost?;
        Some(interval.map_or("?".to_owned(), |interval| {
            format!("{} to {}", number(interval.low), number(interval.high))
        }))
    });
    columns.add("vs no delay", |(_, one)| to_no_delay(&one.on_trace));
    columns.add("median delay alone", |(_, one)| {
        of_constant(&one.on_trace.median_delay)
    });
    columns.some("equivalent delay", |(_, one)| {
        Some(time(one.on_trace.equal_delay_ns? as f64))
    });
    let mut table = shown.table(title, &columns);
    table.no_bound = "?: a tenth of the run is shorter than ten time constants of the loop (use a longer run), or a few cycles dominate the cost";
    table
}

/// The highest standard deviation of the output, as a multiple of that without delay; `None` if the loop did not hold, and
/// without noise, when the output has none.
pub(super) fn highest(verdict: &OnTrace) -> Option<f64> {
    let is_known = held(verdict) && verdict.no_delay.cost != Some(0.0);
    is_known.then_some(verdict.worst_ratio)
}

pub(super) fn highest_cell(verdict: &OnTrace) -> String {
    highest(verdict).map_or("-".into(), |ratio| times(ratio, 1.0))
}

/// The cost; the lowest is marked.
pub(super) fn cost_cell(shown: &Shown<'_>, point: &ControlPoint, verdict: &OnTrace) -> String {
    let is_lowest = shown.controls.lowest_cost == Some(point.point.index);
    let mark = if is_lowest { " *" } else { "" };
    let cost = verdict.cost.map(|cost| format!("{}{mark}", number(cost)));
    cost.unwrap_or("-".into())
}

/// The cost as a multiple of that without delay.
pub(super) fn to_no_delay(verdict: &OnTrace) -> String {
    let both = verdict.cost.zip(verdict.no_delay.cost);
    both.map_or("-".into(), |(cost, without)| times(cost, without))
}

pub(super) fn of_constant(delay: &ConstantDelay) -> String {
    delay.cost.map_or("unstable".into(), number)
}

fn steps(shown: &Shown<'_>) -> Option<Table> {
    let first = shown
        .assessed()
        .find_map(|(_, assessment)| assessment.on_trace.step.as_ref())?;
    let [overshoot, settling, error] = cells(&first.no_delay);
    let settling = match first.no_delay.settling_s {
        Some(_) => format!("settling {settling} ms"),
        None => settling,
    };
    let title = format!(
        "Step response on this trace (without delay: overshoot {overshoot} %, {settling}, int e^2 \
         {error})"
    );
    let mut columns = Columns::<Assessed<'_>>::new();
    let heads = ["overshoot %", "settling ms", "int e^2"];
    for (at, head) in heads.into_iter().enumerate() {
        let cell = move |figures: &StepFigures| cells(figures)[at].clone();
        columns.some(head, move |(_, one)| {
            Some(cell(&one.on_trace.step.as_ref()?.median))
        });
        columns.some("worst", move |(_, one)| {
            Some(cell(&one.on_trace.step.as_ref()?.worst))
        });
    }
    Some(shown.table(title, &columns))
}

/// Overshoot, settling time, integral of the squared error.
fn cells(figures: &StepFigures) -> [String; 3] {
    let settling = figures.settling_s.map(|seconds| number(seconds * 1e3));
    [
        // Less is rounding.
        percent_number(if figures.overshoot < 1e-9 {
            0.0
        } else {
            figures.overshoot
        }),
        settling.unwrap_or("not settled".into()),
        number(figures.squared_error),
    ]
}
