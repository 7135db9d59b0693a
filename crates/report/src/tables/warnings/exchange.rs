//! What keeps a figure of an exchange run from being trusted, and the remedy in the flags that the user is using.

use super::codes::Code;
use super::few_samples::{self, FewSamples};
use super::warning::{Name, Warning, named, spread};
use super::{common, echo};
use crate::load::LateStarts;
use std::collections::BTreeSet;
use wiregauge_quantity::{grouped, is_above_all, percent, time};
use wiregauge_record::{CanCounts, Connect, Ending, PointSummary, Protocol, Schedule, Wait};
use wiregauge_run::RunFile;

/// The warnings that a run deserves.
pub(super) fn of_run(
    file: &RunFile,
    late_starts: &dyn Fn(usize) -> Option<LateStarts>,
    name: Name<'_>,
) -> Vec<Warning> {
    let (plan, points) = (&file.plan, &file.points);
    let mut found = Vec::new();
    let those = |keep: &dyn Fn(&PointSummary) -> bool| -> Option<String> {
        let kept = points.iter().filter(|p| keep(p));
        named(name, kept.map(|p| p.point.index).collect())
    };
    // Of the points that have some.
    let shares = |of: &dyn Fn(&PointSummary) -> f64| -> String {
        spread(points.iter().map(of).filter(|share| *share > 0.0), percent)
    };
    let missing = |p: &PointSummary| {
        (p.counts.lost + p.counts.late) as f64 / p.counts.exchanges.max(1) as f64
    };
    if let Some(at) = those(&|p| missing(p) > 0.0) {
        let worst = points.iter().map(missing).fold(0.0, f64::max);
        let is_deep = points.iter().any(|p| missing(p) > 0.0 && p.point.depth > 1);
        let is_late = points.iter().any(|p| p.counts.late > 0);
        let tries = [
            is_deep.then_some("a lower --depth"),
            matches!(plan.schedule, Schedule::EveryNs(_)).then_some("a lower --rate"),
            is_late.then_some("a longer --timeout: some answers came after it"),
        ];
        let tries: Vec<&str> = tries.into_iter().flatten().collect();
        let tries = match tries.is_empty() {
            true => String::new(),
            false => format!(" Try {}.", tries.join(", or ")),
        };
        let longer = match is_late {
            true => "",
            false => "; no answer came after the timeout, so a longer one does not help",
        };
        found.push(Warning::new(
            Code::Lost,
            format!(
                "{} of the exchanges were not answered in time{at}",
                shares(&missing)
            ),
            format!(
                ". RTT figures are for the answered ones; over all exchanges, percentiles above {} are \
                 undefined{longer}.{tries}",
                percent(1.0 - worst)
            ),
        ));
    }
    // What is only displaced is not damaged.
    let displaced = |p: &PointSummary| plan.protocol == Protocol::Echo && echo::is_displaced(p);
    if let Some(at) = those(&|p| p.counts.corrupted > 0 && !displaced(p)) {
        found.push(Warning::new(
            Code::Damaged,
            format!("answers have wrong bytes{at}"),
            ": this link is not reliable. Check cable, --baud and the buffers of the device.",
        ));
    }
    let share = |p: &PointSummary| p.counts.unexpected as f64 / p.counts.exchanges.max(1) as f64;
    if let Some(at) = those(&|p| share(p) > 0.0) {
        found.push(Warning::new(
            Code::Unexpected,
            format!("{} of the replies are unexpected{at}", shares(&share)),
            ": they are not part of the RTT figures. The table says what they were.",
        ));
    }
    if plan.matches_by_order()
        && let Some(at) = those(&|p| p.counts.stray_bytes > 0)
    {
        let bytes: u64 = points.iter().map(|p| p.counts.stray_bytes).sum();
        found.push(Warning::new(
            Code::Unasked,
            format!(
                "{} B belong to no response, so RTTs may be those of other data{at}",
                grouped(bytes)
            ),
            ". What comes first while a request is outstanding is taken for its response. If the device echoes queries, \
             turn that off, or take echo and answer as one reply (--protocol text --idle). Stop what it sends by itself, \
             or check replies with --protocol text --expect.",
        ));
    }
    let first_errors = points.iter().filter_map(|p| p.instrument_errors.first());
    for error in BTreeSet::from_iter(first_errors) {
        let at = those(&|p| p.instrument_errors.contains(error));
        found.extend(at.map(|at| {
            Warning::new(
                Code::InstrumentErrors,
                format!("the instrument reports an error: {error}{at}"),
                ". Check the queries; a query that the instrument rejects may be answered at another speed.",
            )
        }));
    }
    if let Some(at) = those(&|p| p.can.is_some_and(|can| can.has_errors())) {
        let all = points.iter().filter_map(|p| p.can);
        let sum = |of: fn(&CanCounts) -> u64| grouped(all.clone().map(|can| of(&can)).sum());
        found.push(Warning::new(
            Code::CanErrors,
            format!(
                "CAN: {} error frames, {} frames lost at the socket, {} failed messages of ISO-TP{at}",
                sum(|can| can.error_frames),
                sum(|can| can.lost_frames),
                sum(|can| can.failed_messages)
            ),
            ". Check bit rates, termination and wiring.",
        ));
    }
    found.extend(those(&|p| p.ending != Ending::Complete).map(|at| common::cut_at(&at)));
    let scheduled = matches!(plan.schedule, Schedule::EveryNs(_));
    // A schedule decides by itself how many are outstanding.
    let shallow = |p: &PointSummary| {
        !scheduled
            && p.counts.exchanges > 10 * u64::from(p.point.depth)
            && p.point.depth > 1
            && p.achieved_depth + p.drained_depth(plan.timeout_ns) < 0.8 * f64::from(p.point.depth)
    };
    let range = |keep: &dyn Fn(&PointSummary) -> bool,
                 value: &dyn Fn(&PointSummary) -> f64,
                 show: &dyn Fn(f64) -> String| {
        spread(points.iter().filter(|p| keep(p)).map(value), show)
    };
    let depths = |keep: &dyn Fn(&PointSummary) -> bool| {
        range(keep, &|p| f64::from(p.point.depth), &|depth| {
            format!("{depth:.0}")
        })
    };
    if let Some(at) = those(&shallow) {
        let achieved = range(&shallow, &|p| p.achieved_depth, &|depth| {
            format!("{depth:.1}")
        });
        found.push(Warning::new(
            Code::Shallow,
            format!(
                "depth {} was requested, {achieved} achieved{at}",
                depths(&shallow)
            ),
            ": the host or a full buffer delayed requests. TRT is that of the achieved depth; try --wait spin, or \
             smaller sizes.",
        ));
    }
    let fewer = |p: &PointSummary| {
        let is_whole = p.ending == Ending::Complete && p.counts.exchanges > 0;
        !scheduled && is_whole && p.counts.exchanges < u64::from(p.point.depth)
    };
    if let Some(at) = those(&fewer) {
        let exchanges = range(&fewer, &|p| p.counts.exchanges as f64, &|count| {
            let s = if count > 1.0 { "s" } else { "" };
            format!("{} exchange{s}", grouped(count as u64))
        });
        found.push(Warning::new(
            Code::Shallow,
            format!(
                "depth {} was requested, but the point has only {exchanges}{at}",
                depths(&fewer)
            ),
            ": the depth was never reached, and TRT, the time from one start to the next, is that of the first \
             requests. Use a --count of at least 10 times the depth, or a longer --duration.",
        ));
    }
    found.extend(echo::of(file, name));
    found.extend(few_samples::of(file).map(|few| few_samples(&few, name)));
    let impossible = |p: &PointSummary| {
        p.counts.impossible_device_times as f64 / p.counts.answered.max(1) as f64
    };
    if let Some(at) = those(&|p| impossible(p) > 0.0) {
        found.push(Warning::new(
            Code::UntrueReport,
            format!(
                "{} of the device times are impossible, longer than the RTT{at}",
                shares(&impossible)
            ),
            ": they are left out of the device time, and the others may be wrong as well. Check where the device reads \
             its clock, and its tick rate.",
        ));
    }
    let used = |p: &PointSummary| p.limit.as_ref().map_or(0.0, |limit| limit.used);
    let above = |p: &PointSummary| is_above_all(used(p));
    let fullest = points.iter().filter(|p| above(p));
    let fullest = fullest.max_by(|a, b| used(a).total_cmp(&used(b)));
    let limit = fullest.and_then(|p| p.limit.as_ref());
    if let (Some(limit), Some(at)) = (limit, those(&above)) {
        found.push(Warning::new(
            Code::AboveLimit,
            format!(
                "the throughput is {} of the limit{at}",
                spread(points.iter().filter(|p| above(p)).map(used), percent)
            ),
            format!(
                ": the limit ({}) is not that of what carried the data. An emulated bus, or another controller than \
                 the reported one, may be faster.",
                limit.source
            ),
        ));
    }
    found.extend(behind(file, late_starts, &those));
    let disturbed = points.iter().map(|p| (p.point.index, &p.disturbances[..]));
    found.extend(common::of_disturbances(disturbed, &plan.host, name));
    let floor = |p: &PointSummary| -> Option<f64> {
        let floors = &file.conditions.before.as_ref()?.floors;
        let floor = floors.last().filter(|_| floors.len() > 1)?.rtt.p50.value;
        (p.point.depth == 1 && p.rtt.as_ref()?.p50.value < 1.5 * floor).then_some(floor)
    };
    let near = points.iter().find_map(floor);
    if let (Some(floor_ns), Some(at)) = (near, those(&|p| floor(p).is_some())) {
        let floor = time(floor_ns);
        found.push(Warning::new(
            Code::NearFloor,
            format!("the median RTT is close to that of a local echo, {floor}{at}"),
            match plan.wait {
                Wait::Block => {
                    ": the times are mostly those of the host. --wait spin makes them shorter."
                }
                _ => ": the times are mostly those of the host.",
            },
        ));
    }
    found
}

