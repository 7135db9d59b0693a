//! Linux: the responder as a USB gadget, as a HID device without a bus, and as a virtual USB device.

mod gadget;
pub(crate) mod hid;
mod usb_virtual;

pub(crate) use super::unix::*;
pub(crate) use gadget::serve as serve_gadget;
pub(crate) use hid::serve_uhid;
pub(crate) use usb_virtual::serve as serve_usb_virtual;
