//! The first sentence of a page: the main result, in figures that the samples support.

use super::card::{best, points};
use super::cycles;
use super::links::{self, Link, Speed};
use super::measure::{Measure, Named, Place, places};
use super::names;
use super::progress::Progress;
use super::tuned;
use crate::Subject;
use crate::load::Tuned;
use crate::tables::ComparisonTables;
use crate::tables::closed_loop::settings;
use crate::tables::stream::lost;
use wiregauge_quantity::{grouped, percent, times};
use wiregauge_record::{
    Aim, Connect, Figure, FlowSummary, LoopSummary, Part, Plan, PointSummary, Schedule, Times, Way,
};
use wiregauge_run::AnyRun;
use wiregauge_stats::Estimate;

/// One sentence for each run (of several links, for each link), with its label if there are several; for compared
/// runs, what differs.
pub(super) fn of(subjects: &[Subject], comparisons: &[ComparisonTables]) -> Vec<String> {
    if let [only] = comparisons
        && let Some(verdict) = only.words.first()
    {
        let largest = only.words.get(1);
        let largest = largest.map(|words| format!(" The largest difference: {words}."));
        let which = match subjects {
            [before, after] => format!("{} against {}: ", after.label, before.label),
            _ => String::new(),
        };
        return vec![which + verdict + &largest.unwrap_or_default()];
    }
    let several = subjects.len() > 1;
    let sentences = |subject: &Subject| {
        let mut all = run(subject);
        if let (Some(tuned), Some(first)) = (&subject.tuned, all.first_mut()) {
            *first = tuning(tuned) + first;
        }
        let labelled = |words| match several {
            true => format!("{}: {words}", subject.label),
            false => words,
        };
        all.into_iter().map(labelled).collect::<Vec<_>>()
    };
    subjects.iter().flat_map(sentences).collect()
}

/// What the search was for, and which constraints its choice does not keep.
fn tuning(tuned: &Tuned) -> String {
    let Some(best) = &tuned.best else {
        return String::new();
    };
    let open = best
        .constraints
        .iter()
        .filter(|limit| limit.verdict != "met");
    let open: Vec<String> = open
        .map(|limit| match limit.verdict.as_str() {
            "violated" => format!("{} missed", limit.text),
            _ => format!("{} undecided", limit.text),
        })
        .collect();
    let kept = match (open.is_empty(), best.constraints.is_empty()) {
        (_, true) => String::new(),
        (true, false) => ", all constraints met".to_owned(),
        (false, false) => format!(", {}", open.join(", ")),
    };
    format!(
        "Chosen to {} {}: {}{kept}. ",
        tuned.objective.sense,
        tuned.objective.figure,
        tuned::shown(&tuned.objective.figure, best.objective.value)
    )
}

fn run(subject: &Subject) -> Vec<String> {
    let mut all = of_links(&subject.run);
    let progress = Progress::of(&subject.run).map(Progress::words);
    if let (Some(progress), Some(first)) = (progress, all.first_mut()) {
        *first = format!("{progress}; {first}");
    }
    let cycles = cycles(subject);
    match &mut all[..] {
        [] => {}
        [only] if links(&subject.run) < 2 => {
            let parts = std::iter::once(only.trim_end_matches('.').to_owned());
            *only = sentence(&parts.chain(cycles).collect::<Vec<_>>()).unwrap_or_default();
        }
        // They are of no single link.
        _ => all.extend(sentence(&cycles)),
    }
    for words in &mut all {
        let first = words.chars().next().map_or(0, char::len_utf8);
        let capital = words[..first].to_uppercase();
        words.replace_range(..first, &capital);
    }
    all
}

fn links(run: &AnyRun) -> usize {
    match run {
        AnyRun::Exchange(run) => run.file.plan.links().count(),
        AnyRun::Stream(run) => run.file.plan.links().count(),
        AnyRun::Loop(_) | AnyRun::Control(_) => 1,
    }
}