/// Those of a run for which this holds, by their name; `None` if it holds for none.
type Those<'a> = &'a dyn Fn(&dyn Fn(&PointSummary) -> bool) -> Option<String>;

/// Exchanges that started late.
fn behind(
    file: &RunFile,
    late_starts: &dyn Fn(usize) -> Option<LateStarts>,
    those: Those<'_>,
) -> Option<Warning> {
    let late = |p: &PointSummary| p.lateness.map_or(0, |lateness| lateness.late);
    let at = those(&|p| late(p) > 0)?;
    let all = || file.points.iter().enumerate().filter(|(_, p)| late(p) > 0);
    let mut counted = all().map(|(place, _)| late_starts(place));
    let starts = counted.try_fold(LateStarts::default(), |sum, point| {
        let point = point?;
        Some(LateStarts {
            late: sum.late + point.late,
            waited: sum.waited + point.waited,
        })
    });
    let delay = |p: &PointSummary| p.start_delay.as_ref().map_or(0.0, |delay| delay.max);
    let (why, help) = why_late(starts, file.plan.connect == Connect::Each);
    Some(Warning::new(
        Code::Behind,
        format!(
            "{} of {} exchanges started more than a period late, up to {}{at}: {why}",
            grouped(all().map(|(_, p)| late(p)).sum()),
            grouped(all().map(|(_, p)| p.counts.exchanges).sum()),
            time(all().map(|(_, p)| delay(p)).fold(0.0, f64::max))
        ),
        format!(". Use the table from the intended start; try {help}."),
    ))
}

