//! This computer: its clock, what is asked of it, and what else it does.

mod bell;
mod clock;
mod fork;
mod helper;
mod interference;
mod load;
mod loan;
mod memory;
mod nudge;
mod scheduling;
mod shared_bell;
mod state;
mod urb;
mod usbmon;
mod watchdog;

pub use bell::{Bell, Woken};
pub use clock::{Clock, sleep_until, thread_cpu_ns};
pub use fork::{count_forks, generation};
pub use helper::Helper;
pub use interference::{ClockGaps, Watch};
pub use load::Load;
pub use loan::Loan;
pub use memory::{
    MemorySpeed, available_bytes, beyond_cache_bytes, last_level_cache_bytes, memory_speed,
};
pub use nudge::{Heeding, Sleeper, own_descriptors};
pub use scheduling::{Raised, allowed, apply, keep_off, lock_memory, outrank, use_precise_timers};
pub use shared_bell::SharedBell;
pub use state::host_state;
pub use urb::{UrbMatcher, UrbTimes, UsbPlace};
pub use usbmon::{Finished, Losses, UsbMon};
pub use watchdog::{Pulse, watch};
