//! The verdict in any order, and the margins: misses in a row, constant delay.

use super::shown::{Assessed, Shown};
use super::words::growth;
use crate::tables::columns::Columns;
use crate::tables::table::Table;
use wiregauge_control::{AnyOrder, Assessment, Misses, OnMiss, Stated, Verdict};
use wiregauge_quantity::time;

/// Runs of equal delays that are printed of a pattern.
const MOST_RUNS: usize = 16;

/// One row a point.
pub(super) fn table(shown: &Shown<'_>) -> Table {
    let title = "IN ANY ORDER: every sequence of delays within the range that was seen";
    let mut columns = Columns::<Assessed<'_>>::new();
    columns.add("verdict", |(_, one)| verdict(&one.any_order.verdict));
    columns.add("jitter incl. losses", |(_, one)| {
        let demanded_s = one.any_order.demanded_s;
        demanded_s.map_or("not covered".into(), of_seconds)
    });
    columns.add("jitter margin", |(_, one)| {
        of_seconds(one.any_order.margin.margin_s)
    });
    shown.table(title, &columns)
}

pub(super) fn verdict(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Proved => "proved",
        Verdict::NotProved { .. } => "not proved",
        Verdict::Broken(_) => "broken",
    }
}

pub(super) fn of_seconds(seconds: f64) -> String {
    match seconds.is_finite() {
        true => time(seconds * 1e9),
        false => "unlimited".into(),
    }
}

/// Misses in a row and the margin for a constant delay.
pub(super) fn margins(shown: &Shown<'_>) -> Option<Table> {
    let (_, first) = shown.assessed().next()?;
    let margin = first.delay_margin;
    let constant = match margin.margin_s {
        Some(margin_s) => format!(
            "unstable from a constant delay of {} on",
            of_seconds(margin_s)
        ),
        None => format!(
            "stable with every constant delay up to {}",
            of_seconds(margin.tried_s)
        ),
    };
    let title = format!("Margins: {constant}; misses in a row");
    let mut columns = Columns::<Assessed<'_>>::new();
    columns.some("seen", |(_, one)| Some(made(one)?.longest_seen));
    columns.add("proved up to", |(_, one)| match made(one) {
        None => "not covered".to_owned(),
        Some(Misses { proved, tried, .. }) => match proved {
            None => "unstable".to_owned(),
            Some(proved) if proved == tried => format!("{proved} (more not tried)"),
            Some(proved) => proved.to_string(),
        },
    });
    columns.some("broken by", |(_, one)| {
        Some(made(one)?.broken.as_ref()?.in_a_row)
    });
    Some(shown.table(title, &columns))
}

/// What is known of misses in a row, if they are covered.
fn made(assessment: &Assessment) -> Option<&Misses> {
    match &assessment.misses {
        Stated::Made(found) => Some(found),
        Stated::None { .. } => None,
    }
}

/// Patterns that break the loop, and what no proof covers.
pub(super) fn notes(shown: &Shown<'_>) -> Vec<String> {
    let each = shown.assessed().flat_map(|(point, assessment)| {
        let place = shown.places.at(point.point.index);
        let order = of_order(&assessment.any_order, shown.controls.rules.on_miss);
        let order = order.map(|text| format!("IN ANY ORDER{place}: {text}"));
        let misses = of_misses(assessment).map(|text| format!("Misses in a row{place}: {text}"));
        [order, misses].into_iter().flatten()
    });
    each.collect()
}

fn of_order(found: &AnyOrder, on_miss: OnMiss) -> Option<String> {
    match &found.verdict {
        Verdict::Broken(cycle) => Some(match &cycle.delays[..] {
            [Some(delay_ns)] => format!(
                "the loop is unstable with a constant delay of {}.",
                time(*delay_ns as f64)
            ),
            delays => format!(
                "the loop grows by {} per cycle if these delays repeat: {}.",
                growth(cycle.growth),
                pattern(delays)
            ),
        }),
        Verdict::NotProved { is_covered: false } => Some(format!(
            "no proof covers {} with delays that vary.",
            match on_miss {
                OnMiss::Skip => "a controller that does not run in a miss",
                _ => "a miss that sets the command to zero",
            }
        )),
        Verdict::NotProved { .. } | Verdict::Proved => None,
    }
}

/// Why nothing is stated of misses; what breaks the loop is in the table.
fn of_misses(assessment: &Assessment) -> Option<String> {
    match &assessment.misses {
        Stated::None { reason } => Some(format!("{reason}.")),
        Stated::Made(_) => None,
    }
}

/// `2 x lost, 4.000 ms`.
fn pattern(delays: &[Option<u64>]) -> String {
    let runs = delays.chunk_by(|a, b| a == b).map(|run| {
        let delay = run[0].map_or("lost".into(), |ns| time(ns as f64));
        match run.len() {
            1 => delay,
            count => format!("{count} x {delay}"),
        }
    });
    let runs: Vec<String> = runs.collect();
    let mut text = runs[..runs.len().min(MOST_RUNS)].join(", ");
    if runs.len() > MOST_RUNS {
        text += ", ...";
    }
    text
}