/// Why exchanges started late, and what helps.
fn why_late(starts: Option<LateStarts>, each: bool) -> (String, String) {
    // Exchanges that open the link are one at a time.
    let of_link = match each {
        true => "--connect once or a longer --interval",
        false => "a higher --depth or a longer --interval",
    };
    let of_host = "--priority 50 or a less loaded host";
    match starts {
        Some(LateStarts { late, waited }) if waited == late => (
            "exchanges waited for earlier ones".to_owned(),
            of_link.into(),
        ),
        Some(LateStarts { waited: 0, .. }) => (
            "the host started them late, although fewer than --depth were outstanding".to_owned(),
            of_host.to_owned(),
        ),
        Some(LateStarts { late, waited }) => (
            format!(
                "of {} that started more than a period late, {} waited for earlier ones; the host started the others \
                 late",
                grouped(late),
                grouped(waited)
            ),
            format!("{of_link}, and {of_host}"),
        ),
        None => (
            "exchanges waited for earlier ones, or the host started them late".to_owned(),
            format!("{of_link}, or {of_host}"),
        ),
    }
}

/// Why p99 has no upper bound, and what helps.
fn few_samples(few: &FewSamples, at: Name<'_>) -> Warning {
    let which = match few.intended {
        true => "p99 from the intended start",
        false => "p99",
    };
    let finding = format!("{which} has no upper confidence bound{}", at(&few.points));
    let drift = ": parts of a point differ by more than chance explains, and more exchanges alone may give no \
                 bound. Find what changes (RTT over time in wiregauge report), and repeat the run.";
    let (finding, advice) = match (&few.scarcest, few.drifting.is_empty()) {
        (None, _) => (format!("{finding}: the times drift"), drift.into()),
        (Some(point), steady) => {
            let mut advice = format!(
                ": {} exchanges are worth {} independent samples at p99, too few.",
                grouped(point.exchanges),
                grouped(point.worth.floor() as u64)
            );
            advice += &match (steady, point.is_dependent) {
                (false, _) => format!(" The times drift{}{drift}", at(&few.drifting)),
                (true, true) => {
                    " They depend on each other strongly. If they drift (RTT over time in wiregauge report), more \
                     exchanges alone may give no bound."
                        .to_owned()
                }
                (true, false) => String::new(),
            };
            (format!("{finding}; about {}", point.needed), advice)
        }
    };
    Warning::new(Code::FewSamples, finding, advice)
}
