//! This computer: its clock, what is asked of it, and what else it does.

mod clock;
mod handoff;
mod helper;
mod interference;
mod interrupt;
mod load;
mod memory;
mod platform;
mod real_time;
mod scheduling;
mod shared_event;
mod time;
mod urb;
mod usbmon;
mod wake_event;
mod watchdog;

pub use clock::{COARSEST_WAIT_NS, Clock, clock_resolution_ns, sleep_until, thread_cpu_ns};
pub use handoff::Handoff;
pub use helper::Helper;
pub use interference::{ClockGaps, Watch};
pub use interrupt::{Interrupter, SignalGuard, own_descriptors};
pub use load::Load;
pub use memory::{
    MemorySpeed, available_bytes, beyond_cache_bytes, last_level_cache_bytes, memory_speed,
};
pub use platform::{count_forks, generation, host_state};
pub use real_time::Offset;
pub use scheduling::{Raised, allowed, apply, keep_off, lock_memory, outrank, use_precise_timers};
pub use shared_event::SharedEvent;
pub use time::{TestClock, Time};
pub use urb::{PacketStatus, UrbMatcher, UrbTimes, UsbPlace};
pub use usbmon::{Finished, Losses, UsbMon};
pub use wake_event::{WakeEvent, Woken};
pub use watchdog::{Heartbeat, watch};
