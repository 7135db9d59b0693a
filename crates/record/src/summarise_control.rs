//! Counts what the cycles of a control loop amount to, one by one. What needs the model of the loop is added by who has it.

use crate::control_cycle::{ControlCycle, CycleStatus};
use crate::control_plan::ControlPoint;
use crate::control_summary::ControlSummary;
use crate::point_summary::Ending;
use wiregauge_stats::Series;

/// Takes the cycles of a point.
pub struct ControlSummariser {
    point: ControlPoint,
    cycles: u64,
    counts: [u64; CycleStatus::ALL.len()],
    delays: Series,
}

impl ControlSummariser {
    /// No cycle yet.
    pub fn new(point: ControlPoint) -> ControlSummariser {
        ControlSummariser {
            point,
            cycles: 0,
            counts: [0; CycleStatus::ALL.len()],
            delays: Series::new(),
        }
    }

    /// Takes the next cycle.
    pub fn push(&mut self, cycle: &ControlCycle) {
        self.cycles += 1;
        self.counts[cycle.status as usize] += 1;
        if let Some(delay_ns) = cycle.delay_ns() {
            self.delays.push(delay_ns);
        }
    }

    /// The summary, without cost, step and predictions.
    pub fn finish(&self, ending: Ending) -> ControlSummary {
        let count = |status: CycleStatus| self.counts[status as usize];
        ControlSummary {
            point: self.point,
            ending,
            cycles: self.cycles,
            samples_lost: count(CycleStatus::SampleLost),
            commands_lost: count(CycleStatus::CommandLost),
            overtaken: count(CycleStatus::Overtaken),
            unsent: count(CycleStatus::Unsent),
            delay: self.delays.distribution(),
            left_out: 0,
            cost: None,
            step: None,
            diverged_at: None,
            clipped: 0,
            predicted: Vec::new(),
        }
    }
}
