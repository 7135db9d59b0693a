//! What is busy all the time by direct measurement: a bus that carries what it can, a device that has no time left.

use crate::verdict::REAL;
use wiregauge_record::{BusLimit, PointSummary};

/// A bus of which this part is used is full.
const FULL: f64 = 0.90;
/// A device that needs this part of the TRT has no time left.
const BUSY: f64 = 0.80;

/// The part of its limit that a full bus carries: all of it at most. What the host counted beyond it is in buffers, or
/// its clock is slower.
pub(crate) fn full_bus(limit: &BusLimit) -> Option<f64> {
    (FULL..=REAL)
        .contains(&limit.used)
        .then_some(limit.used.min(1.0))
}

/// What a device needs for each exchange, in nanoseconds, where that is nearly the whole TRT. Requests that wait
/// inside the device count as its time; the shortest one hardly waited. More than the TRT would mean that the
/// device works on several at once.
pub(crate) fn busy_device(summary: &PointSummary) -> Option<f64> {
    let needs_ns = summary.device.as_ref()?.min;
    let part = needs_ns / summary.trt.as_ref()?.mean.value.max(1.0);
    (summary.point.depth > 1 && (BUSY..=1.05).contains(&part)).then_some(needs_ns)
}
