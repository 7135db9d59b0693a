//! HID devices through Linux' hidraw: output reports by write, input reports by read; or feature reports, as request
//! and response, by ioctl. The kernel's own drivers stay in place.
//!
//! A report has a fixed size. A request is padded with zeros to the size of its report; zeros behind the size that is
//! expected of a reply are cut. A report is one request or one reply, so the kind is one of datagrams.
//!
//! A write returns when the USB transfer is over: at the next poll of the interrupt OUT endpoint, or after SET_REPORT on
//! the control endpoint where a device has none. So the time of an exchange begins before that, and with `--depth`
//! above 1 requests follow each other one interval apart.

pub(crate) mod address;
pub(crate) mod descriptor;

use super::{Kind, platform};
use address::HidAddress;

/// The kind.
pub static KIND: Kind = Kind {
    scheme: "hid",
    about: "a HID device: input and output reports, or feature reports, through hidraw (Linux)",
    example: "hid://1d6b:0104",
    datagram: true,
    // HID_MAX_BUFFER_SIZE of Linux, less the report's number.
    max_bytes: 16_383,
    check: |rest| HidAddress::parse(rest).map(|_| ()),
    open: platform::hid::open,
    floor: None,
    helped: false,
    separate: false,
    one_request: None,
    no_stream: Some((
        "HID carries reports, not a stream",
        "use wiregauge exchange",
    )),
};
