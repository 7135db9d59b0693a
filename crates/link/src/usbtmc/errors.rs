//! What can go wrong with a USBTMC instrument, worded so that a user can act.

use crate::error::{LinkError, LinkErrorKind};
use std::io;

/// The device has no USBTMC interface; `interfaces` are those that it has.
pub fn no_interface(doing: &str, number: Option<u8>, interfaces: &str) -> LinkError {
    let which = number.map_or("interface".into(), |number| format!("interface {number}"));
    let said = format!(
        "the device has no USBTMC {which} (class 0xfe, subclass 3); its interfaces: {interfaces}"
    );
    LinkError::new(LinkErrorKind::Usage, doing, said).hint(
        "use usb:// for other bulk endpoints, serial:// for a serial port; wiregauge devices lists USBTMC instruments",
    )
}

/// What was received breaks the protocol.
#[cold]
pub fn broken(error: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_without_such_an_interface_is_told_what_it_has() {
        let text = no_interface("cannot open it", Some(2), "HID, vendor").to_string();
        assert!(text.contains("no USBTMC interface 2"), "{text}");
        assert!(text.contains("HID, vendor"), "{text}");
    }
}
