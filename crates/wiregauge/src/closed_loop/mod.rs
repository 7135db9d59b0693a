//! Closed loops: a digitizer's blocks are processed and played by a generator. How short can the
//! latency be before the input is lost or the output starved?

mod device;
mod virtual_clock;
mod waiting;

pub use device::{Arrived, DeviceEnd, LoopDevice, Rings, STALLS_KEPT, Submitted};
pub use virtual_clock::VirtualClock;
