//! The split of an exchange run: each RTT into the device's time, by its own clock, and the rest.

use crate::verdict::Verdict;
use serde::Serialize;
use wiregauge_record::{Conditions, Point, PointSummary};

/// Where the RTT of one point went. Means, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExchangeSplit {
    /// Which point.
    pub point: Point,
    /// RTT; `None` if nothing was answered.
    pub rtt_ns: Option<f64>,
    /// Opening the link, which comes before the RTT, where each exchange opens it.
    pub connect_ns: Option<f64>,
    /// Request complete in the device to response handed over, on the device's clock.
    pub device_ns: Option<f64>,
    /// What this host alone needs for an exchange: the floor of the run's calibration, at most the
    /// rest.
    pub host_ns: Option<f64>,
    /// Name of that floor.
    pub floor: Option<String>,
    /// What is left: wire, drivers of the link, waiting behind other exchanges; and the device, where its time is not
    /// known.
    pub wire_ns: Option<f64>,
    /// Start to start.
    pub trt_ns: Option<f64>,
    /// Mean number outstanding.
    pub achieved_depth: f64,
    /// What limits.
    pub verdict: Verdict,
    /// The same in words.
    pub words: String,
}

impl ExchangeSplit {
    /// The whole exchange: the RTT, after the connection where each exchange makes one.
    pub fn total_ns(&self) -> Option<f64> {
        Some(self.rtt_ns? + self.connect_ns.unwrap_or(0.0))
    }

    /// A part of the whole, 0 to 1.
    pub fn share(&self, part_ns: Option<f64>) -> Option<f64> {
        Some(part_ns? / self.total_ns().filter(|&total| total > 0.0)?)
    }
}

/// What `wire_ns` is called: it contains the device, where any of these does not know the device's time.
pub fn name_of_rest(splits: &[ExchangeSplit]) -> &'static str {
    let has_device = |split: &ExchangeSplit| split.wire_ns.is_some() && split.device_ns.is_none();
    if splits.iter().any(has_device) {
        "device, wire and waiting"
    } else {
        "wire and waiting"
    }
}

/// Of one point, before the verdict.
pub(crate) fn split(conditions: &Conditions, point: &PointSummary) -> ExchangeSplit {
    let rtt_ns = point.rtt.as_ref().map(|rtt| rtt.mean.value);
    // A clock that stands still all the time is none.
    let device = point.device.as_ref().filter(|device| device.max > 0.0);
    let device_ns = rtt_ns.and(device).map(|device| device.mean.value);
    let rest_ns = rtt_ns.map(|rtt| (rtt - device_ns.unwrap_or(0.0)).max(0.0));
    // The last floor is that of the link's own kind, where there is one; the first is the null link.
    let floor = conditions.before.as_ref().and_then(|c| c.floors.last());
    let host_ns = rest_ns
        .zip(floor)
        .map(|(rest, floor)| floor.rtt.p50.value.min(rest));
    ExchangeSplit {
        point: point.point,
        rtt_ns,
        connect_ns: rtt_ns
            .and(point.connect.as_ref())
            .map(|connect| connect.mean.value),
        device_ns,
        host_ns,
        floor: floor.map(|floor| format!("{}, {} B", floor.name, floor.bytes)),
        wire_ns: rest_ns.map(|rest| rest - host_ns.unwrap_or(0.0)),
        trt_ns: point.trt.as_ref().map(|trt| trt.mean.value),
        achieved_depth: point.achieved_depth,
        verdict: Verdict::default(),
        words: String::new(),
    }
}
