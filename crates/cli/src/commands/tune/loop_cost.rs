//! The control loop that a search is for: its model, and what the delays of a setting do to it.

use crate::args::TuneArgs;
use crate::loop_model::{self, LoopModel};
use anyhow::{Context, bail};
use std::path::Path;
use wiregauge_control::{ControlError, Flows, TICKS, trace_cost, without_delay};
use wiregauge_record::{Figure, LoopFigure, Plan, Schedule};
use wiregauge_report::load::{CycleDelays, CycleRecorder, cycle_delays};
use wiregauge_run::{Exchange, Run};
use wiregauge_stats::Estimate;

/// A loop, and how to name it on another command line.
pub struct LoopTask {
    loop_model: LoopModel,
    /// The flags that describe it.
    pub flags: Vec<String>,
}

/// What the delays of a setting do to the loop. Without a response in time, or with too many
/// outstanding together, all of it is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoopResult {
    /// Growth of a disturbance per cycle; below 1 the loop held.
    pub growth: Option<f64>,
    /// Cost rate with its interval; `None` if the loop did not hold.
    pub cost: Option<Estimate>,
}

impl LoopResult {
    /// One of its figures; growth has no interval.
    pub fn figure(&self, figure: LoopFigure) -> Option<Estimate> {
        match figure {
            LoopFigure::Cost => self.cost,
            LoopFigure::Growth => self.growth.map(|growth| Estimate {
                value: growth,
                low: Some(growth),
                high: Some(growth),
            }),
        }
    }
}

impl LoopTask {
    /// The loop that the flags describe, if one of these figures requires it. Refuses one that is unstable without
    /// any delay.
    pub fn of(args: &TuneArgs, figures: &[Figure]) -> anyhow::Result<Option<LoopTask>> {
        let flags = loop_model::flags(&args.model, &args.misses);
        let asked = figures.iter().find(|figure| figure.is_of_control());
        let (Some(figure), false) = (asked, flags.is_empty()) else {
            return match (asked, flags.first()) {
                (Some(figure), _) => bail!(
                    "{figure} requires the model of the control loop: give --model FILE, or --plant and --pid, such as \
                     --plant '1000/(s^2+s)' --pid 0.96,0,0.049 --period 6ms"
                ),
                (None, Some(flag)) => bail!(
                    "{flag} has no effect without a figure of a control loop\n  hint: use --minimise control.cost, or \
                     --subject-to 'control.growth<1'"
                ),
                (None, None) => Ok(None),
            };
        };
        let loop_model = loop_model::resolve(&args.model, &args.misses, None)?;
        without_delay(&loop_model.model, &mut Flows::new(&loop_model.model, TICKS))
            .with_context(|| format!("cannot tune for {figure}"))?;
        Ok(Some(LoopTask { loop_model, flags }))
    }

    /// Each exchange starts a cycle.
    pub fn schedule(&self) -> Schedule {
        Schedule::EveryNs(self.period_ns())
    }

    /// Period of the loop.
    pub fn period_ns(&self) -> u64 {
        self.loop_model.model.period_ns()
    }

    /// Makes cycles of the exchanges of the only point of a plan, while they are measured.
    pub fn recorder(&self, plan: &Plan) -> CycleRecorder {
        let depth = plan.points.first().map_or(1, |point| point.depth);
        CycleRecorder::new(plan, depth, self.period_ns())
    }

    /// What the delays of the only point of a stored run do: what `wiregauge control` says of it.
    pub fn of_run(&self, dir: &Path) -> anyhow::Result<LoopResult> {
        let run = Run::<Exchange>::open(dir)?;
        self.result(&cycle_delays(&run, 0, self.period_ns())?)
    }

    /// What these delays do.
    pub fn result(&self, cycles: &CycleDelays) -> anyhow::Result<LoopResult> {
        let LoopModel { model, rules, .. } = &self.loop_model;
        let mut flows = Flows::new(model, TICKS);
        match trace_cost(model, &mut flows, &cycles.delays, *rules) {
            Ok(found) => Ok(LoopResult {
                growth: Some(found.growth),
                cost: found.cost.map(|value| Estimate {
                    value,
                    low: found.interval.map(|interval| interval.low),
                    high: found.interval.map(|interval| interval.high),
                }),
            }),
            Err(ControlError::NoAnswer | ControlError::TooLong { .. }) => Ok(LoopResult::default()),
            Err(error) => Err(error.into()),
        }
    }
}
