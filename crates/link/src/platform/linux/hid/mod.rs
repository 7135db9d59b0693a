//! HID devices through hidraw.

mod choose;
mod detail;
mod errors;
mod find;
mod link;
mod survey;
mod usb;

pub use survey::devices;

use crate::error::{LinkError, LinkErrorKind};
use crate::hid::address::HidAddress;
use crate::{Address, Link};
use link::HidLink;
use std::time::Duration;
use wiregauge_record::LinkOptions;

/// Opens the device of an address.
pub fn open(
    address: &Address,
    _options: &LinkOptions,
    _timeout: Duration,
    _is_interrupted: &mut dyn FnMut() -> bool,
) -> Result<Box<dyn Link>, LinkError> {
    let doing = format!("cannot open {address}");
    let refuse = |said: String| LinkError::new(LinkErrorKind::Usage, doing.clone(), said);
    let parsed = HidAddress::parse(address.rest()).map_err(refuse)?;
    let device = find::find(&parsed, &doing)?;
    let reports = device.reports.as_ref().map_err(|said| {
        let said = format!("its report descriptor is not valid: {said}");
        LinkError::new(LinkErrorKind::Protocol, doing.clone(), said)
    })?;
    let choice = choose::choose(reports, &parsed.settings)
        .map_err(|(said, hint)| refuse(said).hint(hint))?;
    let link = HidLink::open(device.clone(), choice);
    link.map(|link| Box::new(link) as Box<dyn Link>)
        .map_err(|error| errors::opening(&device, &doing, &error))
}
