//! The result: in one sentence, and in the sentences that go with it where everything is printed.

use super::on_trace::{held, highest};
use super::shown::Shown;
use super::words::{growth, times};
use super::{any_order, long_run, on_trace};
use crate::tables::brief::sentence_of;
use wiregauge_control::Assessment;
use wiregauge_quantity::time;
use wiregauge_quantity::{number, percent};

/// Costs that differ by less are the same for the user.
const SAME: f64 = 1.01;

/// An output whose standard deviation rose to more than this multiple of that without delay was far off.
const FAR: f64 = 10.0;

/// One of the three verdicts on a point.
struct Verdict {
    name: &'static str,
    of: fn(&Assessment) -> &'static str,
    /// The word of a loop that holds by it.
    good: &'static str,
    /// The word of a loop that does not.
    bad: &'static str,
}

static VERDICTS: [Verdict; 3] = [
    Verdict {
        name: ON_TRACE,
        of: |one| on_trace::verdict(&one.on_trace),
        good: "held",
        bad: "did not hold",
    },
    Verdict {
        name: "in the long run",
        of: long_run::verdict,
        good: "holds",
        bad: "does not hold",
    },
    Verdict {
        name: ANY_ORDER,
        of: |one| any_order::verdict(&one.any_order.verdict),
        good: "proved",
        bad: "broken",
    },
];

const ON_TRACE: &str = "on this trace";
const ANY_ORDER: &str = "in any order";

/// Whether the loop holds: by which verdicts, at which points, at what cost.
pub(super) fn answer(shown: &Shown<'_>) -> String {
    if shown.assessed().next().is_none() {
        return sentence_of(["no point could be computed".to_owned()]);
    }
    let holding = indices(shown, |one| held(&one.on_trace));
    let broken = indices(shown, |one| !held(&one.on_trace));
    let mut parts: Vec<String> = match holding.is_empty() {
        true => {
            let place = at(shown, &broken);
            let not = format!("the loop does not hold {ON_TRACE}{place}");
            [not].into_iter().chain(grows(shown)).collect()
        }
        false => holds(shown, &broken),
    };
    let points = shown.controls.points.iter();
    let without = points.filter(|point| point.assessment.is_none());
    let without: Vec<u32> = without.map(|point| point.point.index).collect();
    if !without.is_empty() {
        parts.push(format!("not computed{}", at(shown, &without)));
    }
    parts.extend(cost(shown));
    parts.extend(VERDICTS[1..].iter().filter_map(|verdict| {
        let mut words = shown.assessed().map(|(_, one)| (verdict.of)(one));
        let first = words.next()?;
        // By which verdicts the loop holds is among the first parts, unless it does not hold on the trace.
        let is_said = first == verdict.good && !holding.is_empty();
        let is_same = words.all(|other| other == first);
        (!is_said && is_same).then(|| format!("{}: {first}", verdict.name))
    }));
    sentence_of(parts)
}

/// By which verdicts it holds at which points; `broken`: the points at which it did not hold on the trace.
fn holds(shown: &Shown<'_>, broken: &[u32]) -> Vec<String> {
    let mut groups: Vec<(Vec<&Verdict>, Vec<u32>)> = Vec::new();
    for verdict in &VERDICTS {
        let points = indices(shown, |one| (verdict.of)(one) == verdict.good);
        if points.is_empty() {
            continue;
        }
        match groups.iter_mut().find(|(_, known)| *known == points) {
            Some((verdicts, _)) => verdicts.push(verdict),
            None => groups.push((vec![verdict], points)),
        }
    }
    let parts = groups
        .iter()
        .enumerate()
        .map(|(place, (verdicts, points))| {
            let holds = names(verdicts) + &at(shown, points);
            match place {
                0 => format!("the loop holds {holds}{}", but_not(shown, verdicts, broken)),
                _ => holds,
            }
        });
    parts.collect()
}

