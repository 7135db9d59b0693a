//! The summary of a stream run: the highest rates, the buffers that they need, what became of the bytes.

use super::card::{Card, best, card, count, given, list, of_limit};
use super::measure::{Measure, Named, Place};
use crate::tables::stream::lost;
use wiregauge_quantity::{grouped, one_in};
use wiregauge_record::{FlowSummary, StreamPlan, StreamProtocol, StreamSummary, Way};
use wiregauge_stats::Estimate;

/// What was measured.
pub(super) fn plan(plan: &StreamPlan, points: &[StreamSummary]) -> String {
    let ways: Vec<&str> = ["in", "out", "both"]
        .into_iter()
        .filter(|way| {
            points
                .iter()
                .any(|point| point.point.direction.name() == *way)
        })
        .map(|way| match way {
            "in" => "IN",
            "out" => "OUT",
            _ => "both directions at once",
        })
        .collect();
    let cells = |of: fn(&StreamSummary) -> u32| points.iter().map(of);
    format!(
        "Streams of {} in {}: {}; transfers of {}; queue: {}.",
        given(Measure::Trt, plan.duration_ns),
        count(points.len() as u64, "point", "points"),
        if ways.is_empty() {
            "-".into()
        } else {
            ways.join(", ")
        },
        list(cells(|point| point.point.transfer_bytes), "sizes", " B"),
        list(cells(|point| point.point.queue), "values", ""),
    )
}

/// A flow of a list of places.
fn flows<'a>(
    places: &'a [Named<'a>],
) -> impl Iterator<Item = (&'a Named<'a>, &'a StreamSummary, &'a FlowSummary)> {
    places.iter().filter_map(|named| match named.place {
        Place::Flow(point, flow) => Some((named, point, flow)),
        _ => None,
    })
}

/// The figures that matter.
pub(super) fn cards(plan: &StreamPlan, places: &[Named<'_>]) -> Vec<Card> {
    let mut cards = Vec::new();
    for way in [Way::In, Way::Out] {
        let found = best(places, Measure::Rate, |named| {
            named.place.way() == Some(way)
        });
        let Some((named, rate)) = found else { continue };
        let title = format!("Highest rate {}", way.name().to_uppercase());
        let mut card = card(&title, Measure::Rate, &rate, named);
        if let Place::Flow(_, flow) = named.place {
            card.notes.extend(flow.limit.as_ref().map(of_limit));
        }
        cards.push(card);
    }
    cards.extend(
        [Way::In, Way::Out]
            .into_iter()
            .filter_map(|way| buffer_card(plan, places, way)),
    );
    cards
}

/// The largest buffer needed in a direction, at the highest rate that any point of the run sustained.
fn buffer_card(plan: &StreamPlan, places: &[Named<'_>], way: Way) -> Option<Card> {
    let sustained: Vec<_> = flows(places)
        .filter(|(named, _, _)| named.place.way() == Some(way))
        .flat_map(|(named, _, flow)| flow.buffers.iter().map(move |need| (named, need)))
        .filter(|(_, need)| need.sustained)
        .collect();
    let rate = sustained.iter().map(|(_, need)| need.rate_bytes_s).max()?;
    let (named, need) = sustained
        .into_iter()
        .filter(|(_, need)| need.rate_bytes_s == rate)
        .max_by_key(|(_, need)| need.worst_bytes)?;
    let shown = |bytes: f64| grouped(bytes.max(0.0).ceil() as u64);
    let note = match need.for_loss_bytes {
        Some(Estimate {
            value,
            low: Some(low),
            high: Some(high),
        }) if !need.extrapolated => format!(
            "for a loss probability of {:e}: {} B, 95 % interval {} to {} B",
            plan.loss,
            shown(value),
            shown(low),
            shown(high)
        ),
        // Extrapolated figures are in the table; they may be off by powers of ten.
        _ => format!(
            "this run is too short for a loss probability of {:e}; it supports estimates down to {}",
            plan.loss,
            one_in(need.observable_loss)
        ),
    };
    Some(Card {
        title: format!(
            "Buffer needed {} at a constant {}",
            way.name().to_uppercase(),
            given(Measure::Rate, rate)
        ),
        value: format!("{} B", grouped(need.worst_bytes)),
        interval: "largest backlog of the points that sustained this rate".into(),
        place: named.name.clone(),
        notes: vec![note],
    })
}

/// What became of the data.
pub(super) fn outcome(plan: &StreamPlan, places: &[Named<'_>]) -> Vec<String> {
    let mut said = Vec::new();
    let sum = |of: fn(&FlowSummary) -> u64| flows(places).map(|(_, _, flow)| of(flow)).sum::<u64>();
    let counted = sum(|flow| flow.counts.counted());
    let is_known = flows(places).all(|(_, _, flow)| lost(flow).is_some());
    let wrong = [
        (sum(|flow| lost(flow).unwrap_or(0)), "lost"),
        (sum(|flow| flow.counts.duplicated), "received twice"),
        (sum(|flow| flow.counts.corrupted), "changed"),
        (sum(|flow| flow.counts.stray), "that were not sent"),
    ];
    let wrong: Vec<String> = wrong
        .into_iter()
        .filter(|(bytes, _)| *bytes > 0)
        .map(|(bytes, how)| format!("{} B {how}", grouped(bytes)))
        .collect();
    let checked = match plan.check || plan.protocol == StreamProtocol::Raw {
        true => "",
        false => " (bytes were counted; content was not checked)",
    };
    if counted > 0 && flows(places).all(|(_, _, flow)| flow.transfers == 0) {
        said.push(format!(
            "No transfer was measured; {} were counted outside the measured part.",
            megabytes(counted)
        ));
    } else if counted > 0 && wrong.is_empty() && !is_known {
        said.push(format!(
            "{} counted by this host; how many bytes were lost is not known, since the device reports no \
             count{checked}.",
            megabytes(counted)
        ));
    } else if counted > 0 && wrong.is_empty() {
        said.push(format!(
            "No byte of {} was lost or corrupted{checked}.",
            megabytes(counted)
        ));
    } else if counted > 0 {
        said.push(format!(
            "Of {}: {}{checked}.",
            megabytes(counted),
            wrong.join(", ")
        ));
    }
    let unsustained = plan.rates_bytes_s.iter().filter(|&&rate| {
        let mut asked = flows(places)
            .flat_map(|(_, _, flow)| &flow.buffers)
            .filter(|need| need.rate_bytes_s == rate)
            .peekable();
        asked.peek().is_some() && asked.all(|need| !need.sustained)
    });
    for &rate in unsustained {
        said.push(format!(
            "No point sustained {}: no buffer is large enough for that rate.",
            given(Measure::Rate, rate)
        ));
    }
    let longest = flows(places)
        .filter_map(|(named, _, flow)| Some((named, flow.gap.as_ref()?.max)))
        .max_by(|(_, a), (_, b)| a.total_cmp(b));
    if let Some((named, gap)) = longest {
        said.push(format!(
            "Longest gap between two completions: {} ({}).",
            Measure::RttTail.show(gap),
            named.name
        ));
    }
    said
}

fn megabytes(bytes: u64) -> String {
    match bytes {
        b if b >= 1_000_000 => format!("{} MB", wiregauge_quantity::significant(b as f64 / 1e6)),
        b => format!("{} B", grouped(b)),
    }
}
