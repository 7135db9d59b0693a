//! The checks, each in a file of its own.

mod autosuspend;
mod byte_wise;
mod check;
mod delayed_ack;
mod ftdi_latency;
mod governor;
mod hub;
mod idle_states;
mod modem_manager;
mod neighbours;
mod network;
mod plan_values;
mod polling;
mod real_time;
mod speed;
mod steal;
mod throttling;
mod timer_slack;
mod tty_low_latency;
mod usbfs_memory;
mod windows;
mod zero_length;

use crate::platform::IS_WINDOWS;
pub use check::Check;
pub(crate) use tty_low_latency::is_low_latency;

/// The checks of the system that this program is built for.
pub const CHECKS: &[Check] = match IS_WINDOWS {
    true => WINDOWS,
    false => LINUX,
};

/// Those of Linux, in the order in which they are printed: first the host, then the way to the device.
pub const LINUX: &[Check] = &[
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

/// Those of Windows, in the same order.
pub const WINDOWS: &[Check] = &[
    windows::power_plan::CHECK,
    windows::core_parking::CHECK,
    windows::timer_resolution::CHECK,
    windows::antivirus::CHECK,
    windows::indexing::CHECK,
    windows::ftdi_latency::CHECK,
    windows::selective_suspend::CHECK,
    windows::nagle::CHECK,
    delayed_ack::CHECK,
    zero_length::CHECK,
    byte_wise::CHECK,
    polling::CHECK,
];
