//! Windows.

pub mod neighbours;
mod overlapped;
mod port;
pub mod ports;
pub mod pty;
pub mod serial;
pub mod socket;
mod socket_error;
mod tcp_connect;
pub mod unix_socket;

pub use super::unsupported::{can, hid, network, stamps, usb, usbtmc};
