//! `wiregauge exchange`: measure, store, print.

use super::measure::Measurement;
use super::tune::shown;
use super::{plan, printed};
use crate::Outcome;
use crate::args::ExchangeArgs;
use crate::caller::{Session, remark};
use crate::constraint::Constraint;
use crate::output::progress::Extent;
use crate::output::style::{CAUTION, RESET};
use std::time::Duration;
use wiregauge_measure::exchange;
use wiregauge_measure::multi_link::{Divisible, Turn};
use wiregauge_record::{Figure, Limit, Part, PointSummary, Problem};
use wiregauge_report::tables::Places;
use wiregauge_report::units::grouped;
use wiregauge_run::{Exchange, RunFile};
use wiregauge_stats::Estimate;

/// Runs the command.
pub fn run(args: &ExchangeArgs, session: &Session<'_>) -> anyhow::Result<Outcome> {
    plan::check_baud(args.baud, &args.addresses)?;
    plan::check_serial("--framing", args.framing.is_some(), &args.addresses)?;
    plan::check_serial("--no-low-latency", args.no_low_latency, &args.addresses)?;
    let plan = plan::of_exchange(args)?;
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
        keep: &args.keep,
        csv: args.csv.as_deref(),
        with_data: plan.keeps_data(),
        plan,
        look: args.look,
        is_empty,
        print: printed::exchange,
    };
    measurement.run(
        session,
        |plan, stop, sink| exchange::run(plan, stop, sink),
        |file| {
            for line in unproven(args, file) {
                remark!(session, "{CAUTION}limit not proven:{RESET} {line}");
            }
            missed(args, file)
        },
    )
}

/// True if no exchange was answered and none was measured.
fn is_empty(file: &RunFile) -> bool {
    file.points
        .iter()
        .all(|point| point.counts.exchanges == 0 && point.first_rtt_ns.is_none())
}

