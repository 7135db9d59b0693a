//! What Linux and macOS share.

mod clock;
mod fork;
mod signals;

pub use clock::{COARSEST_WAIT_NS, real_time_ns, thread_cpu_ns};
pub use fork::{count_forks, generation};
pub use signals::{SIGNAL, SignalGuard};
