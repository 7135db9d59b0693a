//! The split of an exchange run: each RTT into the device's time, by its own clock, and the rest.

use crate::exchange_verdict::{ExchangeVerdict, verdict};
use crate::modelled::Modelled;
use serde::Serialize;
use wiregauge_record::{Conditions, Plan, Point, PointSummary};

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
    /// What is left: wire, drivers of the link, waiting behind other exchanges.
    pub wire_ns: Option<f64>,
    /// Start to start.
    pub trt_ns: Option<f64>,
    /// Mean number outstanding.
    pub achieved_depth: f64,
    /// What limits.
    pub verdict: ExchangeVerdict,
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

/// Where the run itself does not show whether a higher depth is faster, what its model predicts.
pub fn add_predictions(splits: &mut [ExchangeSplit], models: &[Modelled]) {
    for split in splits {
        let of_split = |model: &&Modelled| {
            (model.link, model.together) == (split.point.link, split.point.together)
        };
        let enough = models.iter().find(of_split).and_then(|model| model.enough);
        let more = matches!(
            split.verdict,
            ExchangeVerdict::PerhapsMore { try_depth: Some(_) }
        );
        if let Some(enough) = enough.filter(|_| more) {
            split.words = format!(
                "not proven whether a higher depth is faster; the model predicts a gain of 5 % or less beyond depth \
                 {enough}"
            );
        }
    }
}

/// Explains an exchange run by its plan, its conditions and the summaries of its points.
pub fn of_exchange(
    plan: &Plan,
    conditions: &Conditions,
    points: &[PointSummary],
) -> Vec<ExchangeSplit> {
    points
        .iter()
        .map(|point| {
            let mut split = split(conditions, point);
            split.verdict = verdict(plan, conditions, points, point, &split);
            split.words = split.verdict.to_string();
            split
        })
        .collect()
}

fn split(conditions: &Conditions, point: &PointSummary) -> ExchangeSplit {
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
        verdict: ExchangeVerdict::Nothing,
        words: String::new(),
    }
}
