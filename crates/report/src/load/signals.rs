//! The signals of a control loop over a link: reference, outputs and commands over time, and from the step on.

use super::Room;
use super::points::Gather;
use super::types::{ControlSignals, Signal};
use wiregauge_control::CyclePlan;
use wiregauge_record::ControlCycle;
use wiregauge_run::{Control, RunFile};

/// Slices of time, of each of which the extremes are drawn.
const SLICES: u64 = 600;

/// Cycles that are drawn from the step on.
const OF_STEP: u64 = 400;

/// Takes the cycles of a run.
pub(crate) struct Gatherer {
    /// Reference, outputs, commands.
    signals: Vec<Thinned>,
    outputs: usize,
    commands: usize,
    of: u64,
    /// Cycles of a slice of time.
    per_slice: u64,
    /// The first cycle with the step, and its tick.
    step: Option<(u64, u64)>,
}

impl Gather<Control> for Gatherer {
    type Point = ControlSignals;

    fn new(file: &RunFile<Control>, at: usize, _room: Room) -> Gatherer {
        let plan = &file.plan;
        let outputs = plan.model.plant.c.len();
        let commands = plan.model.plant.b.first().map_or(0, Vec::len);
        let cycle_plan = CyclePlan {
            cycles: plan.cycles,
            depth: plan.point.depth,
            step: plan.point.step,
        };
        let first = cycle_plan.step_cycle();
        let tick_ns = first.saturating_mul(plan.point.period_ns);
        Gatherer {
            signals: vec![Thinned::default(); 1 + outputs + commands],
            outputs,
            commands,
            of: 0,
            per_slice: file.points[at].cycles.div_ceil(SLICES).max(1),
            step: (plan.point.step != 0.0).then_some((first, tick_ns)),
        }
    }

    fn columns(&self) -> Vec<&'static str> {
        let all = ["sequence", "status", "start_ns", "reference"];
        let signals = ["y1", "y2", "y3", "y4", "u1", "u2", "u3", "u4"];
        [&all[..], &signals].concat()
    }

    fn push(&mut self, row: &ControlCycle) {
        if !row.ran() {
            return;
        }
        self.of += 1;
        let slice = row.sequence / self.per_slice;
        let since_step = self.step.and_then(|(first, tick_ns)| {
            let is_shown = (first..first + OF_STEP).contains(&row.sequence);
            is_shown.then(|| row.start_ns.saturating_sub(tick_ns) as f64)
        });
        let (outputs, commands) = row.signals();
        let outputs = outputs.into_iter().take(self.outputs);
        let commands = commands.into_iter().take(self.commands);
        let values = std::iter::once(row.reference)
            .chain(outputs)
            .chain(commands);
        for (signal, value) in self.signals.iter_mut().zip(values) {
            signal.push(slice, (row.start_ns as f64, value));
            if let Some(since_ns) = since_step {
                signal.found.step.push((since_ns, value));
            }
        }
    }

    fn finish(self, missing: Option<String>) -> ControlSignals {
        let mut signals = self.signals.into_iter().map(Thinned::finish);
        ControlSignals {
            missing,
            of: self.of,
            per_slice: self.per_slice,
            reference: signals.next().unwrap_or_default(),
            outputs: signals.by_ref().take(self.outputs).collect(),
            commands: signals.collect(),
        }
    }
}

/// A signal of which the extremes of each slice of time stay, in time order.
#[derive(Clone, Default)]
struct Thinned {
    found: Signal,
    slice: u64,
    /// The lowest and the highest value of the slice, and when.
    extremes: Option<[(f64, f64); 2]>,
}

impl Thinned {
    fn push(&mut self, slice: u64, at: (f64, f64)) {
        if slice != self.slice {
            self.end_slice();
            self.slice = slice;
        }
        let [low, high] = self.extremes.get_or_insert([at; 2]);
        if at.1 < low.1 {
            *low = at;
        }
        if at.1 > high.1 {
            *high = at;
        }
    }

    fn end_slice(&mut self) {
        if let Some(mut extremes) = self.extremes.take() {
            extremes.sort_by(|a, b| a.0.total_cmp(&b.0));
            let [first, last] = extremes;
            self.found.over_time.push(first);
            if last.0 > first.0 {
                self.found.over_time.push(last);
            }
        }
    }

    fn finish(mut self) -> Signal {
        self.end_slice();
        self.found
    }
}
