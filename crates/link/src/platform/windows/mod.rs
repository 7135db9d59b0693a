//! Windows.

mod overlapped;
mod port;
pub mod ports;
pub mod pty;
mod registry;
pub mod serial;
pub mod socket;
mod tcp_connect;
pub mod unix_socket;

pub use super::unsupported::{can, hid, neighbours, network, stamps, usb, usbtmc};
