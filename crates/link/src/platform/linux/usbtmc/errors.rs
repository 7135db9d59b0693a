//! What can go wrong with the file of an instrument, worded so that a user can act.

use super::find::Present;
use crate::error::{LinkError, LinkErrorKind};
use crate::platform::exclusive;
use crate::platform::usb::{RULE_FILE, mode_in_words};
use crate::usb::errors::vanishes;
use rustix::io::Errno;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Why the file of the kernel's driver could not be opened.
pub fn opening(device: &Present, path: &Path, doing: &str, error: &io::Error) -> LinkError {
    let file = path.display();
    let explained = LinkError::from_io(doing, error);
    match explained.kind() {
        LinkErrorKind::Busy => exclusive::busy(path, doing),
        LinkErrorKind::PermissionDenied => {
            let whose = std::fs::metadata(path).map_or_else(
                |error| error.to_string(),
                |meta| mode_in_words(meta.permissions().mode(), meta.uid(), meta.gid()),
            );
            let said = format!("permission denied: {file} is not readable and writable ({whose})");
            LinkError::new(LinkErrorKind::PermissionDenied, doing, said).hint(udev_advice(device))
        }
        _ if error.raw_os_error() == Some(libc::ENODEV) => LinkError::new(
            LinkErrorKind::Disconnected,
            doing,
            "the instrument was unplugged, or its interface taken from the kernel's usbtmc driver",
        )
        .hint("plug it in again, or end the program that uses it through libusb (pyvisa-py)"),
        _ => explained,
    }
}

/// The rule that would let everyone at this computer's screen, and the group `plugdev`, use it.
fn udev_advice(device: &Present) -> String {
    let Present {
        vendor, product, ..
    } = device;
    format!(
        "once, as root:\n    echo 'SUBSYSTEM==\"usbmisc\", ATTRS{{idVendor}}==\"{vendor:04x}\", \
         ATTRS{{idProduct}}==\"{product:04x}\", MODE=\"0660\", GROUP=\"plugdev\", TAG+=\"uaccess\"' > {RULE_FILE}\n    \
         udevadm control --reload && udevadm trigger --subsystem-match=usbmisc\n  and add yourself to the group \
         plugdev (usermod -aG plugdev $USER, then log in again); or run as root"
    )
}

/// A call on this file that failed, as the engine understands it.
#[cold]
pub fn of_file(file: &Path, error: Errno, what: &str) -> io::Error {
    let unplugged = || {
        io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the USBTMC instrument was unplugged or reset",
        )
    };
    match error {
        Errno::NODEV | Errno::NXIO | Errno::SHUTDOWN => unplugged(),
        Errno::TIMEDOUT => io::Error::new(
            io::ErrorKind::TimedOut,
            format!("the instrument did not accept {what} in time"),
        ),
        Errno::PIPE => io::Error::other(format!("the instrument rejected {what} (stall)")),
        // What is under way when it is unplugged fails on the bus, before the driver removes its file.
        Errno::PROTO | Errno::ILSEQ | Errno::OVERFLOW if vanishes(|| !file.exists()) => unplugged(),
        Errno::PROTO | Errno::ILSEQ | Errno::OVERFLOW => io::Error::other(
            "a USB transfer failed on the bus (no response, a corrupted packet, or too much data); check cable, hub \
             and power",
        ),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_permission_the_udev_rule_is_printed() {
        let scope = Present {
            vendor: 0x0957,
            product: 0x1796,
            ..Present::default()
        };
        let denied = io::Error::from_raw_os_error(libc::EACCES);
        let text = opening(&scope, Path::new("/dev/null"), "cannot open it", &denied).to_string();
        for part in [
            "permission denied: /dev/null is not readable and writable (mode ",
            r#"SUBSYSTEM=="usbmisc", ATTRS{idVendor}=="0957", ATTRS{idProduct}=="1796""#,
            RULE_FILE,
            "udevadm control --reload",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn an_instrument_that_left_reads_like_a_closed_link() {
        let of = |file: &str, error| {
            LinkError::from_io("exchange 7", &of_file(Path::new(file), error, "a message"))
        };
        // A transfer that was under way, and then the file is no longer there.
        let unplugged = "/dev/usbtmc-unplugged";
        for (file, error, kind) in [
            ("/dev/null", Errno::NODEV, LinkErrorKind::Disconnected),
            (unplugged, Errno::PROTO, LinkErrorKind::Disconnected),
            ("/dev/null", Errno::PROTO, LinkErrorKind::Io),
            ("/dev/null", Errno::TIMEDOUT, LinkErrorKind::Timeout),
        ] {
            assert_eq!(of(file, error).kind(), kind, "{file} {error}");
        }
        let slow = of("/dev/null", Errno::TIMEDOUT).to_string();
        assert!(slow.contains("did not accept a message"), "{slow}");
    }
}
