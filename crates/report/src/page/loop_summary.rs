//! The summary of a loop run: the latency that it needed, what this host's floor for it is, whether
//! the preload that was tested held and the latency was verified.

use super::card::{Card, best, count};
use super::measure::{Measure, Named, Place};
use crate::tables::closed_loop::{refuting, settings};
use wiregauge_quantity::{grouped, significant, times};
use wiregauge_record::{Aim, LoopPoint, LoopSummary};
use wiregauge_stats::poisson_high;

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
