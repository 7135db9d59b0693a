//! The summary of an exchange run: median, TRT or what takes its place, throughput, what became of the exchanges.

use super::card::{Card, best, card, count, given, list, of_limit, points, smallest};
use super::measure::{Measure, Named, Place};
use wiregauge_quantity::{grouped, percent, times};
use wiregauge_record::{Connect, Plan, PointSummary, Schedule};

/// What was measured.
pub(super) fn plan(plan: &Plan, points: &[PointSummary]) -> String {
    let exchanges: u64 = points.iter().map(|point| point.counts.exchanges).sum();
    let how = match plan.schedule {
        Schedule::AsFastAsPossible => String::new(),
        Schedule::EveryNs(ns) => format!(", one every {}", given(Measure::Trt, ns)),
    };
    let opened = match plan.connect {
        Connect::Once => "",
        Connect::Each => ", with a new link for each",
    };
    let cells = |of: fn(&PointSummary) -> u32| points.iter().map(of);
    format!(
        "{} in {}{how}{opened}: requests of {}, responses of {}; depth: {}.",
        count(exchanges, "exchange", "exchanges"),
        count(points.len() as u64, "point", "points"),
        list(cells(|point| point.point.out_bytes), "sizes", " B"),
        list(cells(|point| point.point.in_bytes), "sizes", " B"),
        list(cells(|point| point.point.depth), "values", ""),
    )
}

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

/// What became of the data.
pub(super) fn outcome(plan: &Plan, places: &[Named<'_>]) -> Vec<String> {
    let mut said = Vec::new();
    let sum =
        |of: fn(&PointSummary) -> u64| points(places).map(|(_, point)| of(point)).sum::<u64>();
    let all = sum(|point| point.counts.exchanges);
    let wrong = [
        (sum(|point| point.counts.lost), "lost"),
        (sum(|point| point.counts.late), "late"),
        (sum(|point| point.counts.corrupted), "with wrong bytes"),
        (
            sum(|point| point.counts.unexpected),
            "with an unexpected reply",
        ),
        (sum(|point| point.counts.duplicated), "duplicated"),
        (sum(|point| point.counts.reordered), "out of order"),
    ];
    let wrong: Vec<String> = wrong
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, how)| format!("{} {how}", grouped(number)))
        .collect();
    if all > 0 && wrong.is_empty() {
        said.push(format!(
            "All {} were answered once, correctly, in order and in time.",
            count(all, "exchange", "exchanges")
        ));
    } else if all > 0 {
        said.push(format!(
            "Errors in {}: {}.",
            count(all, "exchange", "exchanges"),
            wrong.join(", ")
        ));
    }
    for (at, &limit) in plan.below_ns.iter().enumerate() {
        let worst = points(places)
            .filter_map(|(named, point)| Some((named, point.below.get(at)?)))
            .min_by(|(_, a), (_, b)| a.share.total_cmp(&b.share));
        if let Some((named, share)) = worst {
            let whose = match places.len() {
                1 => String::new(),
                _ => format!("At the worst point ({}), ", named.name),
            };
            let interval = match share.interval() {
                Some((low, high)) => format!("95 % interval {} to {}", percent(low), percent(high)),
                None => "no interval: too few independent samples, or drift".into(),
            };
            said.push(format!(
                "{whose}{} of the exchanges were below {} ({interval}).",
                percent(share.share),
                given(Measure::Trt, limit),
            ));
        }
    }
    let longest = points(places)
        .filter_map(|(named, point)| Some((named, point.rtt.as_ref()?)))
        .max_by(|(_, a), (_, b)| a.max.total_cmp(&b.max));
    if let Some((named, rtt)) = longest {
        let ratio = match rtt.max / rtt.p50.value {
            ratio if ratio.is_finite() => format!(", {} the median there", times(ratio)),
            _ => String::new(),
        };
        said.push(format!(
            "Longest RTT: {} ({}){ratio}.",
            Measure::RttTail.show(rtt.max),
            named.name
        ));
    }
    said
}
