//! The trade-offs of latency and throughput that were measured, and a probe that was better than the chosen
//! setting.

use wiregauge_stats::Estimate;
use wiregauge_tune::{Candidate, Difference, Why};

/// A setting that nothing else measured beats in both latency and throughput.
pub struct Row {
    /// The setting.
    pub at: Candidate,
    /// Mean time of one.
    pub latency: Estimate,
    /// Its 99th percentile.
    pub latency_p99: Option<Estimate>,
    /// Bytes a second, both ways.
    pub rate: f64,
    /// Bytes a second in the direction of the objective.
    pub carried: f64,
    /// Exchanges (transfers) a second.
    pub per_second: f64,
    /// True of the choice.
    pub is_best: bool,
    /// True of the knee.
    pub is_knee: bool,
    /// Exchanges (transfers) behind the figures.
    pub n: u64,
    /// True if the figures are those of a confirming run, false if they are those of a search probe.
    pub confirmed: bool,
}

impl Row {
    /// Throughput over latency; of a device whose requests carry no payload, exchanges over latency.
    pub fn power(&self) -> f64 {
        let throughput = match self.rate > 0.0 {
            true => self.rate,
            false => self.per_second,
        };
        throughput / self.latency.value
    }
}

/// A setting that was better than the chosen one when it was probed.
pub struct Rival {
    /// The setting.
    pub at: Candidate,
    /// The objective there.
    pub objective: Estimate,
    /// Exchanges (transfers) behind it.
    pub n: u64,
    /// What the intervals say.
    pub difference: Difference,
    /// True if it was confirmed.
    pub confirmed: bool,
}

/// True of a reason that speaks of sizes or depths, where another one was better; or of a constraint, which the better
/// one meets as well.
pub fn refutes(rival: &Rival, best: Candidate, why: &Why) -> bool {
    let (there, here) = (rival.at.setting, best.setting);
    let size = (there.out_bytes, there.in_bytes) != (here.out_bytes, here.in_bytes);
    let depth = there.depth != here.depth;
    let is_clear = rival.difference != Difference::NotSignificant;
    match why {
        Why::InnerOptimum => size && is_clear,
        Why::InnerDepth => depth && is_clear,
        Why::LargestSize | Why::SmallestSize => size,
        Why::LargestDepth => depth,
        Why::ConstraintBinds { .. } => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(in_bytes: u32, depth: u32) -> Candidate {
        Candidate {
            setting: wiregauge_model::Setting {
                out_bytes: 16,
                in_bytes,
                depth,
            },
            wait: wiregauge_record::Wait::Block,
            connect: wiregauge_record::Connect::Once,
        }
    }

    #[test]
    fn a_reason_that_a_probe_refutes_is_left_out() {
        let found = |value: f64, half: Option<f64>| Estimate {
            value,
            low: half.map(|half| value - half),
            high: half.map(|half| value + half),
        };
        let chosen = found(97e6, Some(5e6));
        let rival = |objective: Estimate| Rival {
            at: candidate(1536, 8),
            objective,
            n: 298,
            difference: Difference::of(&objective, &chosen),
            confirmed: false,
        };
        let best = candidate(1776, 4);
        let clear = rival(found(282e6, Some(20e6)));
        assert_eq!(clear.difference, Difference::Significant);
        for why in [Why::InnerOptimum, Why::InnerDepth, Why::LargestSize] {
            assert!(refutes(&clear, best, &why), "{why}");
        }
        // It meets the constraints, so they do not keep the objective where it is.
        let binds = Why::ConstraintBinds { constraint: 0 };
        assert!(refutes(&clear, best, &binds));
        let saturated = Why::Saturated { depth: 2.0 };
        assert!(!refutes(&clear, best, &saturated));
        // Of the same size, it says nothing of sizes.
        assert!(!refutes(&clear, candidate(1536, 4), &Why::InnerOptimum));
        // `clearly better` it is not where the intervals overlap.
        let near = rival(found(100e6, Some(5e6)));
        assert_eq!(near.difference, Difference::NotSignificant);
        assert!(!refutes(&near, best, &Why::InnerOptimum));
        assert!(refutes(&near, best, &Why::LargestSize));
        assert_eq!(rival(found(282e6, None)).difference, Difference::Unknown);
    }
}
