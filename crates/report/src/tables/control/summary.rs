//! The three verdicts and the cost of each point in one table: what is printed by default.

use super::finding;
use super::on_trace::{cost_cell, highest_cell, of_constant, to_no_delay, verdict};
use super::shown::{Assessed, Shown};
use super::{any_order, long_run};
use crate::tables::brief::Brief;
use crate::tables::columns::Columns;
use crate::tables::table::Table;
use wiregauge_control::OnTrace;

/// With heading and answer it fits a screen of 24 lines.
const MOST_ROWS: usize = 10;

/// Of a cost without an interval.
const NO_INTERVAL: &str =
    "~ no 95 % interval: the run is too short, or a few cycles dominate the cost";

/// The answer and the table.
pub(super) fn brief(shown: &Shown<'_>) -> Brief {
    let (table, rows) = table(shown);
    Brief::of_points(finding::answer(shown), table, shown.places, &rows)
}

/// With the indices of the points in its rows: those with the lowest cost, in the order of the run.
fn table(shown: &Shown<'_>) -> (Table, Vec<u32>) {
    let ranked = shown.controls.ranked();
    let without = ranked.first().map(|(_, one)| &one.on_trace.no_delay);
    let without = without.map_or("-".into(), of_constant);
    let marked = shown.controls.lowest_cost.map_or("", |_| "; lowest: *");
    let title = format!(
        "Verdicts; cost on this trace (without delay {without}{marked}), highest SD of the output"
    );
    let mut columns = Columns::<Assessed<'_>>::new();
    columns.add("on trace", |(_, one)| verdict(&one.on_trace));
    columns.add("long run", |(_, one)| long_run::verdict(one));
    columns.add("any order", |(_, one)| {
        any_order::verdict(&one.any_order.verdict)
    });
    columns.add("cost", |(point, one)| {
        let open = if has_no_interval(&one.on_trace) {
            " ~"
        } else {
            ""
        };
        cost_cell(shown, point, &one.on_trace) + open
    });
    columns.add("vs no delay", |(_, one)| to_no_delay(&one.on_trace));
    columns.add("highest SD", |(_, one)| highest_cell(&one.on_trace));
    let best = ranked.iter().take(MOST_ROWS);
    let best: Vec<u32> = best.map(|(point, _)| point.point.index).collect();
    let rows = shown.assessed();
    let rows: Vec<Assessed<'_>> = rows
        .filter(|(point, _)| best.contains(&point.point.index))
        .collect();
    let mut table = columns.table(title, shown.places, rows.iter().copied());
    if ranked.len() > MOST_ROWS {
        let all = ranked.len();
        let left_out = format!("{MOST_ROWS} of {all} points, those with the lowest costs");
        table.notes.push(left_out);
    }
    if rows.iter().any(|(_, one)| has_no_interval(&one.on_trace)) {
        table.notes.push(NO_INTERVAL.to_owned());
    }
    (
        table,
        rows.iter().map(|(point, _)| point.point.index).collect(),
    )
}

/// A cost of 0, without noise, has none either.
fn has_no_interval(on_trace: &OnTrace) -> bool {
    on_trace.interval.is_none() && on_trace.cost.is_some_and(|cost| cost > 0.0)
}
