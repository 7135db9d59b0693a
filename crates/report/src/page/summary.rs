//! The summary in words that stands first on the page: what was measured, on what, the figures that
//! matter for this kind of run, what limits, what became of the data.

use super::card::{Card, best, count, given, list, points, smallest};
use super::loop_summary;
use super::measure::{Measure, Named, Place, places};
use super::progress::Progress;
use crate::Subject;
use crate::link_names;
use crate::tables::stream::lost;
use crate::units::{grouped, one_in, percent};
use wiregauge_record::{
    Connect, FlowSummary, Plan, PointSummary, Schedule, StreamPlan, StreamProtocol, StreamSummary,
    Way,
};
use wiregauge_run::{AnyRun, State};
use wiregauge_stats::Estimate;

/// What is said of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Summary {
    /// How far the run came, if not to its end.
    pub(super) unfinished: Option<String>,
    /// What was measured.
    pub(super) plan: String,
    /// The figures that matter, at most three.
    pub(super) cards: Vec<Card>,
    /// What became of the exchanges or the bytes, limits that were asked about, the longest.
    pub(super) outcome: Vec<String>,
    /// Of the points that the cards name: what limits there.
    pub(super) limits: Vec<(String, String)>,
    /// The link in a few numbers, a sentence for each way of each link that has a model.
    pub(super) models: Vec<String>,
}

/// Summarises one run.
pub(super) fn of(subject: &Subject) -> Summary {
    let places = places(&subject.run);
    let progress = Progress::of(&subject.run);
    let mut summary = match &subject.run {
        AnyRun::Exchange(run) => Summary {
            unfinished: unfinished(&run.file.state, progress),
            plan: exchange_plan(&run.file.plan, &run.file.points),
            cards: exchange_cards(&run.file.plan, &places),
            outcome: exchange_outcome(&run.file.plan, &places),
            ..Summary::default()
        },
        AnyRun::Stream(run) => Summary {
            unfinished: unfinished(&run.file.state, progress),
            plan: stream_plan(&run.file.plan, &run.file.points),
            cards: stream_cards(&run.file.plan, &places),
            outcome: stream_outcome(&run.file.plan, &places),
            ..Summary::default()
        },
        AnyRun::Loop(run) => Summary {
            unfinished: unfinished(&run.file.state, progress),
            plan: loop_summary::plan(&run.file.plan, &run.file.points),
            cards: loop_summary::cards(&places),
            outcome: loop_summary::outcome(&places),
            ..Summary::default()
        },
        AnyRun::Control(_) => Summary::default(),
    };
    summary.limits = limits(&subject.run, &summary.cards);
    summary.models = models(&subject.run);
    summary
}

fn unfinished(state: &State, progress: Option<Progress>) -> Option<String> {
    let Progress { done, planned } = progress?;
    let points = match done {
        0 => "No point was finished.".to_string(),
        _ => format!("{done} of {planned} points are finished."),
    };
    match state {
        State::Complete => None,
        State::Running => Some(format!(
            "The run was still in progress when this page was made, or its process was killed. {points}"
        )),
        State::Interrupted => Some(format!("The run was interrupted. {points}")),
        State::Failed { error } => Some(failed(error, &points)),
    }
}

/// The hint of an error comes last, as a sentence of its own.
fn failed(error: &str, points: &str) -> String {
    let mut parts = error.split("\n").map(str::trim);
    let what = parts.next().unwrap_or_default();
    let hints: Vec<&str> = parts.collect();
    let what = what.trim_end_matches('.');
    match hints.join(" ") {
        hint if hint.is_empty() => format!("The run failed: {what}. {points}"),
        hint => format!(
            "The run failed: {what}. {points} {}",
            sentence(&hint.replacen("hint:", "Hint:", 1))
        ),
    }
}

/// The text with a stop at its end.
fn sentence(text: &str) -> String {
    match text.ends_with(['.', '?', '!']) {
        true => text.into(),
        false => format!("{text}."),
    }
}

fn exchange_plan(plan: &Plan, points: &[PointSummary]) -> String {
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

fn stream_plan(plan: &StreamPlan, points: &[StreamSummary]) -> String {
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

fn card(title: &str, measure: Measure, estimate: &Estimate, place: &Named<'_>) -> Card {
    Card {
        title: title.into(),
        value: measure.value(estimate),
        interval: measure.interval(estimate, place.place.missing()),
        place: place.name.clone(),
        notes: Vec::new(),
    }
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

fn exchange_cards(plan: &Plan, places: &[Named<'_>]) -> Vec<Card> {
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
                    super::measure::digits(point.throughput.exchanges_s),
                ));
            }
            card.notes.extend(point.limit.as_ref().map(of_limit));
        }
        cards.push(card);
    }
    cards
}

