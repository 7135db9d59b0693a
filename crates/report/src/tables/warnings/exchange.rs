//! What keeps a figure of an exchange run from being trusted, and the remedy in the flags that the user is using.

use super::codes::Code;
use super::few_samples::{self, FewSamples};
use super::warning::{Name, Points, Search, Warning, share};
use super::{common, echo};
use crate::load::LateStarts;
use std::collections::BTreeSet;
use wiregauge_quantity::{grouped, is_above_all, percent, time};
use wiregauge_record::{
    CanCounts, Connect, Ending, PointSummary, Protocol, Schedule, Wait, is_on_this_host,
};
use wiregauge_run::RunFile;
use wiregauge_stats::{Confidence, share_of};

/// The warnings that a run deserves.
pub(super) fn of_run<'a>(
    file: &'a RunFile,
    late_starts: &dyn Fn(usize) -> Option<LateStarts>,
    name: Name<'a>,
) -> Vec<Warning> {
    let (plan, points) = (&file.plan, &file.points);
    let mut search = Search::new(points.iter().map(|p| (p.point.index, p)), name);
    lost(&mut search, is_scheduled(file));
    // What is only displaced is not damaged.
    let displaced = |p: &PointSummary| plan.protocol == Protocol::Echo && echo::is_displaced(p);
    search.at(
        Code::Damaged,
        |p| p.counts.corrupted > 0 && !displaced(p),
        |at| format!("answers have wrong bytes{at}"),
        ": this link is not reliable. Check cable, --baud and the buffers of the device.",
    );
    search.range(
        Code::Unexpected,
        |p| share(p.counts.unexpected, p.counts.exchanges),
        percent,
        |share, at| format!("{share} of the replies are unexpected{at}"),
        ": they are not part of the RTT figures. The table says what they were.",
    );
    if plan.matches_by_order() {
        let bytes: u64 = points.iter().map(|p| p.counts.stray_bytes).sum();
        search.at(
            Code::Unasked,
            |p| p.counts.stray_bytes > 0,
            |at| {
                let bytes = grouped(bytes);
                format!("{bytes} B belong to no response, so RTTs may be those of other data{at}")
            },
            ". What comes first while a request is outstanding is taken for its response. If the device echoes queries, \
             turn that off, or take echo and answer as one reply (--protocol text --idle). Stop what it sends by itself, \
             or check replies with --protocol text --expect.",
        );
    }
    let first_errors = points.iter().filter_map(|p| p.instrument_errors.first());
    for error in BTreeSet::from_iter(first_errors) {
        search.at(
            Code::InstrumentErrors,
            |p| p.instrument_errors.contains(error),
            |at| format!("the instrument reports an error: {error}{at}"),
            ". Check the queries; a query that the instrument rejects may be answered at another speed.",
        );
    }
    let all = points.iter().filter_map(|p| p.can);
    let sum = |of: fn(&CanCounts) -> u64| grouped(all.clone().map(|can| of(&can)).sum());
    search.at(
        Code::CanErrors,
        |p| p.can.is_some_and(|can| can.has_errors()),
        |at| {
            format!(
                "CAN: {} error frames, {} frames lost at the socket, {} failed messages of ISO-TP{at}",
                sum(|can| can.error_frames),
                sum(|can| can.lost_frames),
                sum(|can| can.failed_messages)
            )
        },
        ". Check bit rates, termination and wiring.",
    );
    common::cut(&mut search, |p| &p.ending);
    // A schedule decides by itself how many are outstanding.
    if !is_scheduled(file) {
        shallow(&mut search, plan.timeout_ns);
    }
    echo::of(file, &mut search);
    let few = few_samples::of(file).map(|few| few_samples(&few, name));
    search.found.extend(few);
    search.range(
        Code::UntrueReport,
        |p| share(p.counts.impossible_device_times, p.counts.answered),
        percent,
        |share, at| format!("{share} of the device times are impossible, longer than the RTT{at}"),
        ": they are left out of the device time, and the others may be wrong as well. Check where the device reads \
         its clock, and its tick rate.",
    );
    let above = |p: &PointSummary| {
        let used = p.limit.as_ref().map(|limit| limit.used);
        used.filter(|used| is_above_all(*used))
    };
    let first = points.iter().find(|p| above(p).is_some());
    let source = first.and_then(|p| p.limit.as_ref());
    let source = source.map_or("", |limit| limit.source.as_str());
    search.range(
        Code::AboveLimit,
        above,
        percent,
        |share, at| format!("the throughput is {share} of the limit{at}"),
        format!(
            ": the limit ({source}) is not that of what carried the data. An emulated bus, or another controller than \
             the reported one, may be faster."
        ),
    );
    behind(file, late_starts, &mut search);
    common::disturbed(
        &mut search,
        |p| &p.disturbances[..],
        &plan.host,
        plan.links().any(is_on_this_host),
    );
    let floor = |p: &PointSummary| -> Option<f64> {
        let floors = &file.conditions.before.as_ref()?.floors;
        let floor = floors.last().filter(|_| floors.len() > 1)?.rtt.p50.value;
        (p.point.depth == 1 && p.rtt.as_ref()?.p50.value < 1.5 * floor).then_some(floor)
    };
    search.range(
        Code::NearFloor,
        floor,
        time,
        |floor, at| format!("the median RTT is close to that of a local echo, {floor}{at}"),
        match plan.wait {
            Wait::Block => {
                ": the times are mostly those of the host. --wait spin makes them shorter."
            }
            _ => ": the times are mostly those of the host.",
        },
    );
    search.found
}

fn is_scheduled(file: &RunFile) -> bool {
    matches!(file.plan.schedule, Schedule::EveryNs(_))
}