/// One sentence for each link.
fn of_links(run: &AnyRun) -> Vec<String> {
    let places = places(run);
    match run {
        AnyRun::Exchange(run) => {
            let plan = &run.file.plan;
            let several = plan.links().count() > 1 && !run.file.points.is_empty();
            let all: Vec<&PointSummary> = points(&places).map(|(_, point)| point).collect();
            let link = |(number, address)| {
                let is_of_it = |point: &&&PointSummary| point.point.link as usize == number;
                let all: Vec<&PointSummary> = all.iter().filter(is_of_it).copied().collect();
                Some(Link {
                    number,
                    address,
                    speed: first_of(&answered(&all)).and_then(median),
                    words: of_link(&exchange(plan, &all), several)?,
                })
            };
            let links: Vec<Link<'_>> = plan.links().enumerate().filter_map(link).collect();
            links::sentences(&links, plan.links().count(), &losses(&all))
        }
        AnyRun::Stream(run) => {
            let plan = &run.file.plan;
            let several = plan.links().count() > 1 && !run.file.points.is_empty();
            let link = |(number, address)| {
                let is_of_it = |named: &&Named<'_>| match named.place {
                    Place::Flow(point, _) => point.point.link as usize == number,
                    _ => false,
                };
                let places: Vec<Named<'_>> = places.iter().filter(is_of_it).cloned().collect();
                Some(Link {
                    number,
                    address,
                    speed: highest_rate(&places),
                    words: of_link(&stream(&places), several)?,
                })
            };
            let links: Vec<Link<'_>> = plan.links().enumerate().filter_map(link).collect();
            links::sentences(
                &links,
                plan.links().count(),
                &stream_losses(&flows(&places)),
            )
        }
        AnyRun::Loop(_) => sentence(&closed_loop(&places)).into_iter().collect(),
        AnyRun::Control(_) => Vec::new(),
    }
}

fn sentence(parts: &[String]) -> Option<String> {
    (!parts.is_empty()).then(|| format!("{}.", parts.join("; ")))
}

/// The sentence of one link; beside others, also of one that was not measured.
fn of_link(parts: &[String], several: bool) -> Option<String> {
    sentence(parts).or_else(|| several.then(|| "not measured.".to_owned()))
}

/// What the schedule and a control loop make of the delays.
fn cycles(subject: &Subject) -> Vec<String> {
    let missed = subject.deadlines.as_ref().map(cycles::missed);
    let held = subject
        .control
        .as_ref()
        .map(|report| report.verdict.clone());
    missed.into_iter().chain(held).collect()
}

fn answered<'a>(points: &[&'a PointSummary]) -> Vec<&'a PointSummary> {
    let answered = points.iter().filter(|point| point.rtt.is_some());
    answered.copied().collect()
}

/// Orders points by their sizes, those measured with no other link at the same time first.
fn size(point: &PointSummary) -> (bool, u32, u32) {
    let point = point.point;
    (point.together, point.out_bytes, point.in_bytes)
}

/// The smallest sizes at the lowest depth.
fn first_of<'a>(points: &[&'a PointSummary]) -> Option<&'a PointSummary> {
    let least = points
        .iter()
        .min_by_key(|point| (size(point), point.point.depth));
    least.copied()
}

fn median(point: &PointSummary) -> Option<Speed> {
    let p50 = point.rtt.as_ref()?.p50.value;
    Some(Speed {
        rank: p50,
        words: format!("median RTT {}", Measure::RttMedian.show(p50)),
    })
}

