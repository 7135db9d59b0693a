//! The candidate with the most throughput for its latency.

use crate::Candidate;
use crate::observed::Observed;

/// Where throughput over latency (Kleinrock 1979 calls it power) is largest, of what was measured. Several probes of one
/// candidate count as one, by their exchanges. A device whose requests carry no payload at all is compared by its exchanges.
pub(crate) fn knee(observed: &[Observed]) -> Option<Candidate> {
    let power = |at: Candidate| {
        let (mut weight, mut trt, mut rtt) = (0.0, 0.0, 0.0);
        for other in observed.iter().filter(|other| other.probe.at == at) {
            if let Some(observation) = other.measured.observation {
                let exchanges = other.measured.exchanges as f64;
                weight += exchanges;
                trt += exchanges * observation.trt_ns;
                rtt += exchanges * observation.rtt_ns;
            }
        }
        let bytes = f64::from(at.setting.out_bytes) + f64::from(at.setting.in_bytes);
        (trt > 0.0).then(|| bytes.max(1.0) * weight / trt * (weight / rtt))
    };
    let powers = observed.iter().map(|t| t.probe.at);
    let powers = powers.filter_map(|at| Some((at, power(at)?)));
    let most = powers.max_by(|a, b| a.1.total_cmp(&b.1));
    most.map(|(at, _)| at)
}
