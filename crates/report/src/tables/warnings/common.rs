//! Warnings of all kinds of runs: what disturbed the host or the link, rows that are not whole.

use super::codes::Code;
use super::warning::{Name, Warning, named, spread};
use wiregauge_quantity::{grouped, percent, time};
use wiregauge_record::{Disturbance, HostPlan};

/// Warnings about what disturbed a run; `rows`: of each its index and what disturbed it.
pub(super) fn of_disturbances<'a>(
    rows: impl Iterator<Item = (u32, &'a [Disturbance])>,
    host: &HostPlan,
    name: Name<'_>,
) -> Vec<Warning> {
    let mut steal = (Vec::new(), Vec::new());
    let mut preempted = (Vec::new(), Vec::new(), Vec::new());
    let mut shared = (Vec::new(), Vec::new());
    let mut gaps = (Vec::new(), 0);
    let mut storage = Vec::new();
    let mut stalled = (Vec::new(), 0);
    for (index, disturbances) in rows {
        for disturbance in disturbances {
            match *disturbance {
                Disturbance::Steal { share } => {
                    steal.0.push(index);
                    steal.1.push(share);
                }
                Disturbance::Preempted { times, waited_ns } => {
                    preempted.0.push(index);
                    preempted.1.push(waited_ns as f64);
                    preempted.2.push(times);
                }
                Disturbance::SharedProcessor { share } => {
                    shared.0.push(index);
                    shared.1.push(share);
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
    let mut found = Vec::new();
    if let Some(at) = named(name, steal.0) {
        let share = spread(steal.1.into_iter(), percent);
        found.push(Warning::new(
            Code::HostDelayed,
            format!("the hypervisor stole {share} of the time of this machine{at}"),
            ": the tails include such delays. Measure on a real machine to exclude them.",
        ));
    }
    if let Some(at) = named(name, preempted.0) {
        let waited = spread(preempted.1.into_iter(), time);
        let times = times_of(preempted.2.into_iter());
        found.push(Warning::new(
            Code::HostDelayed,
            format!(
                "the measuring thread waited for a CPU {waited} in total and was preempted {times}{at}"
            ),
            match (host.pin.is_some(), host.priority.is_some()) {
                (_, false) => ". Try --priority 50, or a less loaded host.",
                (false, true) => ". Try --pin CPU.",
                (true, true) => ". Look for other real-time programs on that CPU.",
            },
        ));
    }
    if let Some(at) = named(name, shared.0) {
        let share = spread(shared.1.into_iter(), percent);
        found.push(Warning::new(
            Code::HostDelayed,
            format!(
                "other programs used {share} of the CPU that the measuring thread is pinned to{at}"
            ),
            ". Use --pin with another one.",
        ));
    }
    if let Some(at) = named(name, gaps.0) {
        let longest = time(gaps.1 as f64);
        found.push(Warning::new(
            Code::HostDelayed,
            format!("the clock jumped by up to {longest} for a spinning thread{at}"),
            ": an interrupt, the hypervisor or the firmware. Tails of that length are caused by this host.",
        ));
    }
    if let Some(at) = named(name, storage) {
        found.push(Warning::new(
            Code::Storage,
            format!("samples arrived faster than they could be stored, and the loop waited{at}"),
            ". Use fewer exchanges, no --keep-data, or a faster disk.",
        ));
    }
    if let Some(at) = named(name, stalled.0) {
        let times = stalled.1;
        found.push(Warning::new(
            Code::EndpointStalled,
            format!("the device stalled an endpoint {times} times{at}"),
            "; it was cleared each time, and outstanding exchanges were lost. The device rejects the requests: check \
             sizes and --protocol.",
        ));
    }
    found
}

/// `once`, `1 to 12 times`.
pub(super) fn times_of(counts: impl Iterator<Item = u64> + Clone) -> String {
    match counts.clone().all(|count| count == 1) {
        true => "once".into(),
        false => spread(counts.map(|count| count as f64), |count| {
            format!("{} times", grouped(count as u64))
        }),
    }
}

/// That the points that `place` names are not whole.
pub(super) fn cut_at(place: &str) -> Warning {
    Warning::new(
        Code::Cut,
        format!("not measured to the end{place}"),
        "; the samples taken so far are kept.",
    )
}
