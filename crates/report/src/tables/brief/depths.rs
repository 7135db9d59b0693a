//! Which depth has the highest exchange rate, and whether the samples prove it.

use crate::tables::places::Places;
use wiregauge_quantity::{significant, times};
use wiregauge_record::PointSummary;
use wiregauge_stats::Estimate;

/// A rate up to this factor higher than that of the depths may be chance.
const CHANCE: f64 = 1.05;

/// Points of one link and one size, by their depth: the fastest, against the lowest depth.
pub(super) fn fastest(same: &[&PointSummary], places: &Places) -> Option<String> {
    let rate = |point: &PointSummary| point.throughput.exchanges_s;
    let trt = |point: &PointSummary| point.trt.as_ref().map(|trt| trt.mean);
    let timed = same.iter().copied().filter(|point| rate(point) > 0.0);
    let lowest = timed.clone().min_by_key(|point| point.point.depth)?;
    let best = timed.max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
    let (low, depth) = (lowest.point.depth, best.point.depth);
    let others = || same.iter().filter(|point| point.point.depth != low);
    others().next()?;
    let per_s = format!("{} per s", significant(rate(best)));
    let (base, shortest) = (trt(lowest)?, trt(best)?);
    if depth == low {
        let is_slower =
            |point: &&PointSummary| trt(point).is_some_and(|other| shorter(&base, &other));
        let proven = match others().all(|point| is_slower(point)) {
            true => "is",
            false => "is proven to be",
        };
        return Some(format!(
            "no depth {proven} faster than depth {low}, {per_s}"
        ));
    }
    let ratio = rate(best) / rate(lowest);
    let gain = times(ratio);
    if !shorter(&shortest, &base) && overlaps(&shortest, &base) {
        return Some(format!(
            "no depth is proven to be faster than depth {low}, {} per s",
            significant(rate(lowest))
        ));
    }
    let at = places.at(best.point.index);
    // N times the depth cannot give more than N times the rate: then the lower depth was disturbed.
    Some(match ratio > CHANCE * f64::from(depth) / f64::from(low) {
        true => format!(
            "fastest{at}: {per_s}, {gain} as many as at depth {low}, more than the depth explains: other conditions \
             differed"
        ),
        false => format!("fastest{at}: {per_s}, {gain} as many as at depth {low}"),
    })
}

/// True if both intervals are known and do not overlap.
fn shorter(less: &Estimate, more: &Estimate) -> bool {
    let bounds = less.high.zip(more.low);
    bounds.is_some_and(|(high, low)| high < low)
}

/// True if both intervals are known and overlap, or else if the values differ by less than 5 %.
fn overlaps(less: &Estimate, more: &Estimate) -> bool {
    match (less.high, more.low) {
        (Some(high), Some(low)) => high >= low,
        _ => less.value * CHANCE > more.value,
    }
}