fn highest_rate(places: &[Named<'_>]) -> Option<Speed> {
    let (_, rate) = best(places, Measure::Rate, |_| true)?;
    Some(Speed {
        rank: -rate.value,
        words: format!("highest rate {}", Measure::Rate.show(rate.value)),
    })
}

/// Of the points of one link.
fn exchange(plan: &Plan, all: &[&PointSummary]) -> Vec<String> {
    let points = answered(all);
    let Some(first) = first_of(&points) else {
        let tried = all.iter().any(|point| point.counts.exchanges > 0);
        return tried.then(|| losses(all)).into_iter().collect();
    };
    let mut same: Vec<&PointSummary> = points
        .iter()
        .filter(|point| size(point) == size(first))
        .copied()
        .collect();
    same.sort_by_key(|point| point.point.depth);
    let sizes = match (first.point.out_bytes, first.point.in_bytes) {
        (out, back) if out == back => format!("{} B", grouped(out.into())),
        (out, back) => format!(
            "OUT {} B, IN {} B",
            grouped(out.into()),
            grouped(back.into())
        ),
    };
    let mut parts = Vec::new();
    let shown = match (plan.schedule, plan.connect) {
        (Schedule::EveryNs(ns), _) => {
            parts.push(sizes + &scheduled(plan, same[0], ns, &same));
            same[0]
        }
        (_, Connect::Each) => {
            let connect = same[0].connect.as_ref().map_or(String::new(), |connect| {
                format!(
                    ", opened in {} (median)",
                    Measure::RttMedian.show(connect.p50.value)
                )
            });
            parts.push(format!("{sizes}, a new link for each exchange{connect}"));
            same[0]
        }
        _ => {
            let (words, shown) = depths(&sizes, &same);
            parts.push(words);
            shown
        }
    };
    parts.extend(tail(shown, same.len() > 1));
    parts.extend(limit(plan, &points));
    // Also of points without an answer.
    parts.push(losses(all));
    parts
}

/// A schedule, and the pace that was kept instead if the link could not.
fn scheduled(plan: &Plan, point: &PointSummary, every_ns: u64, all: &[&PointSummary]) -> String {
    let every = super::card::given(Measure::Trt, every_ns);
    let depth = depth_of(point, all);
    let delay = point.start_delay.as_ref();
    match delay.filter(|_| point.is_behind(plan.schedule)) {
        Some(delay) => format!(
            ": the schedule of one exchange every {every} was not kept: {}starts up to {} late{depth}",
            point.trt.as_ref().map_or(String::new(), |trt| format!(
                "one every {}, ",
                Measure::Trt.show(trt.mean.value)
            )),
            Measure::Trt.show(delay.max)
        ),
        None => format!(", one exchange every {every}{depth}"),
    }
}

fn depth_of(point: &PointSummary, all: &[&PointSummary]) -> String {
    match all.len() {
        1 => String::new(),
        _ => format!(" at depth {}", point.point.depth),
    }
}

/// Which depth has the highest exchange rate, and its ratio to the rate at the lowest depth; a difference within the
/// intervals of the TRT is not significant.
fn depths<'a>(sizes: &str, same: &[&'a PointSummary]) -> (String, &'a PointSummary) {
    let trt = |point: &PointSummary| point.trt.as_ref().map(|trt| trt.mean);
    let rate = |point: &PointSummary| point.throughput.exchanges_s;
    let lowest = same[0];
    let alone = || {
        let words = match trt(lowest) {
            Some(mean) => format!(
                "{sizes}, depth {}: one exchange every {}",
                lowest.point.depth,
                Measure::Trt.show(mean.value)
            ),
            None => format!("{sizes}, depth {}", lowest.point.depth),
        };
        (words, lowest)
    };
    let timed = same.iter().copied().filter(|point| rate(point) > 0.0);
    let Some(best) = timed.max_by(|a, b| rate(a).total_cmp(&rate(b))) else {
        return alone();
    };
    let (Some(shortest), Some(base)) = (trt(best), trt(lowest)) else {
        return alone();
    };
    let low = lowest.point.depth;
    // One depth may be measured several times.
    if same.iter().all(|point| point.point.depth == low) {
        return alone();
    }
    if best.point.depth == low {
        let mut others = same.iter().filter(|point| point.point.depth != low);
        let proven = others.all(|point| trt(point).is_some_and(|other| is_proven(&base, &other)));
        let words = match proven {
            true => format!("{sizes}: no depth has a higher exchange rate than depth {low}"),
            false => format!(
                "{sizes}: no depth is proven to have a higher exchange rate than depth {low}"
            ),
        };
        return (words, lowest);
    }
    let (depth, ratio) = (best.point.depth, rate(best) / rate(lowest));
    let times = times(ratio);
    if overlap(&shortest, &base) {
        let words = format!(
            "{sizes}: no depth is proven to have a higher exchange rate than depth {low} ({times} at depth {depth} in \
             this run)"
        );
        return (words, best);
    }
    // N times the depth cannot give more than N times the rate: then the lower depth was disturbed.
    let is_explained = ratio <= 1.05 * f64::from(depth) / f64::from(low);
    let losing = [lowest, best]
        .iter()
        .any(|p| p.counts.lost + p.counts.late > 0);
    let words = match (is_proven(&shortest, &base), is_explained) {
        (true, true) => {
            format!("{sizes}: the exchange rate at depth {depth} is {times} that at depth {low}")
        }
        (_, false) => format!(
            "{sizes}: in this run the exchange rate at depth {depth} was {times} that at depth {low}, more than \
             the depth explains: {}",
            match losing {
                true => "waiting for lost responses took part of the time",
                false => "other conditions differed too",
            }
        ),
        (false, true) => format!(
            "{sizes}: in this run the exchange rate at depth {depth} was {times} that at depth {low}, without a \
             confidence interval"
        ),
    };
    (words, best)
}

