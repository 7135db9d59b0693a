//! The checks, each in a file of its own.

mod autosuspend;
mod byte_wise;
mod delayed_ack;
mod ftdi_latency;
mod governor;
mod hub;
mod idle_states;
mod modem_manager;
mod neighbours;
mod network;
mod polling;
mod real_time;
mod speed;
mod steal;
mod throttling;
mod timer_slack;
mod tty_low_latency;
mod usbfs_memory;
mod zero_length;

use crate::{Finding, Sight};
use wiregauge_record::Disturbance;
use wiregauge_run::{AnyRun, Stored};

/// One thing that may hurt.
#[derive(Clone, Copy)]
pub struct Check {
    /// Its name, for `--only` and in reports.
    pub name: &'static str,
    /// What it looks at, in one line.
    pub about: &'static str,
    /// Looks. Nothing comes back where it does not apply: no such device, another system.
    pub look: fn(&Sight) -> Vec<Finding>,
}

/// All of them, in the order in which they are told: first the host, then the way to the device.
pub const CHECKS: &[Check] = &[
    governor::CHECK,
    idle_states::CHECK,
    real_time::CHECK,
    throttling::CHECK,
    timer_slack::CHECK,
    neighbours::CHECK,
    steal::CHECK,
    usbfs_memory::CHECK,
    ftdi_latency::CHECK,
    tty_low_latency::CHECK,
    modem_manager::CHECK,
    autosuspend::CHECK,
    speed::CHECK,
    hub::CHECK,
    network::CHECK,
    delayed_ack::CHECK,
    zero_length::CHECK,
    byte_wise::CHECK,
    polling::CHECK,
];

/// What the points of a run are called where it is told how many were disturbed.
const POINTS_DISTURBED: &str = "of its points";

/// What other programs cost an ordinary thread, and one with real-time priority.
const BUSY_HOST_COST: &str = "beside four busy threads on two processors, 1 % of the exchanges that were due each \
                              millisecond were 7.0 ms late or more; with --priority 50 that was 0.05 ms (p99, medians \
                              of 7 rounds)";
const BUSY_HOST_SOURCE: &str = "bench/runs/2026-11-22-host";

/// The command of a run, with real-time priority.
fn with_priority(run: &dyn Stored) -> String {
    let typed = run.conditions().command.iter().skip(1).map(String::as_str);
    match shlex::try_join(typed) {
        Ok(words) if !words.is_empty() => format!("wiregauge {words} --priority 50"),
        _ => format!("wiregauge {} {} --priority 50", run.kind(), run.address()),
    }
}

/// What disturbed the points of a run.
fn disturbances(run: &AnyRun) -> Vec<&Disturbance> {
    match run {
        AnyRun::Exchange(run) => flat(&run.file.points, |point| &point.disturbances),
        AnyRun::Stream(run) => flat(&run.file.points, |point| &point.disturbances),
        AnyRun::Loop(run) => flat(&run.file.points, |point| &point.disturbances),
    }
}

fn flat<P>(points: &[P], of: fn(&P) -> &Vec<Disturbance>) -> Vec<&Disturbance> {
    points.iter().flat_map(of).collect()
}
