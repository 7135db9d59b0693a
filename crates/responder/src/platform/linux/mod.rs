//! Linux: the responder as a USB gadget, as a HID device without a bus, and as a virtual USB device.

#[cfg(feature = "usb-gadget")]
mod gadget;
pub(crate) mod hid;
#[cfg(not(feature = "usb-gadget"))]
mod no_gadget;
mod usb_virtual;

pub(crate) use super::unix::*;
#[cfg(feature = "usb-gadget")]
pub(crate) use gadget::serve as serve_gadget;
pub(crate) use hid::serve_uhid;
#[cfg(not(feature = "usb-gadget"))]
pub(crate) use no_gadget::serve_gadget;
pub(crate) use usb_virtual::serve as serve_usb_virtual;
