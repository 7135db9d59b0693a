//! The figures that the summary is made of: each a value with its interval, at a named point of a run.

use super::names;
use crate::tables::{Missing, missing};
use wiregauge_quantity::{rate, rate_unit, significant, time, time_unit};
use wiregauge_record::{FlowSummary, LoopSummary, PointSummary, StreamSummary, Way};
use wiregauge_run::AnyRun;
use wiregauge_stats::Estimate;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// Median RTT.
    RttMedian,
    /// p99.9 of the RTT.
    RttTail,
    /// Mean TRT.
    Trt,
    /// Bytes a second of an exchange, both ways together.
    Throughput,
    /// Bytes a second of a stream, one way.
    Rate,
    /// The latency that a loop needed.
    Latency,
}

impl Measure {
    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Measure::RttMedian => "RTT p50",
            Measure::RttTail => "RTT p99.9",
            Measure::Trt => "TRT, mean",
            Measure::Throughput => "Throughput, OUT + IN",
            Measure::Rate => "Rate",
            Measure::Latency => "Lowest latency without a stall",
        }
    }

    /// A value of it with its unit.
    pub(super) fn show(self, value: f64) -> String {
        match self {
            Measure::Throughput | Measure::Rate => rate(value),
            _ => time(value),
        }
    }

    /// Size and name of the unit in which a value is shown.
    fn unit(self, value: f64) -> (f64, &'static str) {
        match self {
            Measure::Throughput | Measure::Rate => rate_unit(value),
            _ => time_unit(value),
        }
    }

    /// The value with its unit.
    pub(super) fn value(self, estimate: &Estimate) -> String {
        self.show(estimate.value)
    }

    /// The interval in words, with the reason of a missing bound.
    pub(super) fn interval(self, estimate: &Estimate, missing: Missing) -> String {
        if self == Measure::Latency {
            return "a maximum has no interval".into();
        }
        let (size, unit) = self.unit(estimate.value);
        let bound = |bound: f64| significant(bound / size);
        match (estimate.low, estimate.high) {
            (Some(low), Some(high)) => {
                format!("95 % interval {} to {} {unit}", bound(low), bound(high))
            }
            (Some(low), None) => format!(
                "95 % interval {} .. ? {unit}, no upper bound: {}",
                bound(low),
                missing.reason()
            ),
            (None, Some(high)) => format!("95 % interval up to {} {unit}", bound(high)),
            (None, None) => format!("no interval: {}", missing.reason()),
        }
    }
}

/// A point, or one way of it, under the name that it has on the page.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// Of an exchange run.
    Exchange(&'a PointSummary),
    /// Of a stream run.
    Flow(&'a StreamSummary, &'a FlowSummary),
    /// Of a loop run.
    Loop(&'a LoopSummary),
}

/// A place with its name.
#[derive(Clone)]
pub(super) struct Named<'a> {
    /// See [`names`].
    pub(super) name: String,
    /// What was measured there.
    pub(super) place: Place<'a>,
}

/// Every point of a run in the order of the plan, whatever the order in which they ended.
pub(super) fn places(run: &AnyRun) -> Vec<Named<'_>> {
    let mut found: Vec<(u32, Named<'_>)> = Vec::new();
    match run {
        AnyRun::Exchange(run) => found.extend(run.file.points.iter().map(|point| {
            let name = names::exchange(&run.file.plan, &point.point).whole();
            let place = Place::Exchange(point);
            (point.point.index, Named { name, place })
        })),
        AnyRun::Stream(run) => {
            for point in &run.file.points {
                found.extend(point.flows.iter().map(|flow| {
                    let name = names::flow(&run.file.plan, &point.point, flow.way).whole();
                    let place = Place::Flow(point, flow);
                    (point.point.index, Named { name, place })
                }));
            }
        }
        AnyRun::Loop(run) => found.extend(run.file.points.iter().map(|point| {
            let name = names::closed_loop(&point.point).whole();
            let place = Place::Loop(point);
            (point.point.index, Named { name, place })
        })),
        // It has no page.
        AnyRun::Control(_) => {}
    }
    found.sort_by_key(|(index, _)| *index);
    found.into_iter().map(|(_, named)| named).collect()
}

impl Place<'_> {
    /// Why its figures have no bounds, if they have none.
    pub(super) fn missing(&self) -> Missing {
        match self {
            Place::Exchange(point) => missing(std::slice::from_ref(*point)),
            Place::Flow(..) | Place::Loop(_) => None,
        }
        .unwrap_or(Missing::FewOrDrift)
    }

    /// A figure of this place, if it has it.
    pub(super) fn measure(&self, measure: Measure) -> Option<Estimate> {
        match (self, measure) {
            (Place::Exchange(point), Measure::RttMedian) => point.rtt.as_ref().map(|rtt| rtt.p50),
            (Place::Exchange(point), Measure::RttTail) => point.rtt.as_ref().map(|rtt| rtt.p999),
            (Place::Exchange(point), Measure::Trt) => point.trt.as_ref().map(|trt| trt.mean),
            (Place::Exchange(point), Measure::Throughput) => throughput(point),
            (Place::Flow(_, flow), Measure::Rate) => flow.rate,
            (Place::Loop(point), Measure::Latency) => point.needed_ns.map(|value| Estimate {
                value,
                low: None,
                high: None,
            }),
            _ => None,
        }
        .filter(|estimate| estimate.value.is_finite())
    }

    /// Which way the bytes flow, of a stream.
    pub(super) fn way(&self) -> Option<Way> {
        match self {
            Place::Exchange(_) | Place::Loop(_) => None,
            Place::Flow(_, flow) => Some(flow.way),
        }
    }
}

/// Bytes a second both ways. Its interval is that of the TRT, because a rate is bytes over TRT.
fn throughput(point: &PointSummary) -> Option<Estimate> {
    let value = point.throughput.out_bytes_s + point.throughput.in_bytes_s;
    if value <= 0.0 {
        return None;
    }
    let trt = point.trt.as_ref().map(|trt| trt.mean);
    let at = |bound: Option<f64>| {
        let bound = bound.filter(|bound| *bound > 0.0)?;
        Some(value * trt?.value / bound)
    };
    Some(Estimate {
        value,
        low: at(trt.and_then(|trt| trt.high)),
        high: at(trt.and_then(|trt| trt.low)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, low: Option<f64>, high: Option<f64>) -> Estimate {
        Estimate { value, low, high }
    }

    #[test]
    fn a_value_and_its_bounds_share_a_unit() {
        let rtt = estimate(1_020_000.0, Some(998_000.0), Some(1_040_000.0));
        assert_eq!(Measure::RttMedian.value(&rtt), "1.020 ms");
        assert_eq!(
            Measure::RttMedian.interval(&rtt, Missing::Few),
            "95 % interval 0.998 to 1.040 ms"
        );
        assert_eq!(Measure::Rate.show(38_400_000.0), "38.40 MB/s");
        assert_eq!(significant(1_234_567.0), "1,234,567");
    }

    #[test]
    fn a_percentile_without_upper_bound_has_an_open_interval() {
        let tail = estimate(5e6, Some(2e6), None);
        assert_eq!(Measure::RttTail.value(&tail), "5.000 ms");
        assert_eq!(
            Measure::RttTail.interval(&tail, Missing::Few),
            "95 % interval 2.000 .. ? ms, no upper bound: too few independent samples"
        );
        assert_eq!(
            Measure::RttTail.interval(&estimate(5e6, None, None), Missing::Drift),
            "no interval: the times drift"
        );
    }
}
