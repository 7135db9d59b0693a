//! What can go wrong with a USB device, worded so that a user can act.

use crate::error::{LinkError, LinkErrorKind};
use crate::usb::errors::gone;
use crate::usb::identity::Identity;
use nusb::{Error, ErrorKind};

/// What to do about a device that another driver holds.
const DRIVER: &str = "Windows: install WinUSB for it (Zadig); wiregauge's firmware and gadget need no installation, \
                      because their Microsoft OS descriptors bind it. macOS: close the program or driver that uses it";

/// Why a device could not be opened.
pub fn opening(device: &Identity, doing: &str, error: &Error) -> LinkError {
    explain(device, doing, error, String::new())
}

/// Why an interface could not be claimed.
pub fn claiming(device: &Identity, interface: u8, doing: &str, error: &Error) -> LinkError {
    let what = format!("cannot claim interface {interface}: ");
    explain(device, doing, error, what)
}

fn explain(device: &Identity, doing: &str, error: &Error, what: String) -> LinkError {
    let (kind, hint) = match error.kind() {
        ErrorKind::Disconnected => return gone(doing),
        ErrorKind::PermissionDenied => (LinkErrorKind::PermissionDenied, DRIVER),
        ErrorKind::Unsupported => (LinkErrorKind::Busy, DRIVER),
        ErrorKind::Busy => (LinkErrorKind::Busy, "end the program that uses the device"),
        ErrorKind::NotFound => (LinkErrorKind::NotFound, DRIVER),
        _ => (LinkErrorKind::Io, DRIVER),
    };
    let said = format!(
        "{what}{error} ({:04x}:{:04x})",
        device.vendor, device.product
    );
    LinkError::new(kind, doing, said).hint(hint)
}
