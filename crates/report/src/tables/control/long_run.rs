//! The verdict in the long run: random delays with the statistics of the trace.

use super::shown::Shown;
use super::words::growth;
use crate::tables::table::Table;
use wiregauge_control::{Assessment, Bursts, LongRun, Stated, Stationary};
use wiregauge_quantity::{number, time};

/// A loop whose disturbances decay at less than this part of the rate without delay is near the limit.
const NEAR: f64 = 0.1;

/// One row a point.
pub(super) fn table(shown: &Shown<'_>) -> Table {
    let title = "IN THE LONG RUN: random delays with the statistics of this trace";
    let heads = [
        "verdict",
        "RMS growth",
        "cost",
        "mean burst",
        "RMS growth in bursts",
        "cost in bursts",
    ];
    shown.table(title.into(), &heads, |_, assessment| {
        let Stated::Made(found) = &assessment.long_run else {
            let mut row = vec!["no statement".to_owned()];
            row.resize(heads.len(), "-".into());
            return row;
        };
        let mut row = vec![verdict(assessment).to_owned()];
        row.extend(of_stationary(&found.independent));
        match &found.bursts {
            Bursts::None => row.extend(["none", "-", "-"].map(String::from)),
            Bursts::Found { chain, long_run } => {
                row.push(format!("{:.1} cycles", chain.mean_burst));
                row.extend(of_stationary(long_run));
            }
            Bursts::NotComputed { chain, .. } => {
                row.push(format!("{:.1} cycles", chain.mean_burst));
                row.extend(["-", "-"].map(String::from));
            }
        }
        row
    })
}

/// It holds only if it does with the bursts too.
pub(super) fn verdict(assessment: &Assessment) -> &'static str {
    let Stated::Made(found) = &assessment.long_run else {
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

fn of_stationary(found: &Stationary) -> [String; 2] {
    [
        growth(found.growth.sqrt()),
        found.cost.map_or("unbounded".into(), number),
    ]
}

/// What the columns are.
pub(super) fn columns() -> &'static str {
    "Long run: growth of the RMS per cycle, below 1 the loop holds; for independent delays, and in bursts as \
     measured (a Markov chain of two states). Any order: the loop is proved to hold where the jitter, with what losses \
     add to it, is below the jitter margin; broken: a sequence within the range makes it grow. Margins: misses in a row \
     in any pattern, all other responses with the median delay."
}

/// Where independent delays mislead, and why there is no statement.
pub(super) fn notes(shown: &Shown<'_>) -> Vec<String> {
    shown
        .assessed()
        .filter_map(|(point, assessment)| {
            let place = shown.places.at(point.point.index);
            note(assessment).map(|text| format!("IN THE LONG RUN{place}: {text}"))
        })
        .collect()
}

fn note(assessment: &Assessment) -> Option<String> {
    let found = match &assessment.long_run {
        Stated::None { reason } => return Some(format!("no statement: {reason}.")),
        Stated::Made(found) => found,
    };
    match &found.bursts {
        Bursts::NotComputed { reason, .. } => {
            Some(format!("the bursts are not taken into account: {reason}."))
        }
        Bursts::Found { chain, .. } if found.differs => {
            let bad = match chain.edge_ns {
                Some(edge_ns) => format!("late (over {}) or lost responses", time(edge_ns as f64)),
                None => "lost responses".into(),
            };
            Some(format!(
                "{bad} come in bursts of {:.1} cycles on average, and that matters: the figures for independent \
                 delays do not apply.",
                chain.mean_burst
            ))
        }
        _ if is_near_limit(&found.independent, assessment) => {
            Some("the growth is so near to 1 that a longer run may decide otherwise.".into())
        }
        _ => None,
    }
}
