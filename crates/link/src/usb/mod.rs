//! USB devices without a kernel driver in between: bulk and interrupt endpoints through `nusb`, which queues transfers
//! in the kernel's usbfs; control transfers (`usbfs.rs`) and isochronous ones (`isochronous`) on usbfs files of their own.
//!
//! What it puts on the measuring path: the library has one thread for all devices, which takes ended
//! transfers from the kernel (epoll, then one ioctl each) and wakes us: two switches of threads where
//! a blocking ioctl would need one. Each look at a queue takes a mutex that only that thread shares;
//! submitting is one ioctl and no lock. Nothing is allocated as long as each submission follows an
//! ended transfer (the library keeps one for reuse), which `pipe.rs` sees to.
//!
//! The library's thread uses its descriptors, so a measuring thread with a USB link keeps the
//! process's table of descriptors ([`Kind::helped`]).

pub(crate) mod address;
pub(crate) mod choose;
mod claim;
pub(crate) mod detail;
pub(crate) mod errors;
pub(crate) mod find;
mod flow;
pub(crate) mod identity;
mod link;
pub(crate) mod one_way;
mod pipe;

// What a kind of link over a class of its own needs (usbtmc).
pub(crate) use address::{Settings, TransferKind, UsbAddress, Which};
pub(crate) use choose::{Choice, class_name};
pub(crate) use claim::Claim;
pub(crate) use detail::{detail, limit};
pub(crate) use find::{Present, devices, find, speed_name};
pub(crate) use link::HELPER;
pub(crate) use pipe::Pipe;

use super::{Address, Kind, Link, platform};
use crate::error::LinkError;
use claim::Chosen;
use link::UsbLink;
use nusb::transfer::{Bulk, Interrupt};
use one_way::OneWayLink;
use std::time::Duration;
use wiregauge_record::LinkOptions;

/// Where the device of an address hangs, as sysfs names it. An address that names a port is taken at its word.
pub(crate) fn port(address: &Address, doing: &str) -> Result<String, LinkError> {
    let parsed = UsbAddress::parse(address.rest())
        .map_err(|said| LinkError::new(crate::LinkErrorKind::Usage, doing, said))?;
    match parsed.which {
        address::Which::Path(path) => Ok(path),
        which => Ok(find::path_of(&find::find(&which, doing)?)),
    }
}

/// The kind.
pub static KIND: Kind = Kind {
    scheme: "usb",
    about: "a USB device: bulk or interrupt endpoints or control transfers, without a kernel driver in between",
    example: "usb://1d6b:0104",
    datagram: false,
    max_bytes: wiregauge_wire::MAX_FRAME,
    check: |rest| UsbAddress::parse(rest).map(|_| ()),
    open,
    floor: None,
    helped: true,
    separate: true,
    one_request: None,
    no_stream: None,
};

fn open(
    address: &Address,
    options: &LinkOptions,
    _timeout: Duration,
    _is_interrupted: &mut dyn FnMut() -> bool,
) -> Result<Box<dyn Link>, LinkError> {
    let name = address.to_string();
    let doing = format!("cannot open {name}");
    let parsed = UsbAddress::parse(address.rest())
        .map_err(|said| LinkError::new(crate::LinkErrorKind::Usage, doing.clone(), said))?;
    if let Some(isochronous) = options.isochronous {
        return platform::usb::open_isochronous(&parsed, isochronous, &doing);
    }
    let info = find::find(&parsed.which, &doing)?;
    if parsed.settings.control.is_some() {
        return platform::usb::open_control(&info, parsed, name, &doing);
    }
    let (claim, chosen) = Claim::take_any(&info, &parsed.settings, &doing)?;
    let choice = match chosen {
        Chosen::Pair(choice) => choice,
        Chosen::One(choice) => {
            let detail = detail::of_one_way(&info, &choice, claim.identity());
            return Ok(match choice.endpoint.kind {
                TransferKind::Bulk => {
                    Box::new(OneWayLink::<Bulk>::new(&name, claim, &choice, detail)?)
                }
                TransferKind::Interrupt => {
                    Box::new(OneWayLink::<Interrupt>::new(&name, claim, &choice, detail)?)
                }
            });
        }
    };
    let detail = detail::detail(&info, &choice, claim.identity());
    Ok(match choice.in_.kind {
        TransferKind::Bulk => Box::new(UsbLink::<Bulk>::new(parsed, name, claim, &choice, detail)?),
        TransferKind::Interrupt => Box::new(UsbLink::<Interrupt>::new(
            parsed, name, claim, &choice, detail,
        )?),
    })
}
