//! `wiregauge exchange`: measure, store, print.

use super::measure::Measurement;
use super::tune::shown;
use super::{plan, printed};
use crate::Outcome;
use crate::args::ExchangeArgs;
use crate::caller::Session;
use crate::constraint::Constraint;
use crate::output::progress::Extent;
use std::time::Duration;
use wiregauge_measure::exchange;
use wiregauge_measure::multi_link::{Divisible, Turn};
use wiregauge_record::{Limit, PointSummary};
use wiregauge_run::{Exchange, RunFile};

/// Runs the command.
pub fn run(args: &ExchangeArgs, session: &Session<'_>) -> anyhow::Result<Outcome> {
    let plan = plan::of_exchange(args);
    let links = plan.links().count();
    for link in 0..links {
        exchange::check(&plan.part(&Turn { link, gate: None }))?;
    }
    let measurement = Measurement::<Exchange> {
        links,
        points: plan.points.len(),
        extent: match plan.limit {
            Limit::Count(_) => Extent::Rows(plan.exchanges_per_point().unwrap_or(1)),
            Limit::DurationNs(ns) => Extent::Time(Duration::from_nanos(ns)),
        },
        plan,
        keep: &args.keep,
        csv: args.csv.as_deref(),
        with_data: args.keep_data,
        look: args.look,
        is_empty,
        print: printed::exchange,
    };
    measurement.run(
        session,
        |plan, stop, sink| exchange::run(plan, stop, sink),
        |file| missed(args, file),
    )
}

/// True if no exchange was answered and none was measured.
fn is_empty(file: &RunFile) -> bool {
    file.points
        .iter()
        .all(|point| point.counts.exchanges == 0 && point.first_rtt_ns.is_none())
}

/// Each limit that is not met, with what was measured instead and where.
fn missed(args: &ExchangeArgs, file: &RunFile) -> Vec<String> {
    let broken = |limit: &Constraint| {
        let broken = file.points.iter().filter(|point| !limit.is_kept_by(point));
        let found = broken.map(|point| (found(limit, point), point.point.index + 1));
        by_text(found.collect())
    };
    args.require
        .iter()
        .map(|limit| (limit, broken(limit)))
        .filter(|(_, places)| !places.is_empty())
        .map(|(limit, places)| format!("{}: {}", limit.text, places.join(", ")))
        .collect()
}

/// What a point has where it should meet a limit.
fn found(limit: &Constraint, point: &PointSummary) -> String {
    match (limit.unanswered_share(point), limit.figure.of_point(point)) {
        (Some(share), _) => format!(
            "{:.3} % of the exchanges have no correct answer in time, more than lie beyond that percentile",
            share * 100.0
        ),
        (None, Some(found)) => shown(limit.figure, found.value),
        (None, None) => "not measured".into(),
    }
}

/// `1.20 us (row 1)`, `10 % (rows 1, 3)`: each text once, with its rows.
fn by_text(found: Vec<(String, u32)>) -> Vec<String> {
    let mut texts: Vec<(String, Vec<String>)> = Vec::new();
    for (text, row) in found {
        match texts.iter_mut().find(|(known, _)| *known == text) {
            Some((_, rows)) => rows.push(row.to_string()),
            None => texts.push((text, vec![row.to_string()])),
        }
    }
    let named = texts.into_iter().map(|(text, rows)| match &rows[..] {
        [row] => format!("{text} (row {row})"),
        rows => format!("{text} (rows {})", rows.join(", ")),
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_with_the_same_value_are_named_together() {
        let found = [("10 %", 1), ("5 %", 2), ("10 %", 3)];
        let found = found.map(|(text, row)| (text.to_owned(), row));
        assert_eq!(by_text(found.to_vec()), ["10 % (rows 1, 3)", "5 % (row 2)"]);
    }
}
