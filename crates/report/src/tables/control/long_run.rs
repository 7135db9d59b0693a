//! The verdict in the long run: random delays with the statistics of the trace.

use super::shown::{Assessed, Shown};
use super::words::growth;
use crate::tables::columns::Columns;
use crate::tables::table::Table;
use wiregauge_control::{Assessment, Bursts, LongRun, Stated, Stationary};
use wiregauge_quantity::number;

/// A loop whose disturbances decay at less than this part of the rate without delay is near the limit.
const NEAR: f64 = 0.1;

/// One row a point.
pub(super) fn table(shown: &Shown<'_>) -> Table {
    let title = "IN THE LONG RUN: random delays with the statistics of this trace";
    let mut columns = Columns::<Assessed<'_>>::new();
    columns.add("verdict", |(_, one)| verdict(one));
    columns.some("RMS growth", |(_, one)| Some(rms(&made(one)?.independent)));
    columns.some("cost", |(_, one)| Some(cost(&made(one)?.independent)));
    columns.some("mean burst", |(_, one)| {
        Some(match &made(one)?.bursts {
            Bursts::None => "none".to_owned(),
            Bursts::Found { chain, .. } | Bursts::NotComputed { chain, .. } => {
                format!("{:.1} cycles", chain.mean_burst)
            }
        })
    });
    columns.some("RMS growth in bursts", |(_, one)| {
        Some(rms(in_bursts(made(one)?)?))
    });
    columns.some("cost in bursts", |(_, one)| {
        Some(cost(in_bursts(made(one)?)?))
    });
    shown.table(title, &columns)
}

/// The statement, if there is one.
fn made(assessment: &Assessment) -> Option<&LongRun> {
    match &assessment.long_run {
        Stated::Made(found) => Some(found),
        Stated::None { .. } => None,
    }
}

fn rms(found: &Stationary) -> String {
    growth(found.growth.sqrt())
}

fn cost(found: &Stationary) -> String {
    found.cost.map_or("unbounded".into(), number)
}

/// It holds only if it does with the bursts too.
pub(super) fn verdict(assessment: &Assessment) -> &'static str {
    let Some(found) = made(assessment) else {
        return "no statement";
    };
    let all = [Some(&found.independent), in_bursts(found)];
    let mut all = all.into_iter().flatten();
    if !all.clone().all(|one| one.growth < 1.0) {
        return "does not hold";
    }
    match all.any(|one| is_near_limit(one, assessment)) {
        true => "near the limit",
        false => "holds",
    }
}

/// A slow loop has a growth near 1 without any delay: only what the delays do to it counts.
fn is_near_limit(found: &Stationary, assessment: &Assessment) -> bool {
    let without = assessment.on_trace.no_delay.growth.powi(2);
    found.is_near_limit && 1.0 - found.growth < NEAR * (1.0 - without)
}

pub(super) fn in_bursts(found: &LongRun) -> Option<&Stationary> {
    match &found.bursts {
        Bursts::Found { long_run, .. } => Some(long_run),
        Bursts::None | Bursts::NotComputed { .. } => None,
    }
}

/// Why there is no statement, or none of bursts.
pub(super) fn notes(shown: &Shown<'_>) -> Vec<String> {
    let notes = shown.assessed().filter_map(|(point, assessment)| {
        let note = match &assessment.long_run {
            Stated::None { reason } => format!("no statement: {reason}."),
            Stated::Made(found) => match &found.bursts {
                Bursts::NotComputed { reason, .. } => {
                    format!("the bursts are not taken into account: {reason}.")
                }
                Bursts::None | Bursts::Found { .. } => return None,
            },
        };
        let place = shown.places.at(point.point.index);
        Some(format!("IN THE LONG RUN{place}: {note}"))
    });
    notes.collect()
}
