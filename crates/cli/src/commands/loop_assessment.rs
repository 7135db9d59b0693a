//! What the measured delays of a run do to a control loop: the same for the tables and for the page.

use super::refused;
use crate::loop_model::LoopModel;
use anyhow::{Context, bail};
use std::time::Duration;
use wiregauge_control::ControlError;
use wiregauge_record::Schedule;
use wiregauge_report::load::{self, Controls};
use wiregauge_run::{AnyRun, Exchange, Run};

/// The run, if it has delays of single cycles.
pub(super) fn exchange_run(run: &AnyRun) -> anyhow::Result<&Run<Exchange>> {
    refused::exchange_run(run, "compute a control loop with")
}

/// Reads the chosen points (by their place in the run) and computes what their delays do to the loop.
pub(super) fn assess(
    run: &Run<Exchange>,
    chosen: &[usize],
    asked: &LoopModel,
    progress: &mut dyn FnMut(f64),
) -> anyhow::Result<Controls> {
    let controls = load::controls(run, chosen, &asked.model, asked.rules, progress)
        .with_context(|| run.name())?;
    match nothing_answered(run, &controls) {
        Some(nothing) => bail!("{nothing}"),
        None => Ok(controls),
    }
}

/// The period that the run was measured with, if it has one.
pub(super) fn period_of(run: &Run<Exchange>) -> Option<Duration> {
    match run.file.plan.schedule {
        Schedule::EveryNs(every_ns) => Some(Duration::from_nanos(every_ns)),
        Schedule::AsFastAsPossible => None,
    }
}

/// Why there is nothing to compute with: no chosen point has a response that counts, or all have too many.
fn nothing_answered(run: &Run<Exchange>, controls: &Controls) -> Option<String> {
    if controls.points.iter().any(|p| p.assessment.is_some()) {
        return None;
    }
    let mut reasons = controls.points.iter().filter_map(|p| p.reason.as_ref());
    let name = run.name();
    if let Some(reason) = reasons.find(|reason| matches!(reason, ControlError::TooLong { .. })) {
        return Some(format!(
            "{name}: {reason}\n  hint: ignore responses that take longer (--deadline), or measure with a shorter --timeout or a \
             greater --depth"
        ));
    }
    Some(match controls.rules.deadline_ns {
        Some(deadline_ns) => format!(
            "{name}: no exchange was answered correctly within the deadline of {:?}, so there is no delay to compute \
             with\n  hint: use a longer --deadline",
            Duration::from_nanos(deadline_ns)
        ),
        None => format!(
            "{name}: no exchange was answered correctly, so there is no delay to compute with"
        ),
    })
}
