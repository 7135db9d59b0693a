//! What can go wrong with a CAN interface, worded so that a user can act.

use super::interface;
use super::open_error::{OpenError, Refusal};
use crate::error::{LinkError, LinkErrorKind};
use crate::kind::Address;
use crate::platform::in_use;
use std::io;
use wiregauge_record::CanOptions;

/// The failure of opening a link.
pub fn explain(address: &Address, options: &CanOptions, error: &OpenError) -> LinkError {
    let doing = format!("cannot open {address}");
    let name = address.rest();
    let refusal = match error {
        OpenError::Refused(refusal) => *refusal,
        OpenError::Busy(who) => {
            let id = options.request_id;
            let said = format!("identifier {id} is already sent on {name} by {who}");
            return LinkError::new(LinkErrorKind::Busy, doing, said).hint(format!(
                "two nodes of a bus must not send the same identifier: {}",
                in_use::hint(who)
            ));
        }
        OpenError::Io(error) => {
            let error = LinkError::from_io(doing, error);
            return match error.kind() {
                LinkErrorKind::PermissionDenied => error.hint(
                    "this container or sandbox forbids CAN sockets; on a plain system every user may open them",
                ),
                _ => error,
            };
        }
    };
    let (kind, said, hint) = match refusal {
        Refusal::NotSupported if options.isotp.is_some() => (
            LinkErrorKind::NotFound,
            "this kernel has no ISO-TP sockets".into(),
            "load the module: sudo modprobe can_isotp (Linux 5.10 and later)".into(),
        ),
        Refusal::NotSupported => (
            LinkErrorKind::NotFound,
            "this kernel has no CAN support".into(),
            "load the module: sudo modprobe can_raw; a kernel without it must be built with CONFIG_CAN".into(),
        ),
        Refusal::Unknown => (
            LinkErrorKind::NotFound,
            format!("there is no interface {name}"),
            match interface::names() {
                names if names.is_empty() => format!(
                    "this host has no CAN interface; a virtual one: sudo ip link add {name} type vcan"
                ),
                names => format!("CAN interfaces of this host: {}", names.join(", ")),
            },
        ),
        Refusal::NotCan => (
            LinkErrorKind::Usage,
            format!("{name} is not a CAN interface"),
            match interface::names() {
                names if names.is_empty() => "this host has no CAN interface".into(),
                names => format!("CAN interfaces of this host: {}", names.join(", ")),
            },
        ),
        Refusal::Down => (
            LinkErrorKind::Unreachable,
            format!("the interface {name} is down"),
            match interface::driver(name) {
                Some(_) => format!("sudo ip link set {name} up type can bitrate 500000 (the bit rate of the bus)"),
                None => format!("sudo ip link set {name} up"),
            },
        ),
        Refusal::BusOff => (
            LinkErrorKind::Unreachable,
            bus_off(name).to_string(),
            format!(
                "check bit rates, termination and wiring; then restart it: sudo ip link set {name} type can restart, or \
                 down and up"
            ),
        ),
        Refusal::NoFd => (
            LinkErrorKind::Usage,
            format!("{name} has no CAN FD"),
            match interface::driver(name) {
                Some(_) => format!(
                    "omit --fd, or if the controller can: sudo ip link set {name} up type can bitrate 500000 dbitrate \
                     2000000 fd on"
                ),
                None => format!("sudo ip link set {name} mtu 72"),
            },
        ),
    };
    LinkError::new(kind, doing, said).hint(hint)
}

/// The failure of a run whose controller leaves the bus.
#[cold]
pub fn bus_off(name: &str) -> io::Error {
    io::Error::other(format!(
        "the controller of {name} is bus-off: too many errors on the bus"
    ))
}

/// An error of a transfer, with what it means where the system's own words do not say it.
#[cold]
pub fn of_transfer(name: &str, error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(libc::ENETDOWN) => io::Error::new(
            io::ErrorKind::NetworkDown,
            format!("the interface {name} is down"),
        ),
        Some(libc::ENODEV | libc::ENXIO) => io::Error::new(
            io::ErrorKind::UnexpectedEof,
            format!("the interface {name} was removed"),
        ),
        _ => error,
    }
}