/// True if both intervals are known and do not overlap.
fn is_proven(less: &Estimate, more: &Estimate) -> bool {
    let bounds = less.high.zip(more.low);
    bounds.is_some_and(|(high, low)| high < low)
}

/// True if both intervals are known and overlap, or else if the values differ by less than 5 %.
fn overlap(less: &Estimate, more: &Estimate) -> bool {
    match (less.high, more.low) {
        (Some(high), Some(low)) => high >= low,
        _ => less.value * 1.05 > more.value,
    }
}

fn tail(point: &PointSummary, named: bool) -> Option<String> {
    let of = Times::Answer.of(point)?;
    let from = match point.from_intended {
        Some(_) => " from the intended start",
        None => "",
    };
    let there = match named {
        true => format!(" at depth {}", point.point.depth),
        false => String::new(),
    };
    // With fewer samples p99 would be the longest; beyond the share of those answered, no percentile is defined.
    let percentiles = [("p99", Part::P99), ("p90", Part::P90), ("p50", Part::P50)];
    let percentiles = percentiles.map(|(name, part)| (name, Figure::Time(Times::Answer, part)));
    let (name, value, is_open) = match of.n >= 100 {
        true => percentiles
            .into_iter()
            .find(|(_, figure)| figure.unanswered_share(point).is_none())
            .and_then(|(name, figure)| {
                let found = figure.of_point(point)?;
                Some((name, found.value, found.high.is_none()))
            })?,
        false => ("longest", of.max, false),
    };
    let bound = match is_open {
        true => " (no upper bound)",
        false => "",
    };
    Some(format!(
        "{name}{from} {}{there}{bound}",
        Measure::RttTail.show(value)
    ))
}

fn limit(plan: &Plan, points: &[&PointSummary]) -> Option<String> {
    let known = || points.iter().filter_map(|p| Some((*p, p.limit.as_ref()?)));
    let bytes =
        |point: &PointSummary| u64::from(point.point.out_bytes) + u64::from(point.point.in_bytes);
    let most = known().max_by(|(_, a), (_, b)| a.used.total_cmp(&b.used));
    let reached = known().filter(|(_, limit)| limit.is_near());
    let name = |point: &PointSummary| names::exchange(plan, &point.point).whole();
    if let Some((point, limit)) = reached.min_by_key(|(point, _)| (bytes(point), point.point.depth))
    {
        let at_most = most.filter(|(most, _)| most.point != point.point);
        let at_most = at_most.filter(|(_, most)| (limit.used..=1.0).contains(&most.used));
        let at_most = at_most.map_or(String::new(), |(most, of)| {
            format!(", at most {} ({})", percent(of.used), name(most))
        });
        return Some(match limit.used <= 1.0 {
            true => format!(
                "{} of the bus limit at {}{at_most}",
                percent(limit.used),
                name(point)
            ),
            false => format!("the bus limit is reached at {}", name(point)),
        });
    }
    let (point, limit) = most?;
    let used = percent(limit.used);
    Some(format!("at most {used} of the bus limit ({})", name(point)))
}

fn losses(points: &[&PointSummary]) -> String {
    let sum = |of: fn(&PointSummary) -> u64| points.iter().map(|point| of(point)).sum::<u64>();
    let all = sum(|point| point.counts.exchanges);
    let lost = match sum(|point| point.counts.lost) {
        0 => "nothing lost".to_owned(),
        n => format!("{} of {} exchanges lost", grouped(n), grouped(all)),
    };
    let others = [
        (sum(|point| point.counts.late), "late"),
        (sum(|point| point.counts.corrupted), "with wrong bytes"),
        (
            sum(|point| point.counts.unexpected),
            "with an unexpected reply",
        ),
        (sum(|point| point.counts.duplicated), "duplicated"),
        (sum(|point| point.counts.reordered), "out of order"),
    ];
    let others = others.into_iter().filter(|(number, _)| *number > 0);
    let others = others.map(|(number, how)| format!("{} {how}", grouped(number)));
    let all: Vec<String> = std::iter::once(lost).chain(others).collect();
    all.join(", ")
}

