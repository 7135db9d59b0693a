//! macOS.

pub mod holder;
pub mod line;
pub mod neighbours;
pub mod ports;
pub mod socket_options;
pub mod tty_closings;
pub mod tty_medium;

pub use super::unix::{in_use, pty, serial, socket, unix_socket};
pub use super::unsupported::{can, hid, network, stamps, usb, usbtmc};
