//! What only Linux has: refused with the reason, or not known.

pub mod can;
pub mod hid;
pub mod network;
pub mod stamps;
pub mod usb;
pub mod usbtmc;
