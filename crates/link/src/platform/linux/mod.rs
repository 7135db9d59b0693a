//! Linux.

pub mod can;
pub mod exclusive;
pub mod hid;
pub mod holder;
pub mod line;
pub mod neighbours;
pub mod network;
pub mod ports;
pub mod socket_options;
pub mod stamps;
pub mod tty_closings;
pub mod tty_medium;
pub mod usb;
pub mod usbtmc;

pub use super::unix::{in_use, pty, serial, socket, unix_socket};
