//! What is kept of a device that was opened.

use crate::host::UsbPlace;
use crate::platform::usb::{Facts, path_of};
use nusb::DeviceInfo;

/// What of a device the error texts need; kept, so that they can be made after it has gone.
#[derive(Clone, Debug)]
pub struct Identity {
    /// Its name in sysfs.
    pub path: String,
    /// idVendor.
    pub vendor: u16,
    /// idProduct.
    pub product: u16,
    /// What the system shows of it.
    pub facts: Facts,
}

impl Identity {
    /// Of a device that is there.
    pub fn of(info: &DeviceInfo) -> Identity {
        let path = path_of(info);
        Identity {
            facts: Facts::of(info, &path),
            path,
            vendor: info.vendor_id(),
            product: info.product_id(),
        }
    }

    /// Where it is, seen from the outside of the system: the endpoints of a choice.
    pub fn place(&self, in_endpoint: u8, out_endpoint: u8) -> Option<UsbPlace> {
        let (bus, address) = self.facts.place()?;
        Some(UsbPlace {
            bus,
            address,
            in_endpoint,
            out_endpoint,
            transfers: true,
            status: None,
        })
    }

    /// Its speed in Mbit/s, as sysfs writes it.
    pub fn megabits(&self) -> Option<String> {
        self.facts.megabits(&self.path)
    }

    /// True if it is no longer there, or another one is in its place.
    pub fn is_gone(&self) -> bool {
        self.facts.is_gone(&self.path)
    }
}
