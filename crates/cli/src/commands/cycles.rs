//! Which cycles of a run are counted: period, deadline and jitter limit, for `wiregauge deadline` and the page.

use super::refused;
use anyhow::bail;
use std::time::Duration;
use wiregauge_record::{Connect, Schedule};
use wiregauge_report::load::{ControlLoop, Taken};
use wiregauge_run::{AnyRun, Exchange, Run};

/// What the user gave.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Requested {
    /// Of the loop; by default that of the run.
    pub period: Option<Duration>,
    /// By default the period.
    pub deadline: Option<Duration>,
    /// By default none.
    pub jitter: Option<Duration>,
    /// One in so many responses.
    pub beyond: Option<f64>,
}

/// The run, if it has responses.
pub(super) fn exchange_run(run: &AnyRun) -> anyhow::Result<&Run<Exchange>> {
    refused::exchange_run(run, "compute deadlines of")
}

/// True of a run with points at which several requests are outstanding.
pub(super) fn has_deeper(run: &Run<Exchange>) -> bool {
    run.file.points.iter().any(|point| point.point.depth > 1)
}

/// The loop whose cycles are counted at the chosen points; `select` is the flag that chooses points by their depth, and
/// `has_deeper` is true if the run, with the points that were not chosen, has points of a depth above 1.
pub(super) fn control_loop(
    requested: Requested,
    run: &Run<Exchange>,
    chosen: &[usize],
    has_deeper: bool,
    select: &str,
) -> anyhow::Result<ControlLoop> {
    let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let period_ns = match (requested.period, run.file.plan.schedule) {
        (Some(period), _) => ns(period),
        (None, Schedule::EveryNs(every_ns)) => every_ns,
        (None, Schedule::AsFastAsPossible) => bail!(
            "{} was measured as fast as possible, so it has no period: give the period of the loop, such as \
             --period 1ms",
            run.name()
        ),
    };
    if period_ns == 0 {
        bail!(
            "{} has a schedule with a period of 0: give --period",
            run.name()
        );
    }
    let deadline_ns = requested.deadline.map_or(period_ns, ns);
    let mut depths = chosen.iter().map(|&at| run.file.points[at].point.depth);
    let is_impossible = match Taken::of(run.file.plan.schedule, period_ns) {
        // The response of every cycle is known, whatever the depth.
        Taken::AsScheduled => !has_deeper,
        Taken::Replayed | Taken::ReplayedFrom { .. } => depths.any(|depth| depth == 1),
    };
    if deadline_ns > period_ns && is_impossible {
        let deeper = match has_deeper {
            true => format!(", select points of a higher depth with {select},"),
            false => ",".to_owned(),
        };
        let once = match run.file.plan.connect {
            Connect::Once => "",
            Connect::Each => "--connect once and ",
        };
        bail!(
            "a deadline of {:?} with a period of {:?} needs more than one outstanding request: a loop that \
             waits for each answer cannot send at the next tick before it arrives. Use a --deadline no longer \
             than the period{deeper} or measure with {once}--depth 2 or more",
            Duration::from_nanos(deadline_ns),
            Duration::from_nanos(period_ns)
        );
    }
    Ok(ControlLoop {
        period_ns,
        deadline_ns,
        jitter_ns: requested.jitter.map(ns),
        beyond: requested.beyond,
    })
}
