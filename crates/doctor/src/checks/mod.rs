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
mod polling;
mod real_time;
mod speed;
mod steal;
mod throttling;
mod timer_slack;
mod tty_low_latency;
mod usbfs_memory;
mod zero_length;

pub use check::Check;
pub(crate) use tty_low_latency::is_low_latency;

/// All of them, in the order in which they are printed: first the host, then the way to the device.
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
