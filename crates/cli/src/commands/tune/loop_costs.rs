//! What each measured setting does to the control loop of the search.

use super::found::Found;
use wiregauge_quantity::{self as units, TimeUnit};
use wiregauge_record::{Figure, LoopFigure, Part, Times};
use wiregauge_report::tables::{Table, loop_figure};
use wiregauge_tune::Candidate;

/// Costs that differ by less are not worth a word.
const SAME: f64 = 0.02;

/// What the table says below it.
pub const NOTES: &str = "A probe is a short measurement of the search: its figures scatter. Only confirmed rows are reliable \
                         results.";

/// The setting with a lower cost than the chosen one in a probe, where the cost was to be minimised.
pub fn rival(found: &Found) -> Option<String> {
    let best = found.advice.best.as_ref().filter(|best| best.confirmed)?;
    if found.task.figure != Figure::Control(LoopFigure::Cost) {
        return None;
    }
    let cost = |at: &Candidate| Some(found.longest(at)?.0.control()?.cost?.value);
    let settings = found.settings();
    let lowest = settings.iter().filter_map(|at| Some((at, cost(at)?)));
    let (at, value) = lowest.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let is_clear = value < (1.0 - SAME) * best.objective.value;
    is_clear.then(|| {
        format!(
            "{} had a lower cost in a probe ({}), but was not chosen: one probe is too short to be sure. A larger --count makes \
             probes longer and allows more confirming runs.",
            found.task.name(at),
            loop_figure(LoopFigure::Cost, value)
        )
    })
}

/// The settings from the lowest cost on; `None` if the search is for no loop, or nothing was measured.
pub fn table(found: &Found) -> Option<Table> {
    found.task.control.as_ref()?;
    let chosen = found.advice.best.as_ref().map(|best| best.at);
    let mut rows: Vec<(f64, Vec<String>)> = Vec::new();
    let settings = found.settings();
    let median = Figure::Time(Times::FromIntended, Part::P50);
    let p99 = Figure::Time(Times::FromIntended, Part::P99);
    let of = |at: &Candidate, figure| Some(found.longest(at)?.0.figure(figure)?.value);
    let typical = settings.iter().filter_map(|at| of(at, median));
    let unit = TimeUnit::fitting(typical.fold(0.0, f64::max));
    for at in &settings {
        let (taken, confirmed) = found.longest(at)?;
        let control = taken.control()?;
        let time = |figure| of(at, figure).map_or("-".into(), |time| unit.show(time));
        let cost = |value: f64| loop_figure(LoopFigure::Cost, value);
        let interval = match control.cost.map(|cost| (cost.low, cost.high)) {
            None => "-".into(),
            Some((Some(low), Some(high))) => format!("{} to {}", cost(low), cost(high)),
            Some(_) => "?".into(),
        };
        let order = control.cost.map_or(f64::INFINITY, |cost| cost.value);
        rows.push((
            order,
            vec![
                found.task.name(at),
                time(median),
                time(p99),
                match (control.cost, control.growth) {
                    (Some(found), _) => cost(found.value),
                    (None, Some(_)) => "unbounded".into(),
                    (None, None) => "no response".into(),
                },
                interval,
                (control.growth)
                    .map_or("-".into(), |growth| loop_figure(LoopFigure::Growth, growth)),
                units::grouped(taken.n()),
                if confirmed { "confirmation" } else { "probe" }.into(),
                (chosen == Some(*at))
                    .then(|| "chosen".to_owned())
                    .into_iter()
                    .chain(found.unproven(at))
                    .collect::<Vec<_>>()
                    .join(", "),
            ],
        ));
    }
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let title = format!(
        "Cost of the control loop at each measured setting; response time from the intended start in {}",
        unit.name()
    );
    let heads = [
        "setting",
        "p50",
        "p99",
        "cost",
        "95 % CI",
        "growth",
        "cycles",
        "measured by",
        "",
    ];
    let mut table = Table::new(title, &heads);
    table.no_bound = "?: the run is too short for an interval";
    for (_, row) in rows {
        table.row(row);
    }
    Some(table)
}
