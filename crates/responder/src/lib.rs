//! The other end of the wire: a responder on TCP, UDP, Unix sockets, a tty, a pseudo-terminal that
//! it makes, a CAN bus, a USB port of this Linux, or a virtual USB device. Plain, it answers as fast as it can;
//! with a model or faults it behaves like a device.
//!
//! ```no_run
//! use std::sync::Arc;
//! use wiregauge_responder::{DeviceConfig, Serve, ServeAddress, serve};
//!
//! # fn main() -> Result<(), wiregauge_link::LinkError> {
//! let responder = Serve {
//!     address: ServeAddress::parse("tcp://127.0.0.1:7700")?,
//!     config: DeviceConfig {
//!         name: "bench".into(),
//!         ..DeviceConfig::default()
//!     },
//!     max_clients: 8,
//!     baud: None,
//!     trace: None,
//! };
//! serve(&responder, &Arc::default(), &|_event| ())
//! # }
//! ```

// Virtual USB devices, HID and USBTMC are models without I/O that only Linux can plug in.
#![cfg_attr(not(target_os = "linux"), allow(dead_code, unused_imports))]

mod accept;
mod application;
pub mod bus;
mod bus_stream;
mod can;
mod datagram;
#[cfg(test)]
mod datagram_streams_tests;
mod device;
mod event;
mod faults;
mod frames;
pub mod gadget;
pub mod hid;
mod listen;
mod modbus;
mod model;
pub mod ms_os;
mod pair;
mod plant;
mod platform;
mod replies;
mod scpi;
mod serve;
mod stream;
mod streams;
#[cfg(test)]
mod streams_tests;
mod trace;
pub mod usb_virtual;
#[cfg(all(target_os = "linux", feature = "usb-gadget"))]
mod usbtmc;

/// Other protocols without I/O, for the fuzzer.
#[doc(hidden)]
pub use application::Application;
pub use device::DeviceConfig;
/// The responder without its I/O: what firmware/host holds the firmware against.
#[doc(hidden)]
pub use device::{Device, Trust};
pub use event::ServeEvent;
pub use faults::{FaultRate, Faults};
pub use listen::serve;
pub use model::{Model, ModelledDevice, Passage};
pub use serve::{Serve, ServeAddress};
pub use streams::Pull;
