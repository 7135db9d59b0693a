//! `wiregauge loop`: measure, store, print.

use super::loop_plan;
use super::measure::Measurement;
use crate::Outcome;
use crate::args::{LoopArgs, Undecided};
use crate::caller::Session;
use crate::output::progress::Extent;
use std::time::Duration;
use wiregauge_loop as closed_loop;
use wiregauge_run::Loop;

/// Runs the command.
pub fn run(args: &LoopArgs, session: &Session<'_>) -> anyhow::Result<Outcome> {
    let plan = loop_plan::of_loop(args);
    if let Some((program, before)) = session.caller.program().split_first() {
        closed_loop::serve_devices_with_program(program, before);
    }
    closed_loop::check(&plan)?;
    let measurement = Measurement::<Loop> {
        points: plan.points.len() * if plan.find { 2 } else { 1 },
        extent: Extent::Time(Duration::from_nanos(plan.settle_ns + plan.duration_ns)),
        plan,
        keep: &args.keep,
        csv: args.csv.as_deref(),
        look: args.look,
    };
    measurement.run(
        session,
        |plan, stop, sink| closed_loop::run(plan, stop, sink),
        |_| Vec::new(),
        Undecided::Fail,
    )
}
