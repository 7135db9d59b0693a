//! macOS. This was compiled, and has never been run.

mod clock;
pub mod futex;
mod interrupt;
mod memory;
mod processors;
mod scheduling;
mod state;
mod thread;

pub use super::unix::{
    COARSEST_WAIT_NS, SignalGuard, count_forks, generation, real_time_ns, thread_cpu_ns,
};
pub use super::unsupported::{Machine, Thread, UsbMon, find_thread, own_descriptors, tick_ns};
pub use clock::{clock_resolution_ns, monotonic_ns, sleep_until};
pub use interrupt::interrupt_thread;
pub use memory::{available_bytes, last_level_cache_bytes};
pub use scheduling::{
    ThreadSettings, allowed, lock_memory, ordinary, outrank_caller, pin, real_time, set_allowed,
    shares_callers_only_processor, use_precise_timers,
};
pub use state::host_state;
pub use thread::{thread_cpu_ns_of, thread_number};
