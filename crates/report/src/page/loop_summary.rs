//! The summary of a loop run: the latency that it needed, what this host's floor for it is, whether
//! the preload that was tested held and the latency was verified.

use super::card::{Card, best, count, given, list};
use super::measure::{Measure, Named, Place};
use crate::tables::closed_loop::{refuting, settings};
use std::collections::BTreeSet;
use wiregauge_quantity::{grouped, megasamples, significant, times};
use wiregauge_record::{Aim, LoopPath, LoopPlan, LoopPoint, LoopSummary, Verified};
use wiregauge_stats::poisson_high;

/// What was measured.
pub(super) fn plan(plan: &LoopPlan, points: &[LoopSummary]) -> String {
    let curves = || points.iter().filter(|point| point.point.aim == Aim::Curve);
    let tested = points.len() - curves().count();
    let process: Vec<String> = plan.process.iter().map(ToString::to_string).collect();
    let rates: BTreeSet<u64> = points.iter().map(|point| point.point.rate_hz).collect();
    let rates: Vec<String> = rates.iter().map(|rate| megasamples(*rate)).collect();
    let rates = match &rates[..] {
        [] => "-".into(),
        [one] => one.clone(),
        [rest @ .., last] if rest.len() < 6 => format!("{} and {last}", rest.join(", ")),
        [first, .., last] => format!("{} rates from {first} to {last}", rates.len()),
    };
    let cells = |of: fn(&LoopPoint) -> u32| points.iter().map(move |point| of(&point.point));
    let paths: BTreeSet<LoopPath> = points.iter().map(|point| point.point.path).collect();
    let paths = match paths.iter().any(|path| path.is_gpu()) {
        true => {
            let names: Vec<String> = paths.iter().map(ToString::to_string).collect();
            format!("; by {}", names.join(", "))
        }
        false => String::new(),
    };
    let mut what = Vec::new();
    if curves().count() > 0 || tested == 0 {
        what.push(count(curves().count() as u64, "point", "points"));
    }
    if tested > 0 {
        what.push(count(tested as u64, "tested preload", "tested preloads"));
    }
    let virtual_device = match plan.address.starts_with("virtual") {
        true => {
            " The virtual device has no card, no DMA and no driver: this is the latency of the host alone."
        }
        false => "",
    };
    let preload = match tested {
        0 => "",
        _ => " A preload is the output queued before the start; it sets the latency.",
    };
    format!(
        "A closed loop, {} per point, with {}: {rates} MS/s; channels: {}; blocks of {}; processing: \
         {}{paths}.{preload}{virtual_device}",
        given(Measure::Latency, plan.duration_ns),
        what.join(" and "),
        list(cells(|point| point.channels), "values", ""),
        list(cells(|point| point.notify_bytes), "sizes", " B"),
        process.join(", "),
    )
}

