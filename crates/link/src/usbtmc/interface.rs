//! What marks the interface of an instrument in its descriptors.

/// bInterfaceClass and bInterfaceSubClass: application-specific, test and measurement.
pub const CLASS: u8 = 0xfe;
/// See [`CLASS`].
pub const SUBCLASS: u8 = 0x03;

/// What kind of interface it is.
pub fn kind_name(is_usb488: bool) -> String {
    match is_usb488 {
        true => "USBTMC with USB488 (protocol 1)".into(),
        false => "USBTMC (protocol 0)".into(),
    }
}