/// What is proved in any order also holds on the trace.
fn names(verdicts: &[&Verdict]) -> String {
    let is_proved = verdicts.iter().any(|one| one.name == ANY_ORDER);
    let names = verdicts.iter().map(|one| one.name);
    let names: Vec<&str> = names
        .filter(|name| !is_proved || *name != ON_TRACE)
        .collect();
    names.join(" and ")
}

/// `, not at depth 1`: the points at which it did not hold on the trace.
fn but_not(shown: &Shown<'_>, verdicts: &[&Verdict], broken: &[u32]) -> String {
    if broken.is_empty() {
        return String::new();
    }
    let mut all = shown.assessed().filter(|(_, one)| !held(&one.on_trace));
    let by_all = all.all(|(_, one)| verdicts.iter().all(|by| (by.of)(one) == by.bad));
    let by = match by_all {
        true => String::new(),
        false => format!(" {ON_TRACE}"),
    };
    format!(", not{by}{}", at(shown, broken))
}

/// Points of which this is true.
fn indices(shown: &Shown<'_>, is_like: impl Fn(&Assessment) -> bool) -> Vec<u32> {
    let like = shown.assessed().filter(|(_, one)| is_like(one));
    like.map(|(point, _)| point.point.index).collect()
}

/// ` at depth 2 and 3`; nothing if the run has no other point.
fn at(shown: &Shown<'_>, points: &[u32]) -> String {
    match shown.places.in_sentence(points) {
        name if name.is_empty() => name,
        name => format!(" at {name}"),
    }
}

/// How fast a disturbance grows at the only point.
fn grows(shown: &Shown<'_>) -> Option<String> {
    let mut all = shown.assessed();
    let (_, only) = all.next()?;
    let growth = growth(only.on_trace.growth);
    (all.next().is_none()).then(|| format!("growth {growth} per cycle"))
}

/// The cost at the only point that has one, or the lowest; `None` if it holds at no point.
fn cost(shown: &Shown<'_>) -> Option<String> {
    let ranked = shown.controls.ranked();
    let (best, one) = ranked.first()?;
    let on_trace = &one.on_trace;
    let low = on_trace.cost?;
    let without = on_trace.no_delay.cost.unwrap_or(f64::NAN);
    if without <= 0.0 {
        return Some("cost 0: the model has no noise".into());
    }
    let costs = ranked.iter().filter_map(|(_, one)| one.on_trace.cost);
    let high = costs.clone().fold(low, f64::max);
    let (from, to) = (number(low), number(high));
    Some(match costs.count() {
        1 => {
            let far = far_off(one).map_or(String::new(), |ratio| {
                format!(", the highest SD {}", times(ratio, 1.0))
            });
            let ratio = times(low, without);
            format!("cost {from}, {ratio} that without delay{far}")
        }
        _ if from == to => format!("cost {from} at each point"),
        _ if high <= SAME * low => format!("cost {from} to {to}"),
        _ => format!("lowest cost{}: {from}", shown.places.at(best.point.index)),
    })
}

/// A loop that held may have been far off.
fn far_off(one: &Assessment) -> Option<f64> {
    highest(&one.on_trace).filter(|ratio| *ratio > FAR)
}

/// The answer, and whether a buffer would lower the lowest cost.
pub(super) fn note(shown: &Shown<'_>) -> String {
    let ranked = shown.controls.ranked();
    let buffer = ranked.first().map_or(String::new(), |(point, one)| {
        buffer(one, &shown.places.at(point.point.index))
    });
    format!("Finding: {}{buffer}", answer(shown))
}

fn buffer(one: &Assessment, place: &str) -> String {
    match &one.buffer {
        Some(buffer) if buffer.is_worth_it() => format!(
            " A buffer that holds each command until {} after its sample would lower the cost{place} by {}.",
            time(buffer.delay_ns as f64),
            percent(1.0 - buffer.cost / buffer.cost_without)
        ),
        _ => String::new(),
    }
}
