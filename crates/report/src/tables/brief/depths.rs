//! Which depth has the highest exchange rate, and whether the samples prove it.

use crate::tables::places::Places;
use wiregauge_quantity::{significant, times};
use wiregauge_record::PointSummary;
use wiregauge_stats::Estimate;

/// A rate up to this factor higher than that of the depths may be chance.
const CHANCE: f64 = 1.05;

/// Points of one link and one size: the fastest depth against the lowest; `None` for one depth.
pub(super) fn fastest(same: &[&PointSummary], places: &Places) -> Option<String> {
    let rate = |point: &PointSummary| point.throughput.exchanges_s;
    let trt = |point: &PointSummary| point.trt.as_ref().map(|trt| trt.mean);
    let timed = same.iter().copied().filter(|point| rate(point) > 0.0);
    let lowest = timed.clone().min_by_key(|point| point.point.depth)?;
    let best = timed.max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
    let (low, depth) = (lowest.point.depth, best.point.depth);
    let others = || same.iter().filter(|point| point.point.depth != low);
    others().next()?;
    let than_lowest = format!(
        "faster than depth {low}, {} per s",
        significant(rate(lowest))
    );
    let base = trt(lowest)?;
    let is_slower = |point: &&PointSummary| trt(point).is_some_and(|other| shorter(&base, &other));
    if others().all(is_slower) {
        return Some(format!("no depth is {than_lowest}"));
    }
    let ratio = rate(best) / rate(lowest);
    let is_proven = shorter(&trt(best)?, &base);
    if depth == low || !is_proven && ratio < CHANCE {
        return Some(format!("no depth is proven to be {than_lowest}"));
    }
    // N times the depth cannot give more than N times the rate: then the lower depth was slower for another reason.
    let more = match (
        is_proven,
        ratio > CHANCE * f64::from(depth) / f64::from(low),
    ) {
        (false, _) => ", which is not proven",
        (true, true) => ", more than depth alone gives",
        (true, false) => "",
    };
    let (at, per_s) = (places.at(best.point.index), significant(rate(best)));
    let gain = times(ratio);
    Some(format!(
        "fastest{at}: {per_s} per s, {gain} as many as at depth {low}{more}"
    ))
}

/// True if both intervals are known and do not overlap.
fn shorter(less: &Estimate, more: &Estimate) -> bool {
    let bounds = less.high.zip(more.low);
    bounds.is_some_and(|(high, low)| high < low)
}
