//! USB devices as the system knows them, without opening any.

use super::answer::{Answer, says_so};
use crate::Address;
use crate::error::LinkError;
use crate::platform;
use crate::usb::{self, Present};
use serde::Serialize;
use std::collections::HashMap;

/// A USB device.
#[derive(Clone, Debug, Default, Serialize)]
pub struct UsbDevice {
    /// What to give to wiregauge; `None` if it has no endpoints that could be measured over.
    pub address: Option<String>,
    /// Where it hangs, as sysfs names it.
    pub path: String,
    /// idVendor in hexadecimal.
    pub vendor_id: String,
    /// idProduct in hexadecimal.
    pub product_id: String,
    /// Manufacturer string.
    pub manufacturer: Option<String>,
    /// Product string.
    pub product: Option<String>,
    /// Serial number string.
    pub serial: Option<String>,
    /// Its speed.
    pub speed: Option<String>,
    /// Kernel drivers that hold its interfaces.
    pub drivers: Vec<String>,
    /// Paths of the hubs between it and the computer.
    pub hubs: Vec<String>,
    /// Driver of the host controller.
    pub controller: Option<String>,
    /// Ttys that its driver made.
    pub ttys: Vec<String>,
    /// What its interfaces are.
    pub interfaces: Vec<String>,
    /// What is known of the program on it.
    pub answer: Answer,
    /// It could be asked without taking a driver off it.
    #[serde(skip)]
    pub may_be_asked: bool,
}

/// All of them but root hubs; an error where the system has no USB.
pub fn devices() -> Result<Vec<UsbDevice>, String> {
    let found = usb::devices("cannot list USB devices").map_err(|error| error.to_string())?;
    let present: Vec<Present> = found.iter().map(Present::of).collect();
    let names = addresses(&present);
    Ok(found
        .iter()
        .zip(present)
        .zip(names)
        .map(|((info, present), name)| {
            let drivers = platform::usb::drivers(&present.path);
            let choice = platform::usb::could_use(info);
            let driven = |interface: u8| drivers.iter().any(|&(number, _)| number == interface);
            let says_so = says_so(present.manufacturer.as_deref(), present.name.as_deref());
            let mut names: Vec<String> = drivers.iter().map(|(_, name)| name.clone()).collect();
            names.dedup();
            let mut interfaces: Vec<String> = info
                .interfaces()
                .map(|interface| usb::class_name(interface.class()))
                .collect();
            interfaces.dedup();
            UsbDevice {
                address: choice.map(|_| name),
                vendor_id: format!("{:04x}", present.vendor),
                product_id: format!("{:04x}", present.product),
                manufacturer: present.manufacturer,
                product: present.name,
                serial: present.serial,
                speed: info.speed().map(|speed| usb::speed_name(speed).into()),
                drivers: names,
                hubs: platform::usb::hubs(&present.path),
                controller: platform::usb::controller(&present.path),
                ttys: platform::usb::ttys(&present.path),
                interfaces,
                answer: match says_so {
                    true => Answer::SaysSo,
                    false => Answer::NotAsked,
                },
                may_be_asked: choice.is_some_and(|interface| !driven(interface)),
                path: present.path,
            }
        })
        .collect())
}

/// Where the USB device of an address hangs, as sysfs names it; it is not opened. A port is taken at its word.
pub fn usb_port(address: &Address) -> Result<String, LinkError> {
    usb::port(address, &format!("cannot find {address}"))
}

/// The shortest address that names each device and no other.
fn addresses(present: &[Present]) -> Vec<String> {
    let ids = |d: &Present| format!("usb://{:04x}:{:04x}", d.vendor, d.product);
    let full = |d: &Present| match &d.serial {
        Some(serial) => format!("{}/{serial}", ids(d)),
        None => ids(d),
    };
    let mut by_ids: HashMap<String, u32> = HashMap::new();
    let mut by_all: HashMap<String, u32> = HashMap::new();
    for device in present {
        *by_ids.entry(ids(device)).or_default() += 1;
        *by_all.entry(full(device)).or_default() += 1;
    }
    present
        .iter()
        .map(|device| {
            if by_ids[&ids(device)] == 1 {
                ids(device)
            } else if device.serial.is_some() && by_all[&full(device)] == 1 {
                full(device)
            } else {
                format!("usb://{}", device.path)
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(product: u16, path: &str, serial: Option<&str>) -> Present {
        Present {
            path: path.into(),
            vendor: 0x1d6b,
            product,
            serial: serial.map(str::to_string),
            ..Present::default()
        }
    }

    #[test]
    fn each_device_gets_the_shortest_address_that_names_it_alone() {
        let names = addresses(&[
            board(1, "1-1", Some("A")),
            board(2, "1-2", Some("A")),
            board(2, "1-3", Some("B")),
            board(3, "1-4", None),
            board(3, "1-5.1", None),
        ]);
        let expected = ["1d6b:0001", "1d6b:0002/A", "1d6b:0002/B", "1-4", "1-5.1"];
        assert_eq!(names, expected.map(|name| format!("usb://{name}")));
    }
}