fn flows<'a, 'b>(places: &'a [Named<'b>]) -> Vec<(&'a Named<'b>, &'b FlowSummary)> {
    places
        .iter()
        .filter_map(|named| match named.place {
            Place::Flow(_, flow) => Some((named, flow)),
            _ => None,
        })
        .collect()
}

/// Of the flows of one link.
fn stream(places: &[Named<'_>]) -> Vec<String> {
    let flows = flows(places);
    let mut parts = Vec::new();
    for way in [Way::In, Way::Out] {
        let of_it = flows.iter().filter(|(_, flow)| flow.way == way);
        let rated = of_it.filter_map(|(named, flow)| Some((named, flow, flow.rate?)));
        let best = rated.max_by(|(.., a), (.., b)| a.value.total_cmp(&b.value));
        let Some((named, flow, rate)) = best else {
            continue;
        };
        let used = flow.limit.as_ref().filter(|limit| limit.used <= 1.0);
        let used = used.map_or(String::new(), |limit| {
            format!(", {} of the bus limit", percent(limit.used))
        });
        parts.push(format!(
            "{} at best ({}{used})",
            Measure::Rate.show(rate.value),
            named.name
        ));
    }
    if parts.is_empty() {
        return parts;
    }
    parts.push(stream_losses(&flows));
    parts
}

fn stream_losses(flows: &[(&Named<'_>, &FlowSummary)]) -> String {
    let known: Option<Vec<u64>> = flows.iter().map(|(_, flow)| lost(flow)).collect();
    let other: u64 = flows
        .iter()
        .map(|(_, flow)| flow.counts.duplicated + flow.counts.corrupted + flow.counts.stray)
        .sum();
    let lost = match known.map(|lost| lost.into_iter().sum::<u64>()) {
        None => "losses unknown".to_owned(),
        Some(0) => "nothing lost".to_owned(),
        Some(n) => format!("{} B lost", grouped(n)),
    };
    match other {
        0 => lost,
        n => format!("{lost}; {} B duplicated, corrupted or stray", grouped(n)),
    }
}

fn closed_loop(places: &[Named<'_>]) -> Vec<String> {
    let points: Vec<(&Named<'_>, &LoopSummary)> = places
        .iter()
        .filter_map(|named| match named.place {
            Place::Loop(point) => Some((named, point)),
            _ => None,
        })
        .collect();
    let curves = points
        .iter()
        .filter(|(_, point)| point.point.aim == Aim::Curve)
        .filter_map(|(named, point)| Some((named, point.needed_ns?)));
    let mut parts = Vec::new();
    let lowest = curves.min_by(|(_, a), (_, b)| a.total_cmp(b));
    if let Some((named, needed)) = &lowest {
        let needed = *needed;
        let refuted = match named.place {
            Place::Loop(curve) => super::loop_summary::refuted(places, curve),
            _ => None,
        };
        parts.push(format!(
            "lowest latency without a stall: {} ({}){}",
            Measure::Latency.show(needed),
            named.name,
            refuted.map_or(String::new(), |words| format!(", but {words}"))
        ));
    }
    let held = points
        .iter()
        .filter(|(_, point)| point.point.aim == Aim::Hold && point.blocks > 0)
        .filter(|(_, point)| point.overruns + point.underruns == 0)
        // The preload of other settings says nothing about the latency named before.
        .filter(|(_, point)| match lowest.map(|(named, _)| named.place) {
            Some(Place::Loop(curve)) => settings(&curve.point) == settings(&point.point),
            _ => true,
        })
        .min_by(|(_, a), (_, b)| a.point.preload_ns().total_cmp(&b.point.preload_ns()));
    if let Some((named, point)) = held {
        let place = match lowest.is_some() || points.len() == 1 {
            true => String::new(),
            false => format!(" ({})", named.name),
        };
        parts.push(format!(
            "no stall in {} with a preload of {}{place}",
            Measure::Latency.show(point.elapsed_ns as f64),
            Measure::Latency.show(point.point.preload_ns())
        ));
    }
    if parts.is_empty() {
        return parts;
    }
    let stalls: u64 = points
        .iter()
        .map(|(_, point)| point.overruns + point.underruns)
        .sum();
    let blocks: u64 = points.iter().map(|(_, point)| point.blocks).sum();
    parts.push(match stalls {
        0 => format!("no stall in {} blocks", grouped(blocks)),
        n => format!("{} stalls in {} blocks", grouped(n), grouped(blocks)),
    });
    parts
}
