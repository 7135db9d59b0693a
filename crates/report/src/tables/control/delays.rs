//! The delays that the verdicts are about.

use super::shown::{Assessed, Shown};
use crate::load::Taken;
use crate::tables::columns::Columns;
use crate::tables::table::Table;
use wiregauge_quantity::grouped;
use wiregauge_quantity::{exact_time, percent_number};

/// One row a point.
pub(super) fn table(shown: &Shown<'_>) -> Table {
    let has_deadline = shown.controls.rules.deadline_ns.is_some();
    // Beyond the deadline a response counts as lost.
    let lost = match has_deadline {
        true => ["lost or late %", "in a row"],
        false => ["lost %", "lost in a row"],
    };
    let from = match shown.controls.taken {
        Taken::AsScheduled => "from the intended start",
        Taken::Replayed | Taken::ReplayedFrom { .. } => "from the request",
    };
    let title = format!(
        "Delay of the command {from} in {}; cycles of {}",
        shown.unit.name(),
        exact_time(shown.controls.period_ns)
    );
    let mut columns = Columns::<Assessed<'_>>::new();
    columns.add("cycles", |(_, one)| grouped(one.delays.cycles as u64));
    columns.add("min", |(_, one)| shown.delay(one.delays.min_ns));
    columns.add("p50", |(_, one)| shown.delay(one.delays.median_ns));
    columns.add("p99", |(_, one)| shown.delay(one.delays.p99_ns));
    columns.add("max", |(_, one)| shown.delay(one.delays.max_ns));
    columns.add("> period %", |(_, one)| percent_number(one.delays.late));
    columns.add(lost[0], |(_, one)| percent_number(one.delays.lost));
    columns.add(lost[1], |(_, one)| grouped(one.delays.longest_loss as u64));
    shown.table(title, &columns)
}
