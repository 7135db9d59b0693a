//! `wiregauge exchange`: measure, store, print.

use super::measure::Measurement;
use super::plan;
use super::unmet::Judged;
use crate::Outcome;
use crate::args::ExchangeArgs;
use crate::caller::Session;
use crate::constraint::Constraint;
use crate::limit_value::Held;
use crate::output::progress::Extent;
use std::time::Duration;
use wiregauge_measure::exchange;
use wiregauge_measure::multi_link::{Divisible, Turn};
use wiregauge_quantity::{grouped, percent};
use wiregauge_record::{Limit, PointSummary};
use wiregauge_report::tables::{self, Places};
use wiregauge_run::{Exchange, RunFile};
use wiregauge_tune::Compliance;

/// Runs the command.
pub fn run(args: &ExchangeArgs, session: &Session<'_>) -> anyhow::Result<Outcome> {
    plan::check_baud(args.baud, &args.addresses)?;
    plan::check_serial("--framing", args.framing.is_some(), &args.addresses)?;
    plan::check_serial("--no-low-latency", args.no_low_latency, &args.addresses)?;
    let plan = plan::of_exchange(args)?;
    for link in 0..plan.links().count() {
        exchange::check(&plan.part(&Turn { link, gate: None }))?;
    }
    let measurement = Measurement::<Exchange> {
        points: plan.points.len(),
        extent: match plan.limit {
            Limit::Count(_) => Extent::Rows(plan.exchanges_per_point().unwrap_or(1)),
            Limit::DurationNs(ns) => Extent::Time(Duration::from_nanos(ns)),
        },
        keep: &args.keep,
        csv: args.csv.as_deref(),
        plan,
        look: args.look,
    };
    measurement.run(
        session,
        |plan, stop, sink| exchange::run(plan, stop, sink),
        |file| judged(args, file),
        args.undecided.undecided,
    )
}

/// Each limit with its worst value, and where.
fn judged(args: &ExchangeArgs, file: &RunFile) -> Vec<Judged> {
    let places = Places::of_run(&file.plan, &file.points);
    let of = |limit: &Constraint| {
        let worst = worst(limit, &file.points, &places, file.plan.limit);
        Judged::new(&limit.text, worst.into_iter().collect())
    };
    args.require.iter().map(of).collect()
}

/// The limit at its worst point, at which others it is met, and at how many it is not met either. `extent`: what ended
/// the points.
fn worst(
    limit: &Constraint,
    points: &[PointSummary],
    places: &Places,
    extent: Limit,
) -> Option<Held> {
    let all = points
        .iter()
        .map(|point| (point, found(limit, point, extent)));
    let all: Vec<(&PointSummary, Held)> = all.collect();
    let those = |compliance: Compliance| -> Vec<u32> {
        let those = all.iter().filter(|(_, held)| held.compliance == compliance);
        those.map(|(point, _)| point.point.index).collect()
    };
    let (point, held) = all.iter().max_by(|(_, a), (_, b)| a.compare(b))?;
    let held = held.clone().at(&places.at(point.point.index));
    let count = those(held.compliance).len() - 1;
    let more = match held.compliance {
        Compliance::Met => String::new(),
        Compliance::Violated => others(count, "missed"),
        Compliance::Undecided => {
            let exchanges = match point.counts.exchanges {
                1 => "1 exchange".into(),
                many => format!("{} exchanges", grouped(many)),
            };
            format!(" with {exchanges}{}", others(count, "undecided"))
        }
    };
    let elsewhere = [
        (Compliance::Met, "met"),
        (Compliance::Undecided, "undecided"),
    ];
    let elsewhere = elsewhere.map(|(compliance, word)| {
        let those = those(compliance);
        match those.is_empty() || held.compliance <= compliance {
            true => String::new(),
            false => format!("; {word} at {}", places.in_sentence(&those)),
        }
    });
    Some(Held {
        value: held.value + &elsewhere.concat(),
        line: held.line + &more,
        ..held
    })
}

/// `; also missed at 2 other points`.
fn others(count: usize, verdict: &str) -> String {
    match count {
        0 => String::new(),
        1 => format!("; also {verdict} at 1 other point"),
        more => format!("; also {verdict} at {more} other points"),
    }
}

/// What a point has where it should meet a limit: `15.99 ms (95 %: 8.331 ms .. ?)`. Worse than any value are many unanswered
/// exchanges, then no measurement.
fn found(limit: &Constraint, point: &PointSummary, extent: Limit) -> Held {
    match (limit.unanswered_share(point), limit.figure.of_point(point)) {
        (Some(share), _) => {
            let share_text = percent(share);
            Held {
                excess: f64::MAX * share,
                ..Held::missed(format!(
                    "undefined: {share_text} of the exchanges have no correct answer in time"
                ))
            }
        }
        (None, Some(found)) => {
            let is_scheduled = point.from_intended.is_some();
            let why = tables::no_bound(extent, point, limit.figure);
            Held::new(limit, limit.of_point(point), &found, is_scheduled, why)
        }
        (None, None) => Held::missed("not measured".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraint;
    use crate::made_up;
    use wiregauge_record::{Ending, ResourceUse, Sample, Status, Summariser};

    /// A hundred exchanges, of which some had no response and some a wrong one.
    fn point(index: u32, lost: u64, corrupted: u64) -> PointSummary {
        let mut summariser = Summariser::new(&made_up::plan(), made_up::point(index), None);
        for sequence in 1..=100 {
            summariser.push(&Sample {
                sequence,
                start_ns: sequence * 1_000,
                rtt_ns: 1_000,
                outstanding: 1,
                status: match sequence {
                    at if at <= lost => Status::Lost,
                    at if at <= lost + corrupted => Status::Corrupted,
                    _ => Status::Ok,
                },
                ..Sample::default()
            });
        }
        summariser.finish(Ending::Complete, 0, None, ResourceUse::default())
    }

    #[test]
    fn of_undefined_percentiles_the_point_with_the_most_unanswered_is_the_worst() {
        let limit: Constraint = constraint::of_exchanges("p99<2ms").expect("a limit");
        let excess = |point: &PointSummary| found(&limit, point, Limit::Count(100)).excess;
        let (more, fewer) = (excess(&point(0, 5, 0)), excess(&point(1, 2, 1)));
        assert!(more > fewer, "{more} {fewer}");
        assert!(fewer > excess(&point(2, 0, 0)));
    }

    #[test]
    fn the_worst_point_of_a_limit_says_where_it_is_met() {
        let limit: Constraint = constraint::of_exchanges("lost=0").expect("a limit");
        let points = [point(0, 0, 0), point(1, 5, 0), point(2, 2, 0)];
        let plan = wiregauge_record::Plan {
            points: points.iter().map(|point| point.point).collect(),
            ..made_up::plan()
        };
        let places = Places::of_run(&plan, &points);
        let held = worst(&limit, &points, &places, plan.limit).expect("points");
        let met = places.at(0);
        let expected = format!("; met{met}");
        assert!(held.value.ends_with(&expected), "{} {expected}", held.value);
        assert!(
            held.line.ends_with("; also missed at 1 other point"),
            "{}",
            held.line
        );
    }
}