/// A line for each limit that is missed: the limit, the worst value with its interval, and where.
fn missed(args: &ExchangeArgs, file: &RunFile) -> Vec<String> {
    let places = Places::new(file.points.iter().map(|point| point.point));
    let line = |limit: &Constraint| {
        let broken = file.points.iter().filter(|point| !limit.is_kept_by(point));
        let broken: Vec<&PointSummary> = broken.collect();
        let excess = |point: &PointSummary| excess(limit, point);
        let worst = broken.iter().max_by(|a, b| {
            let (a, b) = (excess(a), excess(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        })?;
        let place = places.at(worst.point.index);
        let more = match broken.len() - 1 {
            0 => String::new(),
            1 => "; also missed at 1 other point".into(),
            more => format!("; also missed at {more} other points"),
        };
        Some(format!(
            "{}: {}{place}{more}",
            limit.text,
            found(limit, worst)
        ))
    };
    args.require.iter().filter_map(line).collect()
}

/// A line for each limit that all measured values meet, but that the interval of one reaches beyond: the
/// point whose bound is furthest.
fn unproven(args: &ExchangeArgs, file: &RunFile) -> Vec<String> {
    let places = Places::new(file.points.iter().map(|point| point.point));
    let line = |limit: &Constraint| {
        if !file.points.iter().all(|point| limit.is_kept_by(point)) {
            return None;
        }
        let beyond = |point: &PointSummary| {
            let found = limit.figure.of_point(point)?;
            limit.bound_beyond(&found)
        };
        let open = file.points.iter().filter_map(|p| Some((p, beyond(p)?)));
        let (point, _) = open.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let place = places.at(point.point.index);
        let exchanges = match point.counts.exchanges {
            1 => "1 exchange".into(),
            many => format!("{} exchanges", grouped(many)),
        };
        let found = found(limit, point);
        Some(format!("{}: {found}{place} with {exchanges}", limit.text))
    };
    args.require.iter().filter_map(line).collect()
}

/// How bad a value is: the larger, the worse. Worse than any value are many unanswered exchanges, then no measurement.
fn excess(limit: &Constraint, point: &PointSummary) -> (u8, f64) {
    match (limit.unanswered_share(point), limit.figure.of_point(point)) {
        (None, Some(found)) if limit.is_lower() => (0, -found.value),
        (None, Some(found)) => (0, found.value),
        (Some(share), _) => (1, share),
        (None, None) => (2, 0.0),
    }
}

/// What a point has where it should meet a limit: `15.991 ms (95 %: 8.331 ms .. ?)`.
fn found(limit: &Constraint, point: &PointSummary) -> String {
    match (limit.unanswered_share(point), limit.figure.of_point(point)) {
        (Some(share), _) => {
            let slowest = slowest(limit, point, share).unwrap_or_default();
            format!(
                "undefined, because {:.3} % of the exchanges have no correct answer in time{slowest}",
                share * 100.0
            )
        }
        (None, Some(found)) => with_interval(limit.figure, &found) + &without_answer(limit, point),
        (None, None) => "not measured".into(),
    }
}

/// The highest percentile that is defined over all exchanges: the slowest correct answer.
fn slowest(limit: &Constraint, point: &PointSummary, share: f64) -> Option<String> {
    let Figure::Time(times, _) = limit.figure else {
        return None;
    };
    let figure = Figure::Time(times, Part::Max);
    let longest = figure.of_point(point)?.value;
    // Downwards, with two digits more than the share begins with: it is never the 100th.
    let digits = (-(share * 100.0).log10()).ceil().max(0.0) as usize + 2;
    let one = 10_f64.powi(digits as i32);
    let below = ((1.0 - share) * 100.0 * one).floor() / one;
    let percentile = format!("{below:.digits$}");
    let percentile = percentile.trim_end_matches('0').trim_end_matches('.');
    Some(format!(
        "; the slowest correct answer (p{percentile}) took {}",
        shown(figure, longest)
    ))
}

/// What `lost` counts besides the exchanges without a response, which other tables count apart.
fn without_answer(limit: &Constraint, point: &PointSummary) -> String {
    let counts = &point.counts;
    let is_lost = matches!(
        limit.figure,
        Figure::Share(Problem::Lost) | Figure::Count(Problem::Lost)
    );
    let kinds = [
        (counts.lost + counts.late, "lost or late"),
        (counts.corrupted, "with wrong bytes"),
        (counts.unexpected, "with an unexpected reply"),
    ];
    let others = counts.corrupted + counts.unexpected;
    if !is_lost || others == 0 {
        return String::new();
    }
    let kinds = kinds.into_iter().filter(|(number, _)| *number > 0);
    let kinds = kinds.map(|(number, how)| format!("{} {how}", grouped(number)));
    let kinds: Vec<String> = kinds.collect();
    format!(", of {}: {}", grouped(counts.exchanges), kinds.join(", "))
}

fn with_interval(figure: Figure, found: &Estimate) -> String {
    let value = shown(figure, found.value);
    if found.low.is_none() && found.high.is_none() {
        return value;
    }
    let bound = |bound: Option<f64>| bound.map_or("?".into(), |bound| shown(figure, bound));
    format!(
        "{value} (95 %: {} .. {})",
        bound(found.low),
        bound(found.high)
    )
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
    fn what_lost_counts_besides_losses_is_named() {
        let limit: Constraint = constraint::of_exchanges("lost<0.1%").expect("a limit");
        let both = found(&limit, &point(0, 3, 1));
        assert!(both.starts_with("4.00 % (95 %: "), "{both}");
        assert!(
            both.ends_with(", of 100: 3 lost or late, 1 with wrong bytes"),
            "{both}"
        );
        assert!(found(&limit, &point(0, 3, 0)).ends_with(')'));
    }

    #[test]
    fn of_undefined_percentiles_the_point_with_the_most_unanswered_is_the_worst() {
        let limit: Constraint = constraint::of_exchanges("p99<2ms").expect("a limit");
        let (more, fewer) = (
            excess(&limit, &point(0, 5, 0)),
            excess(&limit, &point(1, 2, 1)),
        );
        assert!(more > fewer, "{more:?} {fewer:?}");
        assert!(fewer > excess(&limit, &point(2, 0, 0)));
    }

    #[test]
    fn a_measured_value_has_its_interval_beside_it() {
        let p99 = Figure::parse("p99").expect("a figure");
        let with = |low, high| {
            let value = 15_991_000.0;
            with_interval(p99, &Estimate { value, low, high })
        };
        assert_eq!(with(Some(8.331e6), None), "15.991 ms (95 %: 8.331 ms .. ?)");
        assert_eq!(with(None, None), "15.991 ms");
    }
}
