//! HID devices of this Linux: without a bus through uhid, and on USB through the function usb_f_hid.

#[cfg(feature = "usb-gadget")]
mod hidg;
mod uhid;

#[cfg(feature = "usb-gadget")]
pub(crate) use hidg::serve as serve_hidg;
pub(crate) use uhid::serve as serve_uhid;
