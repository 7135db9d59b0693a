//! Warnings of all kinds of runs: what disturbed the host or the link, rows that are not whole.

use super::codes::Code;
use super::warning::{Search, once, times_of};
use wiregauge_quantity::{percent, time};
use wiregauge_record::{Disturbance, Ending, HostPlan};

/// What a disturbance is measured by: a share, a time in nanoseconds, or how often it occurred.
fn figure(disturbance: &Disturbance) -> f64 {
    match *disturbance {
        Disturbance::Steal { share } | Disturbance::SharedProcessor { share } => share,
        Disturbance::Preempted { waited_ns, .. } => waited_ns as f64,
        Disturbance::ClockGap { longest_ns, .. } => longest_ns as f64,
        Disturbance::StorageTooSlow { times } | Disturbance::EndpointStalled { times } => {
            times as f64
        }
        // Loops tell themselves of a device that was late, and `wiregauge explain` of lost events of usbmon.
        Disturbance::DeviceLate(_) | Disturbance::UrbEventsLost { .. } => 0.0,
    }
}

/// Warnings about what disturbed a run; `of` gives what disturbed a row. `is_here`: the device is a program on this host,
/// which a higher priority of the measuring thread delays.
pub(super) fn disturbed<'a, R: Copy>(
    search: &mut Search<'_, R>,
    of: impl Fn(R) -> &'a [Disturbance],
    host: &HostPlan,
    is_here: bool,
) {
    let find = |row: R, is_it: fn(&Disturbance) -> bool| {
        let found = of(row).iter().filter(|one| is_it(one));
        found.map(figure).reduce(f64::max)
    };
    search.range(
        Code::HostDelayed,
        |row| find(row, |one| matches!(one, Disturbance::Steal { .. })),
        percent,
        |share, at| format!("the hypervisor stole {share} of the time of this machine{at}"),
        ": the tails include such delays. Measure on a real machine to exclude them.",
    );
    let times = |row| {
        let mut all = of(row).iter();
        all.find_map(|one| match *one {
            Disturbance::Preempted { times, .. } => Some(times as f64),
            _ => None,
        })
    };
    let times = search.spread(times, times_of);
    search.range(
        Code::HostDelayed,
        |row| find(row, |one| matches!(one, Disturbance::Preempted { .. })),
        time,
        |waited, at| {
            let times = once(&times);
            format!(
                "the measuring thread waited for a CPU {waited} in total and was preempted {times}{at}"
            )
        },
        match (host.pin.is_some(), host.priority.is_some()) {
            (_, false) if is_here => ". Try a less loaded host.",
            (_, false) => ". Try whether --priority 50 helps, or a less loaded host.",
            (false, true) => ". Try --pin CPU.",
            (true, true) => ". Look for other real-time programs on that CPU.",
        },
    );
    search.range(
        Code::HostDelayed,
        |row| {
            find(row, |one| {
                matches!(one, Disturbance::SharedProcessor { .. })
            })
        },
        percent,
        |share, at| {
            format!(
                "other programs used {share} of the CPU that the measuring thread is pinned to{at}"
            )
        },
        ". Use --pin with another one.",
    );
    let gap = |row| find(row, |one| matches!(one, Disturbance::ClockGap { .. }));
    let longest = time(search.most(gap));
    search.at(
        Code::HostDelayed,
        |row| gap(row).is_some(),
        |at| format!("the clock jumped by up to {longest} for a spinning thread{at}"),
        ": an interrupt, the hypervisor or the firmware. Tails of that length are caused by this host.",
    );
    search.at(
        Code::Storage,
        |row| find(row, |one| matches!(one, Disturbance::StorageTooSlow { .. })).is_some(),
        |at| format!("samples arrived faster than they could be stored, and the loop waited{at}"),
        ". Use fewer exchanges, no --keep-data, or a faster disk.",
    );
    search.range(
        Code::EndpointStalled,
        |row| find(row, |one| matches!(one, Disturbance::EndpointStalled { .. })),
        times_of,
        |times, at| format!("the device stalled an endpoint {}{at}", once(times)),
        "; it was cleared each time, and outstanding exchanges were lost. The device rejects the requests: check sizes \
         and --protocol.",
    );
}

/// Rows that are not whole; `of` gives how a row ended.
pub(super) fn cut<'a, R: Copy>(search: &mut Search<'_, R>, of: impl Fn(R) -> &'a Ending) {
    search.at(
        Code::Cut,
        |row| *of(row) != Ending::Complete,
        |at| format!("not measured to the end{at}"),
        "; the samples taken so far are kept.",
    );
}
