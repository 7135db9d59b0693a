//! What the kernel keeps back from real-time threads for ordinary ones.

use super::check::Check;
use crate::host::real_time_priority;
use crate::{Finding, HostContext, Level};
use wiregauge_quantity::exact_time;

/// The check.
pub const CHECK: Check = Check {
    name: NAME,
    about: "CPU time that the kernel withholds from a real-time thread that never sleeps",
    look,
};

const NAME: &str = "throttling";
const RUNTIME: &str = "/proc/sys/kernel/sched_rt_runtime_us";
const PERIOD: &str = "/proc/sys/kernel/sched_rt_period_us";
const FAIR_SERVER: &str = "/sys/kernel/debug/sched/fair_server";

/// Documentation/scheduler/sched-rt-group.rst: a second.
const USUAL_PERIOD_US: i64 = 1_000_000;

/// Since this version ordinary threads have a deadline server of their own, and the limit on real-time
/// threads as a whole is gone (commit 5f6bd380c7bd, "sched/rt: Remove default bandwidth control").
const FAIR_SERVER_SINCE: (u32, u32) = (6, 12);

fn look(context: &HostContext) -> Vec<Finding> {
    let (kernel, runtime_us) = match &context.run {
        Some(run) => {
            let host = &run.stored().conditions().host;
            if !host.policy.starts_with("SCHED_FIFO") && !host.policy.starts_with("SCHED_RR") {
                return Vec::new();
            }
            // "Linux 6.18.1 #1 SMP ..."
            (
                host.kernel.split_whitespace().nth(1).map(str::to_owned),
                host.rt_runtime_us,
            )
        }
        None => {
            // Who may not have the priority cannot be stopped either.
            if real_time_priority(context).is_none_or(|priority| priority == 0) {
                return Vec::new();
            }
            (
                context.read("/proc/sys/kernel/osrelease"),
                context.number(RUNTIME),
            )
        }
    };
    let Some(version) = kernel.as_deref().and_then(version) else {
        return vec![
            Finding::new(NAME, Level::Unknown, "the kernel version is unknown").seen(format!(
                "/proc/sys/kernel/osrelease = {}",
                kernel.unwrap_or_default()
            )),
        ];
    };
    vec![match version >= FAIR_SERVER_SINCE {
        true => fair_server(context, version),
        false => limit(context, runtime_us),
    }]
}

fn version(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn fair_server(context: &HostContext, (major, minor): (u32, u32)) -> Finding {
    let runtimes: Vec<i64> = context
        .names(FAIR_SERVER)
        .iter()
        .filter_map(|cpu| context.number(format!("{FAIR_SERVER}/{cpu}/runtime")))
        .collect();
    if !runtimes.is_empty() && runtimes.iter().all(|&ns| ns == 0) {
        return Finding::new(NAME, Level::Good, "a real-time thread is never throttled")
            .seen(format!("{FAIR_SERVER}/cpu*/runtime = 0"));
    }
    let seen = match runtimes.iter().max() {
        Some(ns) => format!("{FAIR_SERVER}/cpu*/runtime = {ns} ns of each second"),
        None => format!("Linux {major}.{minor}: {FAIR_SERVER} cannot be read"),
    };
    let title = match runtimes.is_empty() {
        true => {
            "a real-time thread that spins may be preempted for up to 50 ms per second (kernel default)"
        }
        false => "a real-time thread that spins is preempted by normal threads",
    };
    Finding::new(NAME, Level::Note, title)
    .seen(seen)
    .costs(
        "stops real-time threads for up to 50 ms of each second (--priority with --wait spin), but only if a \
         normal thread waits for the same CPU; on the authors' test host there were gaps of 48 ms",
        "Linux 6.12, kernel/sched/deadline.c (fair server) and commit 5f6bd380c7bd; bench/runs/2026-11-22-host",
    )
    .remedy("for f in /sys/kernel/debug/sched/fair_server/cpu*/runtime; do echo 0 | sudo tee $f; done")
}

fn limit(context: &HostContext, runtime_us: Option<i64>) -> Finding {
    let Some(runtime_us) = runtime_us else {
        return Finding::new(
            NAME,
            Level::Unknown,
            "the limit of real-time threads cannot be read",
        )
        .seen(format!("{RUNTIME}: not a number"));
    };
    let period_us = context
        .number(PERIOD)
        .filter(|&us| us > 0)
        .unwrap_or(USUAL_PERIOD_US);
    let seen = format!("{RUNTIME} = {runtime_us}");
    if runtime_us < 0 || runtime_us >= period_us {
        return Finding::new(NAME, Level::Good, "a real-time thread is never throttled").seen(seen);
    }
    let [stopped, period] =
        [period_us - runtime_us, period_us].map(|us| exact_time(1000 * us.unsigned_abs()));
    Finding::new(NAME, Level::Note, "a real-time thread that spins is throttled")
        .seen(seen)
        .costs(
            format!(
                "stops real-time threads for {stopped} of every {period} (--priority with --wait spin)"
            ),
            "Linux, Documentation/scheduler/sched-rt-group.rst; sched(7)",
        )
        .remedy("sudo sysctl kernel.sched_rt_runtime_us=-1  # a thread that never sleeps can then lock up the machine")
}
