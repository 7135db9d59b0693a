//! Latency against throughput: what nothing else beats in both, and the knee of that.

use crate::Candidate;
use crate::observed::Observed;
use serde::Serialize;

/// One end of what can be had.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FrontPoint {
    /// What to set.
    pub at: Candidate,
    /// Mean RTT, in nanoseconds.
    pub latency_ns: f64,
    /// Payload of both directions a second, in bytes.
    pub bytes_per_second: f64,
    /// Exchanges (transfers) a second.
    pub exchanges_per_second: f64,
    /// True for the choice.
    pub is_best: bool,
}

impl FrontPoint {
    /// Throughput over latency (Kleinrock 1979 calls it power). A device whose requests carry no
    /// payload at all is compared by its exchanges.
    fn power(&self) -> f64 {
        self.throughput() / self.latency_ns
    }

    fn throughput(&self) -> f64 {
        match self.bytes_per_second > 0.0 {
            true => self.bytes_per_second,
            false => self.exchanges_per_second,
        }
    }
}

/// Of what was measured, from the shortest latency on. Several probes of one candidate count as one,
/// by their exchanges. The choice is always among them.
pub(crate) fn front(observed: &[Observed], best: Option<Candidate>) -> Vec<FrontPoint> {
    let mut points = Vec::new();
    let mut seen = Vec::new();
    for here in observed {
        if seen.contains(&here.place) {
            continue;
        }
        seen.push(here.place);
        let (mut weight, mut trt, mut rtt) = (0.0, 0.0, 0.0);
        for other in observed.iter().filter(|other| other.place == here.place) {
            if let Some(observation) = other.measured.observation {
                let exchanges = other.measured.exchanges as f64;
                weight += exchanges;
                trt += exchanges * observation.trt_ns;
                rtt += exchanges * observation.rtt_ns;
            }
        }
        if weight > 0.0 && trt > 0.0 {
            let at = here.probe.at;
            let bytes = f64::from(at.setting.out_bytes) + f64::from(at.setting.in_bytes);
            let exchanges_per_second = 1e9 * weight / trt;
            points.push(FrontPoint {
                at,
                latency_ns: rtt / weight,
                bytes_per_second: bytes * exchanges_per_second,
                exchanges_per_second,
                is_best: best == Some(at),
            });
        }
    }
    points.sort_by(|a, b| {
        let latency = a.latency_ns.total_cmp(&b.latency_ns);
        latency.then(b.throughput().total_cmp(&a.throughput()))
    });
    let mut most = 0.0;
    points.retain(|point| {
        let is_more = point.throughput() > most;
        most = f64::max(most, point.throughput());
        is_more || point.is_best
    });
    points
}

/// Where the front has most throughput for its latency.
pub(crate) fn knee(front: &[FrontPoint]) -> Option<Candidate> {
    let most = front.iter().max_by(|a, b| a.power().total_cmp(&b.power()));
    most.map(|point| point.at)
}
