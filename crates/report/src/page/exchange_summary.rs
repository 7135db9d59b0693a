//! The summary of an exchange run: median, TRT or what takes its place, throughput, what became of the exchanges.

use super::card::{Card, best, card, of_limit, points, smallest};
use super::measure::{Measure, Named, Place};
use wiregauge_record::{Connect, Plan, PointSummary, Schedule};

/// The figures that matter.
pub(super) fn cards(plan: &Plan, places: &[Named<'_>]) -> Vec<Card> {
    let mut cards = Vec::new();
    if let Some(named) = smallest(places)
        && let Some(median) = named.place.measure(Measure::RttMedian)
    {
        let title = match places.len() {
            1 => "RTT, median",
            _ => "RTT, median, at the lowest depth and smallest size",
        };
        let mut card = card(title, Measure::RttMedian, &median, named);
        if let Some(tail) = named.place.measure(Measure::RttTail) {
            card.notes.push(format!(
                "p99.9: {} ({})",
                Measure::RttTail.value(&tail),
                Measure::RttTail.interval(&tail, named.place.missing())
            ));
        }
        cards.push(card);
    }
    match (plan.schedule, plan.connect) {
        // The schedule sets the TRT, so it tells nothing of the link.
        (Schedule::EveryNs(_), _) => cards.extend(scheduled_card(places)),
        (_, Connect::Each) => cards.extend(connect_card(places)),
        _ => cards.extend(trt_card(places)),
    }
    if let Some((named, throughput)) = best(places, Measure::Throughput, |_| true) {
        let title = "Highest throughput, OUT + IN";
        let mut card = card(title, Measure::Throughput, &throughput, named);
        if let Place::Exchange(point) = named.place {
            if point.throughput.out_bytes_s > 0.0 && point.throughput.in_bytes_s > 0.0 {
                card.notes.push(format!(
                    "OUT {}, IN {}; {} exchanges/s",
                    Measure::Throughput.show(point.throughput.out_bytes_s),
                    Measure::Throughput.show(point.throughput.in_bytes_s),
                    wiregauge_quantity::significant(point.throughput.exchanges_s),
                ));
            }
            card.notes.extend(point.limit.as_ref().map(of_limit));
        }
        cards.push(card);
    }
    cards
}

fn trt_card(places: &[Named<'_>]) -> Option<Card> {
    // Where nothing was answered, it is the timeout.
    let answered = |named: &Named<'_>| named.place.measure(Measure::RttMedian).is_some();
    let (named, trt) = best(places, Measure::Trt, answered)?;
    let mut card = card("Shortest TRT, mean", Measure::Trt, &trt, named);
    let Place::Exchange(point) = named.place else {
        return Some(card);
    };
    let single = points(places).find(|(_, other)| {
        let (here, there) = (point.point, other.point);
        there.depth == 1
            && (there.out_bytes, there.in_bytes) == (here.out_bytes, here.in_bytes)
            && (there.link, there.together) == (here.link, here.together)
    });
    let single = single.and_then(|(named, _)| named.place.measure(Measure::Trt));
    if let Some(single) = single.filter(|_| point.point.depth > 1) {
        card.notes.push(format!(
            "at depth 1 with the same sizes: {}",
            Measure::Trt.show(single.value)
        ));
    }
    Some(card)
}

fn scheduled_card(places: &[Named<'_>]) -> Option<Card> {
    let (named, point) = points(places).max_by(|(_, a), (_, b)| {
        let late =
            |point: &PointSummary| point.from_intended.as_ref().map_or(0.0, |d| d.p999.value);
        late(a).total_cmp(&late(b))
    })?;
    let late = point.from_intended.as_ref()?;
    let title = "p99.9 from the intended start, worst point";
    let mut card = card(title, Measure::RttTail, &late.p999, named);
    card.notes
        .push(format!("longest: {}", Measure::RttTail.show(late.max)));
    Some(card)
}

fn connect_card(places: &[Named<'_>]) -> Option<Card> {
    let (named, point) = points(places)
        .filter(|(_, point)| point.connect.is_some())
        .min_by_key(|(_, point)| {
            (
                point.point.depth,
                point.point.out_bytes,
                point.point.in_bytes,
            )
        })?;
    let connect = point.connect.as_ref()?;
    Some(card(
        "Connection time, median",
        Measure::RttMedian,
        &connect.p50,
        named,
    ))
}
