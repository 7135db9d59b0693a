//! What is behind a tty: the USB device or the UART, as sysfs shows it.

pub use super::usb::place_of_tty as place;

use crate::limits::of_usb_bulk;
use std::fs;
use std::path::{Path, PathBuf};
use wiregauge_limits::Uart;
use wiregauge_record::BusLimit;

/// The limit of a tty: that of the USB bus behind a CDC port, or of the UART; none for a
/// pseudo-terminal, which has no medium.
pub fn limit(path: &Path, line: Option<Uart>) -> Option<BusLimit> {
    let name = tty_name(path)?;
    if name.starts_with("ttyACM") {
        return of_usb_bulk(&usb_attribute(&name, "speed")?);
    }
    let is_uart = ["ttyS", "ttyUSB", "ttyAMA", "ttymxc", "ttyO", "ttyPS"]
        .iter()
        .any(|prefix| name.starts_with(prefix));
    let line = line.filter(|line| is_uart && line.check().is_ok())?;
    Some(line.limit().for_run())
}

/// Where the USB device behind a tty hangs and how fast it is; empty for anything else.
pub fn settings(path: &Path) -> Vec<(String, String)> {
    let Some(name) = tty_name(path) else {
        return Vec::new();
    };
    let mut settings = Vec::new();
    if let Some(driver) = fs::canonicalize(format!("/sys/class/tty/{name}/device/driver"))
        .ok()
        .and_then(|driver| Some(driver.file_name()?.to_string_lossy().into_owned()))
    {
        settings.push(("driver".into(), driver));
    }
    // FTDI's; while the low-latency flag is set, the driver shows 1.
    let timer = format!("/sys/bus/usb-serial/devices/{name}/latency_timer");
    if let Ok(milliseconds) = fs::read_to_string(timer) {
        settings.push(("latency timer (ms)".into(), milliseconds.trim().into()));
    }
    for (attribute, label) in [
        ("speed", "USB speed (Mbit/s)"),
        ("devpath", "USB path"),
        ("busnum", "USB bus"),
        ("product", "USB product"),
        ("idVendor", "USB vendor"),
        ("idProduct", "USB product id"),
    ] {
        if let Some(value) = usb_attribute(&name, attribute) {
            settings.push((label.into(), value));
        }
    }
    settings
}

fn tty_name(path: &Path) -> Option<String> {
    let real = fs::canonicalize(path).ok()?;
    let name = real
        .strip_prefix("/dev")
        .ok()?
        .to_string_lossy()
        .into_owned();
    (!name.contains('/')).then_some(name)
}

/// Looks for an attribute of the USB device by climbing from the tty's node in sysfs.
fn usb_attribute(tty: &str, attribute: &str) -> Option<String> {
    let mut node: PathBuf = fs::canonicalize(format!("/sys/class/tty/{tty}/device")).ok()?;
    while node.starts_with("/sys/devices") {
        // Only a USB device, no interface or hub port, has both of these.
        if node.join("idVendor").exists() {
            return fs::read_to_string(node.join(attribute))
                .ok()
                .map(|s| s.trim().to_string());
        }
        node.pop();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pseudo_terminal_has_no_physical_limit() {
        let (_master, path) = crate::platform::pty::open_pty().unwrap();
        let line = Uart {
            baud: 38_400,
            framing: wiregauge_limits::Framing::EIGHT_N_ONE,
        };
        assert_eq!(limit(&path, Some(line)), None);
    }
}
