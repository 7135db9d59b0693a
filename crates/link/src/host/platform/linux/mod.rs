//! Linux.

mod clock;
pub mod futex;
mod helper;
mod interrupt;
mod memory;
mod resources;
mod scheduling;
mod state;
mod usbmon;

pub use super::unix::{
    COARSEST_WAIT_NS, SignalGuard, count_forks, generation, real_time_ns, thread_cpu_ns,
};
pub use clock::{clock_resolution_ns, monotonic_ns, sleep_until};
pub use helper::{find_thread, outrank_caller, shares_callers_only_processor, thread_cpu_ns_of};
pub use interrupt::{interrupt_thread, own_descriptors};
pub use memory::{available_bytes, last_level_cache_bytes};
pub use resources::{Machine, Thread, tick_ns};
pub use scheduling::{
    ThreadSettings, allowed, lock_memory, ordinary, pin, real_time, set_allowed, thread_number,
    use_precise_timers,
};
pub use state::host_state;
pub use usbmon::UsbMon;
