//! At which depth the rate saturates, what it gains over the lowest one, whether the samples prove it, its share of the
//! limit, and which depths lost exchanges.

use super::points::of_limit;
use super::{SATURATED, is_sure};
use crate::tables::places::Places;
use wiregauge_explain::has_timeouts;
use wiregauge_quantity::{significant, times};
use wiregauge_record::{Plan, Point, PointSummary};
use wiregauge_stats::Estimate;

/// A rate up to this factor higher than that of the depths may be chance.
const CHANCE: f64 = 1.05;

/// Points of one link and one size, and which of the plan they are: the best depth of those without losses, and the
/// depths that lost exchanges, whose rates include the waits for them; `None` for one depth.
pub(super) fn answer(
    plan: &Plan,
    same: &[&PointSummary],
    is_like: &dyn Fn(&Point) -> bool,
    places: &Places,
) -> Option<Vec<String>> {
    let first = same.first()?.point.depth;
    if same.iter().all(|point| point.point.depth == first) {
        return None;
    }
    let (lossy, sound): (Vec<&PointSummary>, Vec<&PointSummary>) = same
        .iter()
        .copied()
        .partition(|point| has_timeouts(&point.counts));
    let indices: Vec<u32> = lossy.iter().map(|point| point.point.index).collect();
    let limited = match (lossy.is_empty(), sound.is_empty()) {
        (true, _) => None,
        (false, true) => Some("every depth lost exchanges".to_owned()),
        (false, false) => Some(format!("{} lost exchanges", places.in_sentence(&indices))),
    };
    let is_there = |point: &Point| same.iter().any(|there| there.point.index == point.index);
    let mut planned = plan.points.iter().filter(|point| is_like(point));
    let is_whole = planned.all(is_there) && sound.iter().all(|point| is_known(point));
    let best = best(&sound, is_whole, limited.is_some(), places);
    let parts: Vec<String> = best.into_iter().flatten().chain(limited).collect();
    (!parts.is_empty()).then_some(parts)
}

/// The lowest depth that reaches 95 % of the highest rate, if all of the points are complete and have enough samples,
/// else the fastest, and its share of the limit; `None` for one depth without others that have losses.
fn best(
    sound: &[&PointSummary],
    is_whole: bool,
    are_others_lossy: bool,
    places: &Places,
) -> Option<Vec<String>> {
    let rate = |point: &PointSummary| point.throughput.exchanges_s;
    let trt = |point: &PointSummary| point.trt.as_ref().map(|trt| trt.mean);
    let mut timed: Vec<&PointSummary> = sound.to_vec();
    timed.retain(|point| rate(point) > 0.0);
    timed.sort_by_key(|point| point.point.depth);
    let (lowest, deepest) = (timed.first()?, timed.last()?);
    let best = timed.iter().max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
    let (low, high) = (lowest.point.depth, deepest.point.depth);
    if low == high && !are_others_lossy {
        return None;
    }
    let saturated = timed
        .iter()
        .find(|point| rate(point) >= SATURATED * rate(best));
    let chosen = saturated.filter(|_| is_whole).unwrap_or(best);
    let (depth, per_s) = (chosen.point.depth, significant(rate(chosen)));
    let at = places.name(&[chosen.point.index]);
    let which = match (is_whole, depth == high) {
        (true, false) => format!("saturated at {at}"),
        _ if are_others_lossy => format!("{at} is the fastest without losses"),
        (true, true) => format!("{at} is the fastest"),
        (false, _) => format!("{at} is the fastest here"),
    };
    let words = format!("{which}: {per_s} per s");
    let and_share =
        |words: String| -> Vec<String> { std::iter::once(words).chain(of_limit(chosen)).collect() };
    if depth == low {
        return Some(and_share(words));
    }
    let ratio = rate(chosen) / rate(lowest);
    let is_proven = shorter(&trt(chosen)?, &trt(lowest)?);
    // N times the depth cannot give more than N times the rate: then the lower depth was slower for another reason.
    let is_more = ratio > CHANCE * f64::from(depth) / f64::from(low);
    let more = match (is_proven, is_more) {
        (false, _) => " (not proven)",
        (true, true) => ", more than depth alone gives",
        (true, false) => "",
    };
    let gain = times(ratio);
    Some(and_share(format!(
        "{words}, {gain} as many as at depth {low}{more}"
    )))
}

/// True if both intervals are known and do not overlap.
fn shorter(less: &Estimate, more: &Estimate) -> bool {
    let bounds = less.high.zip(more.low);
    bounds.is_some_and(|(high, low)| high < low)
}

/// True if the rate of a point is more than that of a few exchanges.
fn is_known(summary: &PointSummary) -> bool {
    let (n, depth) = (summary.counts.exchanges, summary.point.depth);
    let mean = summary.trt.as_ref().map(|trt| &trt.mean);
    n >= 10 * u64::from(depth) && is_sure(&summary.ending, mean, n)
}