/// The figures that matter: latency needed, floor, tested preload.
pub(super) fn cards(places: &[Named<'_>]) -> Vec<Card> {
    let curve = |named: &Named<'_>| matches!(named.place, Place::Loop(point) if point.point.aim == Aim::Curve);
    let shortest = best(places, Measure::Latency, curve);
    let mut cards = Vec::new();
    if let Some((named, latency)) = &shortest
        && let Place::Loop(point) = named.place
    {
        let several = points(places).filter(|(named, _)| curve(named)).count() > 1;
        let mut card = Card {
            title: match several {
                true => "Lowest latency without a stall, of all points".into(),
                false => "Lowest latency without a stall".into(),
            },
            value: Measure::Latency.show(latency.value),
            interval: bound(point),
            place: named.name.clone(),
            notes: Vec::new(),
        };
        card.notes.extend(
            point
                .needed_bytes
                .map(|bytes| format!("as a buffer of whole blocks: {} B", grouped(bytes))),
        );
        card.notes.extend(refuted(places, point));
        cards.push(card);
        cards.extend(floor_card(named, point));
    }
    let of = shortest.and_then(|(named, _)| match named.place {
        Place::Loop(point) => Some(&point.point),
        _ => None,
    });
    cards.extend(tested_card(places, of));
    cards
}

fn points<'a>(places: &'a [Named<'a>]) -> impl Iterator<Item = (&'a Named<'a>, &'a LoopSummary)> {
    places.iter().filter_map(|named| match named.place {
        Place::Loop(point) => Some((named, point)),
        _ => None,
    })
}

fn stalls(point: &LoopSummary) -> u64 {
    point.overruns + point.underruns
}

/// How sure it is that a latency is long enough.
fn bound(point: &LoopSummary) -> String {
    let span = Measure::Latency.show(point.elapsed_ns as f64);
    match point.curve.last() {
        Some(rung) => format!(
            "no longer delay in {span}; at most {} stalls per minute (95 %)",
            significant(rung.per_minute_high)
        ),
        None => format!("no longer delay in {span}"),
    }
}

/// A test that stalled with a preload at least as long as the latency that needed none in another part of the run.
pub(super) fn refuted(places: &[Named<'_>], curve: &LoopSummary) -> Option<String> {
    let worst = refuting(points(places).map(|(_, point)| point), curve)?;
    Some(format!(
        "a tested preload of {} had {}",
        Measure::Latency.show(worst.point.preload_ns()),
        count(stalls(worst), "stall", "stalls")
    ))
}

fn floor_card(named: &Named<'_>, point: &LoopSummary) -> Option<Card> {
    let (floor_ns, delay, needed) = (
        point.floor_ns?,
        point.host_delay.as_ref()?,
        point.needed_ns?,
    );
    let ratio = needed / floor_ns;
    let ratio = match ratio.is_finite() {
        true => format!("the latency above is {} this", times(ratio)),
        false => "reference for the latency above".into(),
    };
    Some(Card {
        title: "Floor: the same without processing".into(),
        value: Measure::Latency.show(floor_ns),
        interval: ratio,
        place: named.name.clone(),
        notes: vec![format!(
            "one block ({}) plus the longest host delay ({})",
            Measure::Latency.show(point.point.period_ns()),
            Measure::Latency.show(delay.max)
        )],
    })
}

/// The shortest tested preload that held; if none did, the last one tested.
fn tested_card(places: &[Named<'_>], of: Option<&LoopPoint>) -> Option<Card> {
    let tested = || {
        points(places).filter(|(_, point)| {
            let same = of.is_none_or(|of| settings(&point.point) == settings(of));
            point.point.aim == Aim::Hold && same
        })
    };
    let held = tested()
        .filter(|(_, point)| stalls(point) == 0 && point.blocks > 0)
        .min_by(|(_, a), (_, b)| a.point.preload_ns().total_cmp(&b.point.preload_ns()));
    let (named, point) = held.or_else(|| tested().last())?;
    let span = Measure::Latency.show(point.elapsed_ns as f64);
    let minutes = point.elapsed_ns as f64 / 60e9;
    let most = match minutes > 0.0 {
        true => format!(
            "; at most {} stalls per minute (95 %)",
            significant(poisson_high(stalls(point)) / minutes)
        ),
        false => String::new(),
    };
    let (did, what) = match (held.is_some(), point.blocks) {
        (true, _) => ("without a stall", format!("in {span}{most}")),
        (false, 0) => (
            "that was not tested to the end",
            "no block was measured".into(),
        ),
        (false, _) => (
            "that was too short",
            format!(
                "{} and {} in {span}",
                count(point.overruns, "overrun", "overruns"),
                count(point.underruns, "underrun", "underruns")
            ),
        ),
    };
    let verified = point.verified.as_ref();
    let verified = verified.filter(|v| v.holds());
    Some(Card {
        title: format!("Preload {did}"),
        value: Measure::Latency.show(point.point.preload_ns()),
        interval: what,
        place: named.name.clone(),
        notes: verified
            .map(|v| format!("output checked, to the sample ({})", v.method))
            .into_iter()
            .collect(),
    })
}

/// What became of the blocks, whether latencies held and were verified, the longest delay.
pub(super) fn outcome(places: &[Named<'_>]) -> Vec<String> {
    let mut said = Vec::new();
    let sum = |of: fn(&LoopSummary) -> u64| points(places).map(|(_, p)| of(p)).sum::<u64>();
    let (blocks, over, under) = (
        sum(|point| point.blocks),
        sum(|point| point.overruns),
        sum(|point| point.underruns),
    );
    if blocks > 0 && over + under == 0 {
        said.push(format!(
            "All of {} were processed and returned in time.",
            count(blocks, "block", "blocks")
        ));
    } else if blocks > 0 {
        let tested = points(places).any(|(_, p)| p.point.aim == Aim::Hold && stalls(p) > 0);
        said.push(format!(
            "Of {}: {} (input lost) and {} (output without data){}.",
            count(blocks, "block", "blocks"),
            count(over, "overrun", "overruns"),
            count(under, "underrun", "underruns"),
            match tested {
                true => ", including those at tested preloads that were too short",
                false => "",
            }
        ));
    }
    let tested = || points(places).filter(|(_, p)| p.point.aim == Aim::Hold);
    if tested().count() > 1 {
        said.push(format!(
            "{} of {} tested preloads had no stall.",
            tested().filter(|(_, p)| stalls(p) == 0).count(),
            tested().count()
        ));
    }
    said.extend(verified(places));
    let ratios: Vec<f64> = points(places)
        .filter(|(_, point)| point.point.aim == Aim::Curve)
        .filter_map(|(_, point)| Some(point.needed_ns? / point.floor_ns?))
        .filter(|ratio| ratio.is_finite())
        .collect();
    if ratios.len() > 1 {
        let of = |pick: fn(f64, f64) -> f64| ratios.iter().copied().reduce(pick).unwrap_or(0.0);
        let (least, most) = (
            format!("{:.2}", of(f64::min)),
            format!("{:.2}", of(f64::max)),
        );
        let range = match least == most {
            true => least,
            false => format!("{least} to {most}"),
        };
        said.push(format!(
            "The lowest latency without a stall was {range} times the floor, over {} points.",
            ratios.len()
        ));
    }
    let longest = points(places)
        .filter_map(|(named, point)| Some((named, point.service.as_ref()?.max)))
        .max_by(|(_, a), (_, b)| a.total_cmp(b));
    if let Some((named, ns)) = longest {
        said.push(format!(
            "Longest service delay: {} ({}).",
            Measure::Latency.show(ns),
            named.name
        ));
    }
    said
}

/// At how many points the latency was found to be the preload, and how.
fn verified(places: &[Named<'_>]) -> Option<String> {
    let all = points(places).count();
    let good: Vec<&Verified> = points(places)
        .filter_map(|(_, point)| point.verified.as_ref())
        .filter(|v| v.holds())
        .collect();
    let methods: BTreeSet<&str> = good.iter().map(|v| v.method.as_str()).collect();
    let methods: Vec<&str> = methods.into_iter().collect();
    let methods = methods.join(", ");
    let is = match good.iter().any(|v| v.cable_frames.unwrap_or(0) > 0) {
        true => "equals the preload plus the cable, to the sample",
        false => "equals the preload, to the sample",
    };
    match (all, good.len()) {
        (0, _) => None,
        (_, 0) => Some("The output was not checked at any point.".into()),
        (1, _) => Some(format!(
            "The output was checked ({methods}): its delay {is}."
        )),
        (all, good) => Some(format!(
            "The output was checked at {good} of {all} points ({methods}): its delay {is} there."
        )),
    }
}
