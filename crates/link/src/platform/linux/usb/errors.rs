//! What can go wrong with a USB device on Linux, worded so that a user can act.

use super::sysfs::{self, Node};
use crate::error::{LinkError, LinkErrorKind};
use crate::usb::errors::{Identity, gone};
use nusb::{Error, ErrorKind};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// File for the udev rule. Before 73-seat-late.rules, which acts on the `uaccess` tag.
pub const RULE_FILE: &str = "/etc/udev/rules.d/70-wiregauge.rules";

/// The number of the error that says that the system has no memory.
pub const ENOMEM: u32 = 12;

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
        Some("usbfs") => format!("interface {interface} is already claimed by another program"),
        Some(driver) => {
            format!("interface {interface} is already claimed by the kernel driver {driver}")
        }
        None => format!("interface {interface} is already claimed"),
    };
    let hint = match driver {
        Some("usbfs") | None => format!("find it with: fuser -v {node}"),
        Some(driver) => format!(
            "close what uses it (a mounted disk, an open port), or unload the driver: modprobe -r {driver}"
        ),
    };
    LinkError::new(LinkErrorKind::Busy, doing, said).hint(hint)
}

/// The system has no memory for the transfers.
pub fn out_of_memory() -> io::Error {
    no_memory(sysfs::usbfs_memory_mb())
}

fn no_memory(limit_mb: Option<u64>) -> io::Error {
    let limit = match limit_mb {
        Some(0) | None => String::new(),
        Some(mb) => format!(" (limit for all USB programs together: {mb} MB)"),
    };
    io::Error::new(
        io::ErrorKind::OutOfMemory,
        format!(
            "not enough memory for the USB transfers{limit}; use fewer or smaller transfers, or as root: echo \
             256 > /sys/module/usbcore/parameters/usbfs_memory_mb"
        ),
    )
}

/// Refuses what can never fit, before anything is submitted.
pub fn check_memory(wanted: u64) -> io::Result<()> {
    check_memory_against(wanted, sysfs::usbfs_memory_mb())
}

fn check_memory_against(wanted: u64, limit_mb: Option<u64>) -> io::Result<()> {
    match limit_mb {
        Some(mb) if mb > 0 && wanted > mb << 20 => Err(io::Error::new(
            io::ErrorKind::OutOfMemory,
            format!(
                "{} MB of USB transfers at once exceed the limit of {mb} MB for all USB programs together; use \
                 fewer or smaller transfers, or as root: echo {} > \
                 /sys/module/usbcore/parameters/usbfs_memory_mb",
                wanted.div_ceil(1 << 20),
                (2 * wanted.div_ceil(1 << 20)).next_power_of_two()
            ),
        )),
        _ => Ok(()),
    }
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
        let text = busy(
            0,
            Some("usb-storage"),
            "/dev/bus/usb/001/002",
            "cannot open",
        )
        .to_string();
        assert!(
            text.contains("usb-storage") && text.contains("modprobe -r"),
            "{text}"
        );
        let text = busy(0, Some("usbfs"), "/dev/bus/usb/001/002", "cannot open").to_string();
        assert!(text.contains("fuser -v /dev/bus/usb/001/002"), "{text}");
    }

    #[test]
    fn transfers_that_can_never_fit_are_refused_with_the_way_to_raise_the_limit() {
        assert!(check_memory_against(16 << 20, Some(16)).is_ok());
        assert!(check_memory_against(1 << 40, Some(0)).is_ok());
        assert!(check_memory_against(1 << 40, None).is_ok());
        let text = check_memory_against((16 << 20) + 1, Some(16))
            .unwrap_err()
            .to_string();
        assert!(
            text.contains("17 MB") && text.contains("echo 64 >"),
            "{text}"
        );
        assert!(no_memory(Some(16)).to_string().contains("16 MB"));
    }
}
