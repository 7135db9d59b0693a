//! Serial ports of macOS: `/dev/cu.*`.

use crate::devices::{Answer, SerialPort, UsbDevice};
use std::fs;

/// The system's own ports, behind which no device is.
const OWN: [&str; 3] = [
    "cu.Bluetooth-Incoming-Port",
    "cu.debug-console",
    "cu.wlan-debug",
];

/// What the names of ports look like.
pub const NAMES: &str =
    "serial ports have names such as /dev/cu.usbmodem1101 or /dev/cu.usbserial-A50285BI";

/// What to try if a port does not exist.
pub const NOT_FOUND: &str = "is the device plugged in? its name may have changed: ls /dev/cu.*";

/// What to try where a port may not be opened.
pub const NOT_PERMITTED: &str = "see which user and group may open it: ls -l /dev/cu.*";

/// All of them; which USB device is behind one is not known.
pub fn ports(_usb: &[UsbDevice]) -> Vec<SerialPort> {
    let Ok(entries) = fs::read_dir("/dev") else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("cu.") && !OWN.contains(&name.as_str()))
        .collect();
    names.sort();
    let port = |name: String| SerialPort {
        address: format!("serial:///dev/{name}"),
        path: format!("/dev/{name}"),
        answer: Answer::NotAsked,
        ..SerialPort::default()
    };
    names.into_iter().map(port).collect()
}
