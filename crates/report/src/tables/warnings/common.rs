//! Warnings of all kinds of runs: what disturbed the host or the link, a load, rows that are not whole.

use super::codes::Code;
use super::warning::{Warning, add};
use wiregauge_quantity::{grouped, percent, time};
use wiregauge_record::{Disturbance, HostPlan};

/// What disturbed a run, or some of its rows.
pub(in crate::tables) enum Disturbed {
    /// The machine took time away.
    Steal { points: Vec<u32>, worst: f64 },
    /// The measuring thread was preempted.
    Preempted {
        points: Vec<u32>,
        /// At the point that waited longest.
        times: u64,
        /// There, of all times together.
        waited_ns: u64,
        pinned: bool,
        real_time: bool,
    },
    /// Somebody else on the pinned processor.
    Shared { points: Vec<u32>, worst: f64 },
    /// The clock jumped.
    ClockGap { points: Vec<u32>, longest_ns: u64 },
    /// The storage was too slow.
    Storage { points: Vec<u32> },
    /// An endpoint stalled and was cleared.
    Stalled { points: Vec<u32>, times: u64 },
}

/// Warnings about what disturbed a run: for each row its index and what disturbed it.
pub(super) fn of_disturbances<'a>(
    rows: impl Iterator<Item = (u32, &'a [Disturbance])>,
    host: &HostPlan,
) -> Vec<Disturbed> {
    let mut warnings = Vec::new();
    let mut steal = (Vec::new(), 0.0_f64);
    let mut preempted = (Vec::new(), (0, 0));
    let mut shared = (Vec::new(), 0.0_f64);
    let mut gaps = (Vec::new(), 0);
    let mut storage = Vec::new();
    let mut stalled = (Vec::new(), 0);
    for (index, disturbances) in rows {
        for disturbance in disturbances {
            match *disturbance {
                Disturbance::Steal { share } => {
                    steal.0.push(index);
                    steal.1 = steal.1.max(share);
                }
                Disturbance::Preempted { times, waited_ns } => {
                    preempted.0.push(index);
                    preempted.1 = preempted.1.max((waited_ns, times));
                }
                Disturbance::SharedProcessor { share } => {
                    shared.0.push(index);
                    shared.1 = shared.1.max(share);
                }
                Disturbance::ClockGap { longest_ns, .. } => {
                    gaps.0.push(index);
                    gaps.1 = longest_ns.max(gaps.1);
                }
                Disturbance::StorageTooSlow { .. } => storage.push(index),
                // Only of loops, which tell it themselves.
                Disturbance::DeviceLate(_) => {}
                // Tables by `wiregauge explain`, which alone reads those times.
                Disturbance::UrbEventsLost { .. } => {}
                Disturbance::EndpointStalled { times } => {
                    stalled.0.push(index);
                    stalled.1 += times;
                }
            }
        }
    }
    let (pinned, real_time) = (host.pin.is_some(), host.priority.is_some());
    add(&mut warnings, steal.0, |points| Disturbed::Steal {
        points,
        worst: steal.1,
    });
    add(&mut warnings, preempted.0, |points| Disturbed::Preempted {
        points,
        times: preempted.1.1,
        waited_ns: preempted.1.0,
        pinned,
        real_time,
    });
    add(&mut warnings, shared.0, |points| Disturbed::Shared {
        points,
        worst: shared.1,
    });
    add(&mut warnings, gaps.0, |points| Disturbed::ClockGap {
        points,
        longest_ns: gaps.1,
    });
    add(&mut warnings, storage, |points| Disturbed::Storage {
        points,
    });
    add(&mut warnings, stalled.0, |points| Disturbed::Stalled {
        points,
        times: stalled.1,
    });
    warnings
}

impl Disturbed {
    /// What is printed; `at` names points, in brackets.
    pub(in crate::tables) fn warning_at(&self, at: &dyn Fn(&[u32]) -> String) -> Warning {
        match self {
            Disturbed::Steal { points, worst } => Warning::new(
                Code::Steal,
                format!(
                    "the hypervisor stole up to {} of the time of this machine{}",
                    percent(*worst),
                    at(points)
                ),
                ": the tails include such delays. Measure on a real machine to exclude them.",
            ),
            Disturbed::Preempted {
                points,
                times,
                waited_ns,
                pinned,
                real_time,
            } => Warning::new(
                Code::Preempted,
                format!(
                    "the measuring thread waited for a CPU {}{} in total and was preempted {}{}",
                    if points.len() > 1 { "up to " } else { "" },
                    time(*waited_ns as f64),
                    match times {
                        1 => "once".to_owned(),
                        many => format!("{} times", grouped(*many)),
                    },
                    at(points)
                ),
                match (pinned, real_time) {
                    (_, false) => ". Try --priority 50, or a less loaded host.",
                    (false, true) => ". Try --pin CPU.",
                    (true, true) => ". Look for other real-time programs on that CPU.",
                },
            ),
            Disturbed::Shared { points, worst } => Warning::new(
                Code::Shared,
                format!(
                    "other programs used {} of the CPU that the measuring thread is pinned to{}",
                    percent(*worst),
                    at(points)
                ),
                ". Use --pin with another one.",
            ),
            Disturbed::ClockGap { points, longest_ns } => Warning::new(
                Code::ClockGap,
                format!(
                    "the clock jumped by up to {} for a spinning thread{}",
                    time(*longest_ns as f64),
                    at(points)
                ),
                ": an interrupt, the hypervisor or the firmware. Tails of that length are caused by this host.",
            ),
            Disturbed::Stalled { points, times } => Warning::new(
                Code::EndpointStalled,
                format!("the device stalled an endpoint {times} times{}", at(points)),
                "; it was cleared each time, and outstanding exchanges were lost. The device rejects the \
                 requests: check sizes and --protocol.",
            ),
            Disturbed::Storage { points } => Warning::new(
                Code::Storage,
                format!(
                    "samples arrived faster than they could be stored, and the loop waited{}",
                    at(points)
                ),
                ". Use fewer exchanges, no --keep-data, or a faster disk.",
            ),
        }
    }
}

/// That a load ran.
pub(super) fn load(cpu: u32, memory: u32) -> Warning {
    let finding =
        format!("measured under synthetic load: {cpu} computing and {memory} copying threads");
    Warning::new(Code::Load, finding, ".")
}

/// That the points that `place` names are not whole.
pub(super) fn cut_at(place: &str) -> Warning {
    Warning::new(
        Code::Cut,
        format!("not measured to the end{place}"),
        "; the samples taken so far are kept.",
    )
}
