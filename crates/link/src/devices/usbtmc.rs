//! USBTMC instruments as the system knows them, without opening any.

pub use crate::platform::usbtmc::devices;

use serde::Serialize;

/// A USBTMC instrument.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TmcDevice {
    /// What to give to wiregauge.
    pub address: String,
    /// The file of the kernel's usbtmc driver, if the driver holds the interface.
    pub file: Option<String>,
    /// The kernel driver that holds the interface.
    pub driver: Option<String>,
    /// Path of the USB device.
    pub usb: String,
    /// bInterfaceNumber.
    pub interface: u8,
    /// idVendor in hexadecimal.
    pub vendor_id: String,
    /// idProduct in hexadecimal.
    pub product_id: String,
    /// Manufacturer and product strings.
    pub product: Option<String>,
    /// Serial number string.
    pub serial: Option<String>,
    /// True if it knows the requests of USB488.
    pub is_usb488: bool,
}
