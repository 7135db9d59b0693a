//! Closed loops: a digitizer's blocks are processed and played by a generator. How short can the
//! latency be before the input is lost or the output starved?

#[cfg(all(target_os = "linux", target_endian = "little"))]
mod alsa;
mod device;
pub mod marker;

#[cfg(all(target_os = "linux", target_endian = "little"))]
pub use alsa::Alsa;
pub use device::{Arrived, DeviceEnd, LoopDevice, Rings, STALLS_KEPT, Submitted};
