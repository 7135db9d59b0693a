//! `wiregauge exchange`: measure, store, print.

use super::measure::Measurement;
use super::{plan, printed};
use crate::Outcome;
use crate::args::ExchangeArgs;
use crate::caller::Session;
use crate::output::progress::Extent;
use std::time::Duration;
use wiregauge_measure::exchange;
use wiregauge_measure::multi_link::{Divisible, Turn};
use wiregauge_record::Limit;
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

fn missed(args: &ExchangeArgs, file: &RunFile) -> Vec<String> {
    let mut missed = Vec::new();
    for requirement in &args.require {
        let broken = file
            .points
            .iter()
            .filter(|point| !requirement.is_kept_by(point));
        let broken: Vec<String> = broken
            .map(|point| (point.point.index + 1).to_string())
            .collect();
        if broken.is_empty() {
            continue;
        }
        let unanswered = file
            .points
            .iter()
            .filter_map(|point| requirement.unanswered_share(point))
            .fold(0.0, f64::max);
        let mut text = format!("{} in row {}", requirement.text, broken.join(", "));
        if unanswered > 0.0 {
            text += &format!(
                ": up to {:.3} % of the exchanges have no correct answer in time, more than lie beyond that \
                 percentile",
                unanswered * 100.0
            );
        }
        missed.push(text);
    }
    missed
}
