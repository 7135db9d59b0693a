//! Serial ports of Windows, from the registry: which there are, and which USB device is behind each.

use crate::devices::{Answer, SerialPort, UsbDevice};
use windows_registry::LOCAL_MACHINE;

/// Where drivers list their ports.
const PORTS: &str = r"HARDWARE\DEVICEMAP\SERIALCOMM";

/// Where the system keeps every device that was ever attached: by its bus, its ids and its instance. FTDI's driver has a
/// bus of its own.
const BUSES: [&str; 2] = [
    r"SYSTEM\CurrentControlSet\Enum\USB",
    r"SYSTEM\CurrentControlSet\Enum\FTDIBUS",
];

/// The USB device behind a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsbPort {
    /// The port, such as `COM3`.
    pub port: String,
    /// idVendor.
    pub vendor: u16,
    /// idProduct.
    pub product: u16,
    /// The name that Windows shows, such as `USB Serial Device (COM3)`.
    pub name: Option<String>,
    /// Driver.
    pub driver: Option<String>,
    /// Its serial number, or what Windows has in its place.
    pub instance: String,
}

/// Names of all ports, in the order of their numbers.
pub fn names() -> Vec<String> {
    let Ok(key) = LOCAL_MACHINE.open(PORTS) else {
        return Vec::new();
    };
    let values = key.values().into_iter().flatten();
    let mut names: Vec<String> = values
        .filter_map(|(_, port)| String::try_from(port).ok())
        .collect();
    names.sort_by_key(|name| (number(name), name.clone()));
    names.dedup();
    names
}

fn number(name: &str) -> Option<u32> {
    name.strip_prefix("COM")?.parse().ok()
}

/// All of them.
pub fn ports(usb: &[UsbDevice]) -> Vec<SerialPort> {
    let known = usb_ports();
    let port = |name: String| {
        let known = known.iter().find(|known| known.port == name);
        let device = known.and_then(|known| device_of(known, usb));
        let name_of_device = || device.and_then(|device| device.product.clone());
        SerialPort {
            address: format!("serial://{name}"),
            driver: known.and_then(|known| known.driver.clone()),
            usb: device.map(|device| device.path.clone()),
            product: name_of_device().or_else(|| known.and_then(|known| known.name.clone())),
            answer: match device.map(|device| &device.answer) {
                Some(Answer::SaysSo) => Answer::SaysSo,
                _ => Answer::NotAsked,
            },
            path: name,
            ..SerialPort::default()
        }
    };
    names().into_iter().map(port).collect()
}

/// The USB device behind a port, such as `COM3`.
pub fn of_usb(name: &str) -> Option<UsbPort> {
    let name = name.trim_start_matches(r"\\.\");
    let mut known = usb_ports().into_iter();
    known.find(|known| known.port.eq_ignore_ascii_case(name))
}

/// The device with the same ids; of several, the one with the same serial number.
fn device_of<'a>(port: &UsbPort, usb: &'a [UsbDevice]) -> Option<&'a UsbDevice> {
    let ids = (
        format!("{:04x}", port.vendor),
        format!("{:04x}", port.product),
    );
    let same = |device: &&UsbDevice| (&device.vendor_id, &device.product_id) == (&ids.0, &ids.1);
    let alike: Vec<&UsbDevice> = usb.iter().filter(same).collect();
    let is_its = |device: &&&UsbDevice| {
        let serial = device.serial.as_deref();
        serial.is_some_and(|serial| serial.eq_ignore_ascii_case(&port.instance))
    };
    match alike[..] {
        [only] => Some(only),
        _ => alike.iter().find(is_its).copied(),
    }
}

/// Names of the keys below a key; none if it is not there or may not be read.
fn keys(path: &str) -> Vec<String> {
    let Ok(key) = LOCAL_MACHINE.open(path) else {
        return Vec::new();
    };
    key.keys().into_iter().flatten().collect()
}

/// Every port that a USB device has or had.
fn usb_ports() -> Vec<UsbPort> {
    let mut found = Vec::new();
    for bus in BUSES {
        for id in keys(bus) {
            let Some((vendor, product)) = ids_of(&id) else {
                continue;
            };
            let path = format!(r"{bus}\{id}");
            for instance in keys(&path) {
                let device = format!(r"{path}\{instance}");
                let parameters = LOCAL_MACHINE.open(format!(r"{device}\Device Parameters"));
                let Ok(port) = parameters.and_then(|key| key.get_string("PortName")) else {
                    continue;
                };
                let device = LOCAL_MACHINE.open(&device).ok();
                let text = |name| device.as_ref()?.get_string(name).ok();
                found.push(UsbPort {
                    port,
                    vendor,
                    product,
                    name: text("FriendlyName"),
                    driver: text("Service"),
                    instance: serial_of(&id).unwrap_or(instance),
                });
            }
        }
    }
    found
}

/// `VID_1D6B&PID_0104&MI_00`, or FTDI's `VID_0403+PID_6001+A50285BIA`.
fn ids_of(id: &str) -> Option<(u16, u16)> {
    let mut parts = id.split(['&', '+']);
    let mut number = |prefix: &str| {
        let digits = parts.next()?.strip_prefix(prefix)?;
        u16::from_str_radix(digits, 16).ok()
    };
    Some((number("VID_")?, number("PID_")?))
}

/// The serial number in FTDI's name of a device, to which a letter of the port is added.
fn serial_of(id: &str) -> Option<String> {
    let serial = id.split('+').nth(2)?;
    let mut letters = serial.chars();
    letters.next_back();
    Some(letters.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_from_the_names_of_devices() {
        assert_eq!(ids_of("VID_1D6B&PID_0104&MI_00"), Some((0x1d6b, 0x104)));
        let ftdi = "VID_0403+PID_6001+A50285BIA";
        assert_eq!(ids_of(ftdi), Some((0x403, 0x6001)));
        assert_eq!(serial_of(ftdi), Some("A50285BI".into()));
        assert_eq!(ids_of("ROOT_HUB30"), None);
        assert_eq!(serial_of("VID_1D6B&PID_0104"), None);
    }

    #[test]
    fn of_two_devices_alike_the_serial_number_decides() {
        let device = |path: &str, serial: &str| UsbDevice {
            path: path.into(),
            vendor_id: "1d6b".into(),
            product_id: "0104".into(),
            serial: Some(serial.into()),
            ..UsbDevice::default()
        };
        let port = UsbPort {
            port: "COM3".into(),
            vendor: 0x1d6b,
            product: 0x104,
            name: None,
            driver: None,
            instance: "b".into(),
        };
        let usb = [device("1", "A"), device("2", "B")];
        let found = device_of(&port, &usb).map(|device| device.path.as_str());
        assert_eq!(found, Some("2"));
        assert!(device_of(&port, &[]).is_none());
    }
}
