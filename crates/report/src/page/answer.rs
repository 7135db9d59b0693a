//! The first sentence of a page: the main result, in figures that the samples support.

use super::card::best;
use super::cycles;
use super::links::{self, Link, Speed};
use super::measure::{Measure, Named, Place, places};
use super::progress::Progress;
use super::tuned;
use crate::Subject;
use crate::load::Tuned;
use crate::tables::closed_loop::settings;
use crate::tables::stream::lost;
use crate::tables::{ComparisonTables, exchange_answer};
use wiregauge_quantity::{grouped, percent};
use wiregauge_record::{Aim, FlowSummary, LoopSummary, Way};
use wiregauge_run::AnyRun;

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
        *first = format!("{progress}. {first}");
    }
    let cycles = cycles(subject);
    match &mut all[..] {
        [] => {}
        [only] if sentences(&subject.run) < 2 => {
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

fn sentences(run: &AnyRun) -> usize {
    match run {
        AnyRun::Exchange(_) => 1,
        AnyRun::Stream(run) => run.file.plan.links().count(),
        AnyRun::Loop(_) | AnyRun::Control(_) => 1,
    }
}

/// One sentence for each link.
fn of_links(run: &AnyRun) -> Vec<String> {
    let places = places(run);
    match run {
        AnyRun::Exchange(run) => vec![exchange_answer(&run.file)],
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

fn highest_rate(places: &[Named<'_>]) -> Option<Speed> {
    let (_, rate) = best(places, Measure::Rate, |_| true)?;
    Some(Speed {
        rank: -rate.value,
        words: format!("highest rate {}", Measure::Rate.show(rate.value)),
    })
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
