//! Isochronous transfers on a usbfs file of our own, because the USB library has none yet
//! (<https://github.com/kevinmehall/nusb/issues/47>). When it has, `urbs.rs` goes: choosing, counting and the link stay.
//!
//! The library's thread takes every ended transfer of its file, so that file cannot be shared; hence the interface is
//! claimed here too.

mod accounting;
mod endpoint;
mod link;
mod urbs;

pub use link::IsochronousLink;