fn of_limit(limit: &wiregauge_record::BusLimit) -> String {
    let limit_rate = Measure::Rate.show(limit.bytes_s);
    match limit.used {
        used if used > 1.0 => format!(
            "{} of the limit of {limit_rate} ({}): buffers were filling, or the limit is not that of what carried \
             the data",
            percent(used),
            limit.source
        ),
        used => format!(
            "{} of the limit of {limit_rate} ({})",
            percent(used),
            limit.source
        ),
    }
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

fn exchange_outcome(plan: &Plan, places: &[Named<'_>]) -> Vec<String> {
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
            ratio if ratio < 10.0 => format!(", {ratio:.1} times the median there"),
            ratio if ratio.is_finite() => format!(", {ratio:.0} times the median there"),
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

fn stream_cards(plan: &StreamPlan, places: &[Named<'_>]) -> Vec<Card> {
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

fn stream_outcome(plan: &StreamPlan, places: &[Named<'_>]) -> Vec<String> {
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
        b if b >= 1_000_000 => format!("{} MB", super::measure::digits(b as f64 / 1e6)),
        b => format!("{} B", grouped(b)),
    }
}

/// What limits at the points that the cards name, each once.
fn limits(run: &AnyRun, cards: &[Card]) -> Vec<(String, String)> {
    let all: Vec<(String, String)> = match run {
        AnyRun::Exchange(run) => {
            let file = &run.file;
            wiregauge_explain::of_exchange(&file.plan, &file.conditions, &file.points)
                .into_iter()
                .map(|split| {
                    (
                        super::names::exchange(&file.plan, &split.point).whole(),
                        split.words,
                    )
                })
                .collect()
        }
        AnyRun::Stream(run) => {
            let file = &run.file;
            wiregauge_explain::of_stream(&file.plan, &file.points)
                .flows
                .into_iter()
                .map(|split| {
                    (
                        super::names::flow(&file.plan, &split.point, split.way).whole(),
                        split.words,
                    )
                })
                .collect()
        }
        // What limits a loop is its floor, which has a card of its own.
        AnyRun::Loop(_) | AnyRun::Control(_) => Vec::new(),
    };
    let mut said: Vec<(String, String)> = Vec::new();
    for card in cards {
        if said.iter().all(|(name, _)| *name != card.place) {
            said.extend(all.iter().find(|(name, _)| *name == card.place).cloned());
        }
    }
    said
}

/// The link in a few numbers, a sentence a model.
fn models(run: &AnyRun) -> Vec<String> {
    let (all, links) = match run {
        AnyRun::Exchange(run) => (
            wiregauge_explain::models_of_exchange(
                &run.file.plan,
                &run.file.conditions,
                &run.file.points,
            ),
            run.file.plan.more_links.len(),
        ),
        AnyRun::Stream(run) => (
            wiregauge_explain::of_stream(&run.file.plan, &run.file.points).models,
            run.file.plan.more_links.len(),
        ),
        AnyRun::Loop(_) | AnyRun::Control(_) => return Vec::new(),
    };
    all.iter()
        .filter_map(|modelled| {
            let mut name = String::new();
            if let (Some(direction), Some(way)) = (modelled.direction, modelled.way) {
                name.push_str(&format!(", {}", direction.words_of(way)));
            }
            if links > 0 {
                name.push_str(&format!(
                    ", {}",
                    link_names::link(modelled.link, modelled.together)
                ));
            }
            Some(format!(
                "Link model{name}: {}.",
                modelled.in_short.as_ref()?
            ))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_of_a_failed_run_is_a_sentence_of_its_own() {
        let points = "2 of 6 points are finished.";
        assert_eq!(
            failed(
                "tcp://a:7 closed the link\n  hint: was the device restarted?",
                points
            ),
            "The run failed: tcp://a:7 closed the link. 2 of 6 points are finished. Hint: was the device restarted?"
        );
        assert_eq!(
            failed("no answer\n  hint: use a longer --timeout", points),
            "The run failed: no answer. 2 of 6 points are finished. Hint: use a longer --timeout."
        );
        assert_eq!(failed("no answer", ""), "The run failed: no answer. ");
    }
}
