//! USB of Linux: what sysfs shows, drivers that are taken off and put back, and links over usbfs files of our own.

mod control;
mod detail;
mod errors;
mod facts;
mod isochronous;
mod memory;
pub(crate) mod sysfs;
mod tty_place;
mod usbfs;

pub use errors::{RULE_FILE, claiming, mode_in_words, opening};
pub use facts::{
    Facts, check_usb, controller, could_use, drivers, path_of, put_drivers_back, ttys,
};
pub use memory::{ENOMEM, check_memory, out_of_memory};
pub use sysfs::hubs;
pub use tty_place::place_of_tty;

use crate::Link;
use crate::error::LinkError;
use crate::usb::UsbAddress;
use control::ControlLink;
use isochronous::IsochronousLink;
use nusb::DeviceInfo;
use wiregauge_record::IsochronousOptions;

/// Opens a link over endpoint 0.
pub fn open_control(
    info: &DeviceInfo,
    address: UsbAddress,
    name: String,
    doing: &str,
) -> Result<Box<dyn Link>, LinkError> {
    Ok(Box::new(ControlLink::open(info, address, name, doing)?))
}

/// Opens a link over an isochronous endpoint.
pub fn open_isochronous(
    address: &UsbAddress,
    options: IsochronousOptions,
    doing: &str,
) -> Result<Box<dyn Link>, LinkError> {
    Ok(Box::new(IsochronousLink::open(address, options, doing)?))
}
