//! Windows, from version 8 on.

mod clock;
mod fork;
pub mod futex;
mod interrupt;
mod lock;
mod memory;
mod multimedia;
mod power;
mod power_plan;
mod priority;
mod processors;
mod state;
mod thread;
mod timer;

pub use super::unsupported::{Machine, Thread, UsbMon, find_thread, own_descriptors, tick_ns};
pub use clock::{COARSEST_WAIT_NS, clock_resolution_ns, monotonic_ns, real_time_ns, thread_cpu_ns};
pub use fork::{count_forks, generation};
pub use interrupt::{SignalGuard, interrupt_thread};
pub use lock::lock_memory;
pub use memory::{available_bytes, last_level_cache_bytes};
pub use power::use_precise_timers;
pub use priority::{ThreadSettings, ordinary, outrank_caller, real_time};
pub use processors::{allowed, pin, set_allowed, shares_callers_only_processor};
pub use state::host_state;
pub use thread::{thread_cpu_ns_of, thread_number};
pub use timer::sleep_until;
