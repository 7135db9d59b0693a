//! What can go wrong with a USB device on Linux, worded so that a user can act.

use super::sysfs::Node;
use crate::error::{LinkError, LinkErrorKind};
use crate::platform::{holder, in_use};
use crate::usb::errors::gone;
use crate::usb::identity::Identity;
use nusb::{Error, ErrorKind};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// File for the udev rule. Before 73-seat-late.rules, which acts on the `uaccess` tag.
pub const RULE_FILE: &str = "/etc/udev/rules.d/70-wiregauge.rules";

/// Why the device could not be opened.
pub fn opening(device: &Identity, doing: &str, error: &Error) -> LinkError {
    match error.kind() {
        ErrorKind::PermissionDenied => no_permission(device, doing),
        ErrorKind::Disconnected
            if !Path::new(device.facts.node()).exists() && !device.is_gone() =>
        {
            LinkError::new(
                LinkErrorKind::NotFound,
                doing,
                format!(
                    "the kernel knows the device, but {} does not exist",
                    device.facts.node()
                ),
            )
            .hint("pass it into the container (--device /dev/bus/usb), or mount devtmpfs")
        }
        ErrorKind::Disconnected => gone(doing),
        _ => LinkError::new(LinkErrorKind::Io, doing, error.to_string()),
    }
}

fn no_permission(device: &Identity, doing: &str) -> LinkError {
    let node = device.facts.node();
    let whose = std::fs::metadata(node).map_or_else(
        |error| error.to_string(),
        |meta| mode_in_words(meta.permissions().mode(), meta.uid(), meta.gid()),
    );
    LinkError::new(
        LinkErrorKind::PermissionDenied,
        doing,
        format!("permission denied: {node} is not writable ({whose})"),
    )
    .hint(udev_advice(device.vendor, device.product))
}

/// Mode and owner of a file, as chmod and chown write them.
pub fn mode_in_words(mode: u32, uid: u32, gid: u32) -> String {
    format!("mode {:04o}, user {uid}, group {gid}", mode & 0o7777)
}

/// The rule that would let everyone at this computer's screen, and the group `plugdev`, use it.
pub fn udev_rule(vendor: u16, product: u16) -> String {
    format!(
        "SUBSYSTEM==\"usb\", ATTR{{idVendor}}==\"{vendor:04x}\", ATTR{{idProduct}}==\"{product:04x}\", \
         MODE=\"0660\", GROUP=\"plugdev\", TAG+=\"uaccess\""
    )
}

fn udev_advice(vendor: u16, product: u16) -> String {
    format!(
        "once, as root:\n    echo '{}' > {RULE_FILE}\n    udevadm control --reload && udevadm trigger \
         --subsystem-match=usb\n  and add yourself to the group plugdev (usermod -aG plugdev $USER, then log \
         in again); or run as root",
        udev_rule(vendor, product)
    )
}

/// Why its node could not be opened without the library.
pub fn opening_node(device: &Identity, doing: &str, error: &io::Error) -> LinkError {
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => no_permission(device, doing),
        Some(libc::ENODEV) => gone(doing),
        _ => LinkError::from_io(format!("{doing}: {}", device.facts.node()), error),
    }
}

/// Why an interface could not be claimed.
pub fn claiming(device: &Identity, interface: u8, doing: &str, error: &Error) -> LinkError {
    match error.kind() {
        ErrorKind::Busy => {
            let driver = Node::named(&device.path).driver(interface);
            busy(interface, driver.as_deref(), device.facts.node(), doing)
        }
        ErrorKind::Disconnected => gone(doing),
        ErrorKind::PermissionDenied => no_permission(device, doing),
        _ => LinkError::new(
            LinkErrorKind::Io,
            doing,
            format!("cannot claim interface {interface}: {error}"),
        ),
    }
}

/// The same without the library.
pub fn claiming_node(
    device: &Identity,
    interface: u8,
    doing: &str,
    error: &io::Error,
) -> LinkError {
    match error.raw_os_error() {
        Some(libc::EBUSY) => {
            let driver = Node::named(&device.path).driver(interface);
            busy(interface, driver.as_deref(), device.facts.node(), doing)
        }
        Some(libc::EACCES | libc::EPERM) => no_permission(device, doing),
        Some(libc::ENODEV) => gone(doing),
        _ => LinkError::from_io(
            format!("{doing}: cannot claim interface {interface}"),
            error,
        ),
    }
}

fn busy(interface: u8, driver: Option<&str>, node: &str, doing: &str) -> LinkError {
    let said = match driver {
        Some("usbfs") => {
            let holder = holder::of(Path::new(node));
            let who = holder.as_deref().unwrap_or("another program");
            format!("interface {interface} is already claimed by {who}")
        }
        Some(driver) => {
            format!("interface {interface} is already claimed by the kernel driver {driver}")
        }
        None => format!("interface {interface} is already claimed"),
    };
    let hint = match driver {
        Some("usbfs") if said.ends_with(in_use::THIS_PROCESS) => {
            in_use::hint(in_use::THIS_PROCESS).into()
        }
        Some("usbfs") | None => format!("find it with: fuser -v {node}"),
        Some(driver) => format!(
            "close what uses it (a mounted disk, an open port), or unload the driver: modprobe -r {driver}"
        ),
    };
    LinkError::new(LinkErrorKind::Busy, doing, said).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_udev_rule_names_the_device_and_the_file() {
        let advice = udev_advice(0x1d6b, 0x0104);
        for part in [
            r#"SUBSYSTEM=="usb", ATTR{idVendor}=="1d6b", ATTR{idProduct}=="0104""#,
            RULE_FILE,
            "udevadm control --reload",
        ] {
            assert!(advice.contains(part), "{advice}");
        }
    }

    #[test]
    fn the_mode_of_a_node_is_reported_as_chmod_writes_it() {
        assert_eq!(mode_in_words(0o20664, 0, 20), "mode 0664, user 0, group 20");
    }

    #[test]
    fn a_busy_interface_is_told_who_holds_it() {
        for (driver, words) in [
            ("usb-storage", "usb-storage"),
            ("usb-storage", "modprobe -r"),
            ("usbfs", "fuser -v /dev/bus/usb/001/002"),
        ] {
            let text = busy(0, Some(driver), "/dev/bus/usb/001/002", "cannot open").to_string();
            assert!(text.contains(words), "{text}");
        }
    }
}
