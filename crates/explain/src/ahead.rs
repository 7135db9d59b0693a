//! A host that sends faster than the device receives: buffers between host and device take the difference until they are full.

use wiregauge_record::{FlowSummary, StreamPlan, StreamSummary, Way};

/// The device's clock may be slower than the host's by this part.
const CLOCKS_DIFFER: f64 = 0.05;

/// The host's rate OUT as a multiple of the device's, if the host sent faster because buffers between host and device took the
/// difference: the device was still receiving when the host had sent everything.
pub fn ahead_of_device(
    plan: &StreamPlan,
    point: &StreamSummary,
    flow: &FlowSummary,
) -> Option<f64> {
    let device = flow.device.as_ref().filter(|_| flow.way == Way::Out)?;
    let received = device.bytes_s().filter(|&bytes_s| bytes_s > 0.0)?;
    let sent = flow.rate?;
    // One transfer may lie outside the time that was measured.
    let one = 1.0 / flow.transfers.max(1) as f64;
    let least = sent.low.unwrap_or(sent.value) * (1.0 - one);
    let sending_ns = (plan.settle_ns + point.elapsed_ns) as f64;
    let is_ahead = least > received * (1.0 + CLOCKS_DIFFER);
    let receives_on = device.elapsed_ns as f64 > sending_ns * (1.0 + CLOCKS_DIFFER);
    (is_ahead && receives_on).then(|| sent.value / received)
}

/// Bytes a second that the host counted and buffers between host and device took.
pub(crate) fn buffered(plan: &StreamPlan, point: &StreamSummary, flow: &FlowSummary) -> f64 {
    let ahead = ahead_of_device(plan, point, flow).zip(flow.rate);
    ahead.map_or(0.0, |(times, sent)| sent.value - sent.value / times)
}
