//! The delays that the verdicts are about.

use super::shown::Shown;
use crate::load::Taken;
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
    let heads = [
        "cycles",
        "min",
        "p50",
        "p99",
        "max",
        "> period %",
        lost[0],
        lost[1],
    ];
    let from = match shown.controls.taken {
        Taken::AsScheduled => "from the intended start",
        Taken::Replayed | Taken::ReplayedFrom { .. } => "from the request",
    };
    let title = format!(
        "Delay of the command {from} in {}; cycles of {}",
        shown.unit.name(),
        exact_time(shown.controls.period_ns)
    );
    shown.table(title, &heads, |_, assessment| {
        let delays = &assessment.delays;
        vec![
            grouped(delays.cycles as u64),
            shown.delay(delays.min_ns),
            shown.delay(delays.median_ns),
            shown.delay(delays.p99_ns),
            shown.delay(delays.max_ns),
            percent_number(delays.late),
            percent_number(delays.lost),
            grouped(delays.longest_loss as u64),
        ]
    })
}
