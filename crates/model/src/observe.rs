//! What a stored summary tells a model.

use crate::{Observation, Setting};
use wiregauge_record::{FlowSummary, PointSummary, StreamPoint, Way};
use wiregauge_stats::Distribution;

/// An interval of 95 % reaches so many standard errors to either side.
const REACH: f64 = 1.96;

/// Reads that fill this part of a transfer on average are whole ones but for a few.
const WHOLE: f64 = 0.99;

impl Observation {
    /// Of a point of exchanges; `None` if nothing was answered.
    pub fn of_exchange(summary: &PointSummary) -> Option<Observation> {
        let trts = summary.trt.as_ref()?;
        let trt = &trts.mean;
        let point = summary.point;
        Some(Observation {
            at: Setting {
                out_bytes: point.out_bytes,
                in_bytes: point.in_bytes,
                depth: point.depth,
            },
            trt_ns: Some(trt.value).filter(|&trt| trt > 0.0)?,
            rtt_ns: summary.rtt.as_ref()?.mean.value,
            error: relative_error(trts),
        })
    }

    /// Of one way of a point of a stream, by the bytes that a transfer carried on average (all of
    /// them, where only a few reads were short); `None` if nothing flowed.
    pub fn of_flow(point: &StreamPoint, flow: &FlowSummary) -> Option<Observation> {
        let gaps = flow.gap.as_ref()?;
        let gap = &gaps.mean;
        let mean = flow
            .bytes
            .checked_div(flow.transfers)?
            .min(u64::from(u32::MAX)) as u32;
        let whole = point.transfer_bytes;
        let few_are_short = mean < whole && f64::from(mean) >= WHOLE * f64::from(whole);
        let bytes = if few_are_short { whole } else { mean };
        let (out_bytes, in_bytes) = match flow.way {
            Way::Out => (bytes, 0),
            Way::In => (0, bytes),
        };
        let mean = |d: &Option<Distribution>| d.as_ref().map_or(0.0, |d| d.mean.value);
        Some(Observation {
            at: Setting {
                out_bytes,
                in_bytes,
                depth: point.queue,
            },
            trt_ns: Some(gap.value).filter(|&gap| gap > 0.0)?,
            rtt_ns: mean(&flow.transfer_time),
            error: relative_error(gaps),
        })
    }
}

/// Of samples that depend on each other too much for an interval, the error that they have at least.
fn relative_error(of: &Distribution) -> f64 {
    let mean = &of.mean;
    match (mean.low, mean.high) {
        _ if mean.value <= 0.0 => 0.0,
        (Some(low), Some(high)) => (high - low) / (2.0 * REACH * mean.value),
        _ => of.sd / of.effective_n.max(1.0).sqrt() / mean.value,
    }
}
