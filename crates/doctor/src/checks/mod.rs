//! The checks, each in a file of its own.

mod autosuspend;
mod byte_wise;
mod delayed_ack;
mod ftdi_latency;
mod hub;
mod modem_manager;
mod network;
mod polling;
mod speed;
mod tty_low_latency;
mod zero_length;

use crate::{Finding, Sight};

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

/// All of them, in the order in which they are told.
pub const CHECKS: &[Check] = &[
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
