//! HID: hidraw is Linux's.

use crate::devices::HidDevice;
use crate::error::{LinkError, LinkErrorKind};
use crate::{Address, Link};
use std::time::Duration;
use wiregauge_record::LinkOptions;

/// Refuses a HID link.
pub fn open(
    address: &Address,
    _options: &LinkOptions,
    _timeout: Duration,
    _is_interrupted: &mut dyn FnMut() -> bool,
) -> Result<Box<dyn Link>, LinkError> {
    Err(LinkError::new(
        LinkErrorKind::Usage,
        format!("cannot open {address}"),
        "HID needs hidraw, which only Linux has",
    )
    .hint("run wiregauge on Linux; a device with bulk endpoints has an address such as usb://1d6b:0104"))
}

/// No device can be used.
pub fn devices() -> Vec<HidDevice> {
    Vec::new()
}
