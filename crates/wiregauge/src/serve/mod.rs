//! The other end of the wire: a responder on TCP, UDP, Unix sockets, a tty, a pseudo-terminal that
//! it makes, a USB port of this Linux, or a virtual USB device. Plain, it answers as fast as it can;
//! with a model or faults it behaves like a device.

mod datagram;
mod device;
mod faults;
pub mod gadget;
mod listen;
mod model;
mod news;
mod stream;
mod streams;
#[cfg(test)]
mod streams_tests;
pub mod usb_virtual;

pub use device::Character;
/// The responder without its I/O: what firmware/host holds the firmware against.
#[doc(hidden)]
pub use device::{Device, Trust};
pub use faults::{Faults, Often};
pub use listen::{Serve, ServeAddress, serve};
pub use model::{Model, ModelledDevice, Passage};
pub use news::News;
pub use streams::Pull;
