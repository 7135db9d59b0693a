//! Real-time priority: whether the measuring thread may go before every ordinary one.

use super::check::{
    BUSY_HOST_COST, BUSY_HOST_SOURCE, Check, POINTS_DISTURBED, others, with_remedy,
};
use crate::host::real_time_priority;
use crate::{Finding, HostContext, Level};
use wiregauge_quantity::time;
use wiregauge_record::Disturbance;
use wiregauge_run::Stored;

/// The check.
pub const CHECK: Check = Check {
    name: NAME,
    about: "whether --priority is permitted, or was used in the run",
    look,
};

const NAME: &str = "real-time";

fn look(context: &HostContext) -> Vec<Finding> {
    if let Some(run) = &context.run {
        return vec![of_run(run.stored())];
    }
    vec![match real_time_priority(context) {
        None => Finding::new(NAME, Level::Unknown, "the permitted priority is unknown")
            .seen("/proc/self/limits and /proc/self/status do not show it"),
        Some(0) => Finding::new(NAME, Level::Note, "real-time priority is not permitted")
            .seen("/proc/self/limits: Max realtime priority = 0")
            .seen("/proc/self/status: CapEff has no CAP_SYS_NICE")
            .costs(BUSY_HOST_COST, BUSY_HOST_SOURCE)
            .remedy("sudo setcap cap_sys_nice+ep $(command -v wiregauge)")
            .remedy(
                "echo \"$USER - rtprio 98\" | sudo tee /etc/security/limits.d/90-rtprio.conf  # then log in again",
            ),
        Some(priority) => Finding::new(
            NAME,
            Level::Good,
            format!("real-time priority is permitted, up to {priority}"),
        ),
    }]
}

fn of_run(run: &dyn Stored) -> Finding {
    let disturbances = run.disturbances();
    let host = &run.conditions().host;
    let seen = format!("{}: policy = {}", run.name(), host.policy);
    if host.policy.starts_with("SCHED_FIFO") || host.policy.starts_with("SCHED_RR") {
        return Finding::new(NAME, Level::Good, "the run had real-time priority").seen(seen);
    }
    if host.policy.is_empty() {
        return Finding::new(NAME, Level::Unknown, "the priority of the run is unknown").seen(seen);
    }
    let taken = disturbances.iter().filter_map(|one| match one {
        Disturbance::Preempted { times, waited_ns } => Some((times, waited_ns)),
        _ => None,
    });
    let (points, times, waited_ns) = taken.fold((0, 0, 0), |(points, all, ns), (times, waited)| {
        (points + 1, all + times, ns + waited)
    });
    let finding = match points {
        0 => Finding::new(NAME, Level::Note, "the run had no real-time priority").seen(seen),
        _ => Finding::new(
            NAME,
            Level::Hurts,
            format!(
                "without real-time priority, {} preempted the run",
                others(run)
            ),
        )
        .seen(seen)
        .seen(format!(
            "preempted {times} times, for {} in total, in {points} {POINTS_DISTURBED}",
            time(waited_ns as f64)
        )),
    };
    with_remedy(finding.costs(BUSY_HOST_COST, BUSY_HOST_SOURCE), run)
}
