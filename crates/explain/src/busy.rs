//! What is busy all the time by direct measurement: a bus that carries what it can, a device that has no time left.

use wiregauge_record::PointSummary;

/// A bus of which this part is used is full.
pub(crate) const FULL: f64 = 0.90;
/// A device that needs this part of the TRT has no time left.
const BUSY: f64 = 0.80;

/// What a device needs for each exchange, in nanoseconds, where that is nearly the whole TRT. Requests that wait
/// inside the device count as its time; the shortest one hardly waited. More than the TRT would mean that the
/// device works on several at once.
pub(crate) fn busy_device(summary: &PointSummary) -> Option<f64> {
    let needs_ns = summary.device.as_ref()?.min;
    let part = needs_ns / summary.trt.as_ref()?.mean.value.max(1.0);
    (summary.point.depth > 1 && (BUSY..=1.05).contains(&part)).then_some(needs_ns)
}
