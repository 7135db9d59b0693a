//! The result in a sentence.

use super::on_trace::held;
use super::shown::Shown;
use super::statements::FAR;
use super::words::{growth, times};
use super::{any_order, long_run};
use crate::load::ControlPoint;
use wiregauge_control::Assessment;
use wiregauge_quantity::time;
use wiregauge_quantity::{number, percent};

/// Costs that differ by less are the same for the user.
const SAME: f64 = 1.01;

/// Of one point, or of the point with the lowest cost.
pub(super) fn sentence(shown: &Shown<'_>) -> String {
    let lowest = shown.controls.lowest_cost;
    let is_best = |(point, one): &(&ControlPoint, &Assessment)| match lowest {
        Some(index) => point.point.index == index,
        None => held(&one.on_trace),
    };
    let best = shown.assessed().find(is_best).or(shown.assessed().next());
    let Some((point, assessment)) = best else {
        return "Finding: no response arrived in time.".into();
    };
    let place = shown.places.at(point.point.index);
    let broken = broken(shown).len();
    let all = shown.assessed().count();
    let held_at = held_at(shown);
    let begin = match (shown.controls.points.len(), broken) {
        (1, 0) => format!("{held_at}, at a cost of {}", of_cost(assessment)),
        (1, _) => format!(
            "{held_at} (it grew by {} per cycle)",
            growth(assessment.on_trace.growth)
        ),
        (_, broken) if broken == all => held_at,
        (_, 0) if all > 1 => format!(
            "{held_at}; {}{place}: {}",
            lowest_is(shown),
            of_cost(assessment)
        ),
        (_, 0) => format!("{held_at}; its cost{place}: {}", of_cost(assessment)),
        (_, _) => format!(
            "{held_at}; the cost is lowest{place}: {}",
            of_cost(assessment)
        ),
    };
    format!(
        "Finding: on this trace {begin}.{}{}{}",
        far_off(assessment),
        others(assessment, &place),
        buffer(assessment)
    )
}

/// Points at which it did not hold.
fn broken(shown: &Shown<'_>) -> Vec<u32> {
    let broken = shown.assessed().filter(|(_, one)| !held(&one.on_trace));
    broken.map(|(point, _)| point.point.index).collect()
}

/// At how many points of the run the loop held, and which were not computed.
pub(super) fn held_at(shown: &Shown<'_>) -> String {
    let broken = broken(shown);
    let points = &shown.controls.points;
    let without = points.iter().filter(|point| point.assessment.is_none());
    let without: Vec<u32> = without.map(|point| point.point.index).collect();
    let all = points.len();
    let computed = all - without.len();
    let words = match (computed, broken.len()) {
        (0, _) => return "no response arrived in time".into(),
        (_, 0) if all == 1 => return "the loop held".into(),
        (_, _) if all == 1 => return "the loop did not hold".into(),
        (_, 0) if computed == all => return format!("the loop held at all {all} points"),
        (_, 0) => format!("the loop held at {computed} of {all} points"),
        (_, count) if count == all => {
            return format!("the loop did not hold at any of {all} points");
        }
        (_, count) => format!(
            "the loop did not hold at {count} of {all} points{}",
            shown.places.bracketed(&broken)
        ),
    };
    match without.is_empty() {
        true => words,
        false => format!("{words}, not computed{}", shown.places.bracketed(&without)),
    }
}

/// A loop that held may have been far off.
fn far_off(assessment: &Assessment) -> &'static str {
    match held(&assessment.on_trace) && assessment.on_trace.worst_ratio > FAR {
        true => {
            " Disturbances decayed on average, but late or lost responses threw the output far off for a while."
        }
        false => "",
    }
}

/// The other two verdicts, on the same point.
fn others(assessment: &Assessment, place: &str) -> String {
    let long_run = long_run::verdict(assessment);
    let any_order = any_order::verdict(&assessment.any_order.verdict);
    format!(" In the long run{place}: {long_run}. In any order{place}: {any_order}.")
}

/// Whether the points differ.
fn lowest_is(shown: &Shown<'_>) -> &'static str {
    let costs = shown.assessed().filter_map(|(_, one)| one.on_trace.cost);
    let (low, high) = costs.fold((f64::INFINITY, 0.0_f64), |(low, high), cost| {
        (low.min(cost), high.max(cost))
    });
    match high <= SAME * low {
        true => "their costs differ by less than 1 %, the lowest is",
        false => "the cost is lowest",
    }
}

fn of_cost(assessment: &Assessment) -> String {
    let verdict = &assessment.on_trace;
    let [cost, without] =
        [verdict.cost, verdict.no_delay.cost].map(|cost| cost.unwrap_or(f64::NAN));
    if without <= 0.0 {
        return format!("{} (the model has no noise)", number(cost));
    }
    let equal = match verdict.equal_delay_ns {
        Some(delay_ns) if delay_ns > 0 => {
            format!(", as with a constant delay of {}", time(delay_ns as f64))
        }
        _ => String::new(),
    };
    format!(
        "{}, {} that without delay{equal}; the SD of the output rose to at most {} that without delay",
        number(cost),
        times(cost, without),
        times(verdict.worst_ratio, 1.0)
    )
}

fn buffer(assessment: &Assessment) -> String {
    match &assessment.buffer {
        Some(buffer) if buffer.is_worth_it() => format!(
            " A buffer that holds each command until {} after its sample would lower the cost by {}.",
            time(buffer.delay_ns as f64),
            percent(1.0 - buffer.cost / buffer.cost_without)
        ),
        // Without noise nothing costs.
        Some(buffer) if buffer.cost_without > 0.0 => " A buffer would not help.".into(),
        Some(_) => String::new(),
        None => String::new(),
    }
}
