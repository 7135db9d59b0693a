//! What a search found: the run that confirmed its choice, and the trade-offs of latency and throughput.

use super::columns::Columns;
use super::table::Table;
use crate::load::{Confirmed, Tuned, TunedRow};
use wiregauge_quantity::{RateUnit, TimeUnit, grouped, of_unit, significant, time};
use wiregauge_record::{Figure, Unit};
use wiregauge_stats::Estimate;

const KNEE: &str = "knee: the highest ratio of throughput to latency";

/// What a row of a probe is worth beside a confirmed one.
const PROBES: &str = "A probe is a short measurement of the search: its figures scatter, and may exceed the limit of \
                      the link. Only confirmed rows are reliable results.";

/// The choice, and, if there are several, the trade-offs.
pub fn of_tuned(tuned: &Tuned) -> Vec<Table> {
    let choice = tuned.best.iter().map(|best| proof(tuned, best));
    let front = (tuned.front.len() > 1).then(|| trade_offs(tuned));
    choice.chain(front).collect()
}

/// The objective and each constraint by the run that confirmed the choice.
fn proof(tuned: &Tuned, best: &Confirmed) -> Table {
    let amount = match (best.exchanges, best.milliseconds) {
        (Some(exchanges), _) => format!("{} exchanges", grouped(exchanges)),
        (None, milliseconds) => time(milliseconds.unwrap_or(0) as f64 * 1e6),
    };
    let is_proven = best.constraints.iter().all(|limit| limit.verdict == "met");
    let title = match (best.confirmed, is_proven) {
        (true, true) => format!("Confirmed by a new run of {amount}"),
        (true, false) => format!("Measured again by a new run of {amount}"),
        (false, _) => format!(
            "Not confirmed: the value is from a search probe of {amount}, which is biased towards the best"
        ),
    };
    let columns = ["figure", "required", "measured", "95 % from", "to", ""];
    let mut table = Table::new(title, &columns);
    table.no_bound =
        "?: too few independent samples for a 95 % interval, or drift; use a longer --confirm";
    let sense = match tuned.objective.sense.as_str() {
        "maximise" => "largest",
        _ => "smallest",
    };
    let figure = &tuned.objective.figure;
    let objective = cells(figure, figure, sense, Some(&best.objective));
    table.row(objective.into_iter().chain([String::new()]).collect());
    for limit in &best.constraints {
        let at = limit.text.find(['<', '>', '=']);
        let (name, required) = limit.text.split_at(at.unwrap_or(limit.text.len()));
        let cells = cells(name.trim(), &limit.figure, required, limit.found.as_ref());
        let verdict = match limit.verdict.as_str() {
            "violated" => "missed",
            verdict => verdict,
        };
        table.row(cells.into_iter().chain([verdict.to_owned()]).collect());
    }
    table
}

/// Name, requirement, value and bounds of a figure; what was seen and tells no more than that has no bounds.
fn cells(name: &str, figure: &str, required: &str, found: Option<&Estimate>) -> [String; 5] {
    let figure = Figure::parse(figure);
    let limit = required.trim_start_matches(['<', '>', '=']).trim();
    // A problem is limited as a share, or as a whole number of cases.
    let unit = match figure.map(Figure::unit) {
        Some(Unit::Share) if limit.parse::<u64>().is_ok() => Some(Unit::Count),
        unit => unit,
    };
    let shown = |value: f64| match unit {
        Some(unit) => of_unit(unit, value),
        None => significant(value),
    };
    let bound = |bound: Option<f64>| bound.map_or("?".into(), shown);
    let is_bare = unit == Some(Unit::Count) || figure.is_some_and(Figure::is_bare);
    let none = || "-".to_owned();
    let (value, low, high) = match found {
        None => (none(), none(), none()),
        Some(found) if is_bare || (found.low == Some(found.value) && found.high == found.low) => {
            (shown(found.value), none(), none())
        }
        Some(found) => (shown(found.value), bound(found.low), bound(found.high)),
    };
    [name.to_owned(), required.to_owned(), value, low, high]
}

/// The settings that no other measured one beats in both latency and throughput, the chosen one, and the best of each way to
/// wait and to connect.
fn trade_offs(tuned: &Tuned) -> Table {
    let rows = &tuned.front;
    let unit = TimeUnit::fitting(rows[rows.len() / 2].latency_ns.value);
    let rate = RateUnit::fitting(rows.iter().map(TunedRow::throughput).fold(0.0, f64::max));
    let (times, mean, second) = match tuned.kind.as_str() {
        "stream" => ("transfer time", "mean time", "transfers/s"),
        _ => ("RTT", "mean RTT", "exchanges/s"),
    };
    let way = match tuned.objective.carried.as_deref() {
        Some("in") => "IN",
        Some("out") => "OUT",
        _ => "in both directions",
    };
    let mut columns = Columns::<&TunedRow>::new();
    columns.add("setting", |row| row.name.clone());
    columns.add(mean, |row| unit.show(row.latency_ns.value));
    columns.some("p99", |row| Some(unit.show(row.latency_p99_ns?.value)));
    columns.add(rate.name(), |row| rate.show(row.throughput()));
    columns.add(second, |row| significant(row.per_second));
    columns.add("n", |row| grouped(row.n));
    columns.add("measured by", |row| match row.confirmed {
        true => "confirmation",
        false => "probe",
    });
    columns.add("note", TunedRow::note);
    let mut table = columns.of_rows(
        format!(
            "Best measured trade-offs of latency and throughput, and the chosen setting; {times} in {}, throughput {way}",
            unit.name()
        ),
        rows,
    );
    table.notes.push(KNEE.into());
    if rows.iter().any(|row| !row.confirmed) {
        table.notes.push(PROBES.into());
    }
    table
}
