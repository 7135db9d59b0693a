//! What can go wrong with a HID device, worded so that a user can act.

use super::find::Present;
use crate::error::{LinkError, LinkErrorKind};
use crate::hid::descriptor::Report;
use crate::platform::exclusive;
use crate::platform::usb::{RULE_FILE, mode_in_words};
use crate::usb::errors::vanishes;
use rustix::io::Errno;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Why the file of a device could not be opened.
pub fn opening(device: &Present, doing: &str, error: &io::Error) -> LinkError {
    let file = device.file.display();
    let explained = LinkError::from_io(doing, error);
    match explained.kind() {
        LinkErrorKind::Busy => exclusive::busy(&device.file, doing),
        LinkErrorKind::PermissionDenied => {
            let whose = std::fs::metadata(&device.file).map_or_else(
                |error| error.to_string(),
                |meta| mode_in_words(meta.permissions().mode(), meta.uid(), meta.gid()),
            );
            let said = format!("permission denied: {file} is not readable and writable ({whose})");
            LinkError::new(LinkErrorKind::PermissionDenied, doing, said).hint(udev_advice(device))
        }
        LinkErrorKind::NotFound => LinkError::new(
            LinkErrorKind::NotFound,
            doing,
            format!("the kernel knows the device, but {file} does not exist"),
        )
        .hint(format!(
            "pass it into the container (--device {file}), or mount devtmpfs"
        )),
        _ => explained,
    }
}

/// The rule that would let everyone at this computer's screen, and the group `plugdev`, use it.
fn udev_advice(device: &Present) -> String {
    let Present {
        bus,
        vendor,
        product,
        ..
    } = device;
    format!(
        "once, as root:\n    echo 'SUBSYSTEM==\"hidraw\", KERNELS==\"{bus:04X}:{vendor:04X}:{product:04X}.*\", \
         MODE=\"0660\", GROUP=\"plugdev\", TAG+=\"uaccess\"' > {RULE_FILE}\n    udevadm control --reload && udevadm \
         trigger --subsystem-match=hidraw\n  and add yourself to the group plugdev (usermod -aG plugdev $USER, then \
         log in again); or run as root"
    )
}

/// A report that failed, as the engine understands it; `file` is that of the device.
#[cold]
pub fn of_transfer(file: &Path, error: Errno) -> io::Error {
    let unplugged = || {
        io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the HID device was unplugged or reset",
        )
    };
    match error {
        // hidraw says so once the device has gone.
        Errno::NODEV | Errno::IO | Errno::NXIO | Errno::SHUTDOWN => unplugged(),
        Errno::PIPE => io::Error::other("the device rejected the report (stall)"),
        Errno::TIMEDOUT => io::Error::new(
            io::ErrorKind::TimedOut,
            "the device did not accept the report in time (the kernel waits 5 s)",
        ),
        // What is under way when it is unplugged fails on the bus, before hidraw removes its file.
        Errno::PROTO | Errno::ILSEQ | Errno::OVERFLOW if vanishes(|| !file.exists()) => unplugged(),
        Errno::PROTO | Errno::ILSEQ | Errno::OVERFLOW => io::Error::other(
            "a USB transfer failed on the bus (no response, a corrupted packet, or too much data); check cable, hub \
             and power",
        ),
        other => other.into(),
    }
}

/// A request that does not fit.
#[cold]
pub fn too_long(bytes: usize, report: Report) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        format!(
            "{bytes} B do not fit in the {} report of the device, which carries {} B",
            report.kind.name(),
            report.bytes
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn board(file: &str) -> Present {
        Present {
            name: "hidraw0".into(),
            file: file.into(),
            node: PathBuf::new(),
            bus: 3,
            vendor: 0x1d6b,
            product: 0x104,
            product_name: None,
            serial: None,
            reports: Err("not read".into()),
            interface: None,
        }
    }

    #[test]
    fn without_permission_the_udev_rule_is_printed() {
        let denied = io::Error::from_raw_os_error(libc::EACCES);
        let text = opening(&board("/dev/null"), "cannot open it", &denied).to_string();
        for part in [
            "permission denied: /dev/null is not readable and writable (mode ",
            r#"SUBSYSTEM=="hidraw", KERNELS=="0003:1D6B:0104.*""#,
            RULE_FILE,
            "udevadm control --reload",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn a_device_without_its_file_and_one_that_left_are_told_apart() {
        let missing = io::Error::from_raw_os_error(libc::ENOENT);
        let text = opening(&board("/dev/hidraw77"), "cannot open it", &missing).to_string();
        let words = "the kernel knows the device, but /dev/hidraw77 does not exist";
        assert!(text.contains(words), "{text}");
        for (file, error, kind) in [
            ("/dev/null", Errno::NODEV, LinkErrorKind::Disconnected),
            ("/dev/hidraw77", Errno::PROTO, LinkErrorKind::Disconnected),
            ("/dev/null", Errno::PIPE, LinkErrorKind::Io),
        ] {
            let error = of_transfer(Path::new(file), error);
            let found = LinkError::from_io("exchange 7", &error).kind();
            assert_eq!(found, kind, "{file}");
        }
    }
}
