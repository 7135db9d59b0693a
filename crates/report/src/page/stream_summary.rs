//! The summary of a stream run: the highest rates, the buffers that they need, what became of the bytes.

use super::card::{Card, best, card, given, of_limit};
use super::measure::{Measure, Named, Place};
use wiregauge_quantity::{grouped, one_in};
use wiregauge_record::{FlowSummary, StreamPlan, StreamSummary, Way};
use wiregauge_stats::Estimate;

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