/// Exchanges without an answer in time.
fn lost(search: &mut Points<'_>, is_scheduled: bool) {
    let missing = |p: &PointSummary| share(p.counts.lost + p.counts.late, p.counts.exchanges);
    let is_deep = search
        .rows()
        .any(|p| search.rows().any(|other| loses_less(other, p)));
    let is_late = search.rows().any(|p| p.counts.late > 0);
    let tries = [
        is_deep.then_some("a lower --depth, which lost less"),
        is_scheduled.then_some("a lower --rate"),
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
    let answered = percent(1.0 - search.most(missing));
    search.range(
        Code::Lost,
        missing,
        percent,
        |share, at| format!("{share} of the exchanges were not answered in time{at}"),
        format!(
            ". RTT figures are for the answered ones; over all exchanges, percentiles above {answered} are \
             undefined{longer}.{tries}"
        ),
    );
}

/// True if a point differs from another by a lower depth only, and lost less, by more than chance explains.
fn loses_less(lower: &PointSummary, higher: &PointSummary) -> bool {
    let size = |p: &PointSummary| {
        let point = p.point;
        (point.link, point.together, point.out_bytes, point.in_bytes)
    };
    let part = |p: &PointSummary| {
        let (missing, all) = (p.counts.lost + p.counts.late, p.counts.exchanges);
        let part = missing as f64 / all.max(1) as f64;
        share_of(all, part, Confidence::NINETY_FIVE)
    };
    let bounds = || part(lower).high.zip(part(higher).low);
    let is_lower = lower.point.depth < higher.point.depth && size(lower) == size(higher);
    is_lower && bounds().is_some_and(|(most, least)| most < least)
}

/// Points whose depth was not reached.
fn shallow(search: &mut Points<'_>, timeout_ns: u64) {
    let depth = |p: &PointSummary| f64::from(p.point.depth);
    let shallow = |p: &PointSummary| {
        let is_long = p.counts.exchanges > 10 * u64::from(p.point.depth);
        let reached = p.achieved_depth + p.drained_depth(timeout_ns);
        is_long && p.point.depth > 1 && reached < 0.8 * depth(p)
    };
    let fewer = |p: &PointSummary| {
        let is_whole = p.ending == Ending::Complete && p.counts.exchanges > 0;
        is_whole && p.counts.exchanges < u64::from(p.point.depth)
    };
    let whole = |depth: f64| format!("{depth:.0}");
    let depths = search.spread(|p| shallow(p).then(|| depth(p)), whole);
    search.range(
        Code::Shallow,
        |p| shallow(p).then_some(p.achieved_depth),
        |achieved| format!("{achieved:.1}"),
        |achieved, at| format!("depth {depths} was requested, {achieved} achieved{at}"),
        ": the host or a full buffer delayed requests. TRT is that of the achieved depth; try --wait spin, or smaller \
         sizes.",
    );
    let depths = search.spread(|p| fewer(p).then(|| depth(p)), whole);
    search.range(
        Code::Shallow,
        |p| fewer(p).then_some(p.counts.exchanges as f64),
        |count| {
            let s = if count > 1.0 { "s" } else { "" };
            format!("{} exchange{s}", grouped(count as u64))
        },
        |count, at| format!("depth {depths} was requested, but the point has only {count}{at}"),
        ": the depth was never reached, and TRT, the time from one start to the next, is that of the first requests. \
         Use a --count of at least 10 times the depth, or a longer --duration.",
    );
}

/// Exchanges that started late.
fn behind(
    file: &RunFile,
    late_starts: &dyn Fn(usize) -> Option<LateStarts>,
    search: &mut Points<'_>,
) {
    let late = |p: &PointSummary| p.lateness.map_or(0, |lateness| lateness.late);
    let all = || file.points.iter().enumerate().filter(|(_, p)| late(p) > 0);
    let mut counted = all().map(|(place, _)| late_starts(place));
    let starts = counted.try_fold(LateStarts::default(), |sum, point| {
        let point = point?;
        Some(LateStarts {
            late: sum.late + point.late,
            waited: sum.waited + point.waited,
        })
    });
    let is_here = file.plan.links().any(is_on_this_host);
    let (why, help) = why_late(starts, file.plan.connect == Connect::Each, is_here);
    let longest = search.most(|p| Some(p.start_delay.as_ref()?.max).filter(|_| late(p) > 0));
    search.at(
        Code::Behind,
        |p| late(p) > 0,
        |at| {
            format!(
                "{} of {} exchanges started more than a period late, up to {}{at}: {why}",
                grouped(all().map(|(_, p)| late(p)).sum()),
                grouped(all().map(|(_, p)| p.counts.exchanges).sum()),
                time(longest)
            )
        },
        format!(". Use the table from the intended start; try {help}."),
    );
}

/// Why exchanges started late, and what may help. `is_here`: the device is a program on this host.
fn why_late(starts: Option<LateStarts>, each: bool, is_here: bool) -> (String, String) {
    // Exchanges that open the link are one at a time.
    let of_link = match each {
        true => "--connect once or a longer --interval",
        false => "a longer --interval",
    };
    let of_host = match is_here {
        true => "a less loaded host",
        false => "--priority 50 or a less loaded host",
    };
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
                "{} waited for earlier ones; the host started the other {} late",
                grouped(waited),
                grouped(late - waited)
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
    let (at, why) = (at(&few.points), few.note());
    let finding = format!("{which} has no upper confidence bound{at}: {why}");
    let advice = match few.may_drift {
        true => {
            ". With a drift, more exchanges alone may give no bound. Find what changes (RTT over time in wiregauge \
             report), and repeat the run."
        }
        false => "",
    };
    Warning::new(Code::FewSamples, finding, advice)
}
