//! The ttys of this Linux: those with a device behind them. A tty for which no UART was found is left out.

use crate::devices::{Answer, SerialPort, UsbDevice};
use std::fs;
use std::path::Path;

/// What the names of ports look like.
pub const NAMES: &str =
    "serial ports have names such as /dev/ttyACM0, /dev/ttyUSB0, /dev/ttyS0 or /dev/pts/N";

/// What to try if a port does not exist.
pub const NOT_FOUND: &str =
    "is the device plugged in? its name may have changed: ls -l /dev/serial/by-id";

/// What to try where a port may not be opened.
pub const NOT_PERMITTED: &str =
    "add yourself to the group of the tty: sudo usermod -aG dialout $USER, then log in again";

/// All of them.
pub fn ports(usb: &[UsbDevice]) -> Vec<SerialPort> {
    let Ok(entries) = fs::read_dir("/sys/class/tty") else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| is_port(name))
        .collect();
    names.sort();
    let consoles = fs::read_to_string("/sys/class/tty/console/active").unwrap_or_default();
    names
        .into_iter()
        .map(|name| {
            let path = format!("/dev/{name}");
            let device = usb.iter().find(|device| device.ttys.contains(&name));
            SerialPort {
                address: format!("serial://{path}"),
                driver: driver(&name),
                by_id: by_id(&path),
                usb: device.map(|device| device.path.clone()),
                product: device.and_then(|device| device.product.clone()),
                answer: match device.map(|device| &device.answer) {
                    Some(Answer::SaysSo) => Answer::SaysSo,
                    _ => Answer::NotAsked,
                },
                is_console: consoles.split_whitespace().any(|console| console == name),
                path,
            }
        })
        .collect()
}

fn is_port(name: &str) -> bool {
    let node = Path::new("/sys/class/tty").join(name);
    // The 8250 driver makes ttys for ports that are not there: their type is 0, PORT_UNKNOWN
    // (include/uapi/linux/serial_core.h).
    let unknown = fs::read_to_string(node.join("type")).is_ok_and(|kind| kind.trim() == "0");
    node.join("device").exists() && !unknown && Path::new("/dev").join(name).exists()
}

fn driver(name: &str) -> Option<String> {
    let link = fs::read_link(format!("/sys/class/tty/{name}/device/driver")).ok()?;
    Some(link.file_name()?.to_string_lossy().into_owned())
}

fn by_id(path: &str) -> Option<String> {
    fs::read_dir("/dev/serial/by-id")
        .ok()?
        .flatten()
        .find(|entry| fs::canonicalize(entry.path()).is_ok_and(|real| real == Path::new(path)))
        .map(|entry| entry.path().display().to_string())
}
