//! USB where the kernel's usbfs and sysfs are missing: devices through `nusb` only (WinUSB, IOKit).

mod errors;
mod facts;
mod memory;

pub use errors::{claiming, opening};
pub use facts::{
    Facts, check_usb, controller, could_use, drivers, hubs, path_of, put_drivers_back, ttys,
};
pub use memory::{ENOMEM, check_memory, out_of_memory};

use crate::Link;
use crate::error::{LinkError, LinkErrorKind};
use crate::usb::UsbAddress;
use nusb::DeviceInfo;
use wiregauge_record::IsochronousOptions;

/// Refuses a link over endpoint 0.
pub fn open_control(
    _info: &DeviceInfo,
    _address: UsbAddress,
    _name: String,
    doing: &str,
) -> Result<Box<dyn Link>, LinkError> {
    Err(LinkError::new(
        LinkErrorKind::Usage,
        doing,
        "control endpoints need Linux's usbfs",
    )
    .hint("use bulk or interrupt endpoints: remove type=control from the address"))
}

/// Refuses a link over an isochronous endpoint.
pub fn open_isochronous(
    _address: &UsbAddress,
    _options: IsochronousOptions,
    doing: &str,
) -> Result<Box<dyn Link>, LinkError> {
    Err(LinkError::new(
        LinkErrorKind::Usage,
        doing,
        "isochronous endpoints need Linux's usbfs",
    )
    .hint("run wiregauge on Linux"))
}
