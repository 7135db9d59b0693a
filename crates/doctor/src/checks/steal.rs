//! A hypervisor, and the time that it takes from this machine.

use super::check::{Check, POINTS_DISTURBED};
use crate::host::{Ticks, is_virtual};
use crate::{Finding, HostContext, Level};
use std::time::Duration;
use wiregauge_quantity::percent;
use wiregauge_record::Disturbance;
use wiregauge_run::Stored;

/// The check.
pub const CHECK: Check = Check {
    name: NAME,
    about: "CPU time stolen by a hypervisor",
    look,
};

const NAME: &str = "steal";
const STAT: &str = "/proc/stat";
const WAIT: Duration = Duration::from_millis(300);

/// The part of the time from which on a point of a run is flagged (docs/exchange.md).
const SHARE_HURTS: f64 = 0.005;

const COST: &str = "the lowest latency of closed loops with real-time priority was 0.71 to 1.39 ms in minutes \
                    in which the hypervisor stole 10 ms, and 2.3 to 113 ms in minutes in which it stole up to \
                    8.6 s";
const SOURCE: &str = "bench/runs/2026-11-22-loop, docs/loop.md";
const REMEDY: &str =
    "virsh vcpupin DOMAIN 0 2  # on the host of this virtual machine, for each of its CPUs";

fn look(context: &HostContext) -> Vec<Finding> {
    if let Some(run) = &context.run {
        return vec![of_run(run.stored())];
    }
    let read = context.twice(&[STAT.into()], WAIT).pop().flatten();
    let accounts = read.and_then(|(before, after)| {
        let (before, after) = (Ticks::parse(&before)?, Ticks::parse(&after)?);
        Some((after, after.since(before)))
    });
    let Some((since_boot, passed)) = accounts else {
        return vec![
            Finding::new(NAME, Level::Unknown, "the stolen time is unknown")
                .seen(format!("{STAT} cannot be read")),
        ];
    };
    let (now, ever) = (passed.part(passed.steal), since_boot.part(since_boot.steal));
    let seen = format!(
        "{STAT}: {} stolen over {} ms, {} since the start",
        percent(now),
        WAIT.as_millis(),
        percent(ever)
    );
    // One tick of the few is an accident.
    let is_stolen = passed.steal > 1 && now > SHARE_HURTS;
    vec![if is_stolen || ever > SHARE_HURTS {
        Finding::new(
            NAME,
            Level::Hurts,
            "a hypervisor steals time from this machine",
        )
        .seen(seen)
        .costs(COST, SOURCE)
        .remedy(REMEDY)
    } else if is_virtual(context) {
        Finding::new(NAME, Level::Note, "a virtual machine: its CPUs may be preempted at any time")
            .seen("/proc/cpuinfo: flags has hypervisor; whether its CPUs are pinned is not visible from \
            inside")
            .seen(seen)
            .costs(
                "waking up an idle CPU involves the hypervisor: on the authors' test host an exchange between two \
                 CPUs took 70 us, and 4 us with --wait spin",
                "bench/README.md",
            )
            .remedy(REMEDY)
    } else {
        Finding::new(NAME, Level::Good, "no stolen time").seen(seen)
    }]
}

fn of_run(run: &dyn Stored) -> Finding {
    let disturbances = run.disturbances();
    let shares = || {
        disturbances.iter().filter_map(|one| match one {
            Disturbance::Steal { share } => Some(*share),
            _ => None,
        })
    };
    let points = shares().count();
    if points == 0 {
        let is_virtual = run.conditions().host.hypervisor;
        let title = match is_virtual {
            true => "the run was in a virtual machine, without stolen time",
            false => "no time was stolen from the run",
        };
        return Finding::new(NAME, Level::Good, title)
            .seen(format!("{}: no point is flagged", run.name()));
    }
    let most = shares().fold(0.0, f64::max);
    Finding::new(NAME, Level::Hurts, "a hypervisor stole time from the run")
        .seen(format!(
            "{}: up to {} of the machine's time, in {points} {POINTS_DISTURBED}",
            run.name(),
            percent(most)
        ))
        .costs(COST, SOURCE)
        .remedy(REMEDY)
}
