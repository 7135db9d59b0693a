//! HID devices as the system knows them, without opening any. Devices of vendor usage pages come first: keyboards and
//! mice are HID devices too, but nobody exchanges data with them.

pub use crate::platform::hid::devices;

use serde::Serialize;

/// A HID device.
#[derive(Clone, Debug, Default, Serialize)]
pub struct HidDevice {
    /// What to give to wiregauge.
    pub address: String,
    /// Its device file.
    pub path: String,
    /// Vendor in hexadecimal.
    pub vendor_id: String,
    /// Product in hexadecimal.
    pub product_id: String,
    /// Name.
    pub product: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Its bus, such as USB or Bluetooth.
    pub bus: String,
    /// Usage page and usage in hexadecimal.
    pub usage: Option<String>,
    /// True if the usage page is a vendor's own.
    pub is_vendor: bool,
    /// Its reports and their sizes.
    pub reports: Option<String>,
    /// How often its IN endpoint is polled, on USB.
    pub interval: Option<String>,
    /// Path of the USB device behind it.
    pub usb: Option<String>,
}
