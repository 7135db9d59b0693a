//! Closed loops: a digitizer's blocks are processed and played by a generator. How short can the
//! latency be before the input is lost or the output starved?

mod check;
mod device;
pub mod process;

pub use check::{
    CHANNELS_MOST, DUTY_MOST, check, check_room, check_shape, check_speed, least_duty, throttling,
};
pub use device::{Arrived, DeviceEnd, LoopDevice, Rings, STALLS_KEPT, Submitted};
