//! HID devices through Linux' hidraw: output reports by write, input reports by read; or feature reports, as request
//! and response, by ioctl. The kernel's own drivers stay in place.
//!
//! A report has a fixed size. A request is padded with zeros to the size of its report; zeros behind the size that is
//! expected of a reply are cut. A report is one request or one reply, so the kind is one of datagrams.
//!
//! A write returns when the USB transfer is over: at the next poll of the interrupt OUT endpoint, or after SET_REPORT on
//! the control endpoint where a device has none. So the time of an exchange begins before that, and with `--depth`
//! above 1 requests follow each other one interval apart.

mod address;
mod choose;
pub(crate) mod descriptor;
mod detail;
mod errors;
mod find;
mod link;
pub(crate) mod usb;

pub(crate) use find::{Present, devices};

use super::{Address, Kind, Link};
use crate::error::{LinkError, LinkErrorKind};
use address::HidAddress;
use link::HidLink;
use std::time::Duration;
use wiregauge_record::LinkOptions;

/// The kind.
pub static KIND: Kind = Kind {
    scheme: "hid",
    about: "a HID device: input and output reports, or feature reports, through hidraw (Linux)",
    example: "hid://1d6b:0104",
    datagram: true,
    // HID_MAX_BUFFER_SIZE of Linux, less the report's number.
    max_bytes: 16_383,
    check: |rest| HidAddress::parse(rest).map(|_| ()),
    open,
    floor: None,
    helped: false,
    separate: false,
    one_request: None,
    no_stream: Some((
        "HID carries reports, not a stream",
        "use wiregauge exchange",
    )),
};

fn open(
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
