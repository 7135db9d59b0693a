//! What `nusb` tells of a device.

use crate::error::LinkError;
use nusb::{Device, DeviceInfo, MaybeFuture, Speed};
use std::sync::OnceLock;

/// The class of interfaces of a maker's own kind.
const VENDOR_CLASS: u8 = 0xff;

/// What the system shows of a device.
#[derive(Clone, Debug)]
pub struct Facts {
    megabits: Option<&'static str>,
}

impl Facts {
    /// Of a device that is there.
    pub fn of(info: &DeviceInfo, _path: &str) -> Facts {
        let megabits = match info.speed() {
            Some(Speed::Low) => Some("1.5"),
            Some(Speed::Full) => Some("12"),
            Some(Speed::High) => Some("480"),
            Some(Speed::Super) => Some("5000"),
            Some(Speed::SuperPlus) => Some("10000"),
            _ => None,
        };
        Facts { megabits }
    }

    /// Bus and address are for usbmon, which only Linux has.
    pub fn place(&self) -> Option<(u16, u8)> {
        None
    }

    /// Its speed in Mbit/s.
    pub fn megabits(&self, _path: &str) -> Option<String> {
        self.megabits.map(str::to_string)
    }

    /// Not known before the system reports it.
    pub fn is_gone(&self, _path: &str) -> bool {
        false
    }
}

/// Where a device hangs: bus, root port, ports of hubs (`3-1.4`). The buses are numbered in the order of their names.
pub fn path_of(info: &DeviceInfo) -> String {
    let ports: Vec<String> = info.port_chain().iter().map(u8::to_string).collect();
    let buses = buses();
    let bus = buses.iter().position(|bus| bus == info.bus_id());
    let number = 1 + bus.unwrap_or(buses.len());
    format!("{number}-{}", ports.join("."))
}

/// Names of the buses, as they were at first: so a number means the same bus as long as the program runs.
fn buses() -> &'static [String] {
    static BUSES: OnceLock<Vec<String>> = OnceLock::new();
    BUSES.get_or_init(|| {
        let Ok(found) = nusb::list_buses().wait() else {
            return Vec::new();
        };
        let mut names: Vec<String> = found.map(|bus| bus.bus_id().to_owned()).collect();
        names.sort();
        names.dedup();
        names
    })
}

/// Every such system has USB.
pub fn check_usb(_doing: &str) -> Result<(), LinkError> {
    Ok(())
}

/// Drivers are not taken off here.
pub fn drivers(_path: &str) -> Vec<(u8, String)> {
    Vec::new()
}

/// The hubs between the computer and a device are not known.
pub fn hubs(_path: &str) -> Vec<String> {
    Vec::new()
}

/// The driver of the host controller is not known.
pub fn controller(_path: &str) -> Option<String> {
    None
}

/// Serial ports are found from their own list.
pub fn ttys(_path: &str) -> Vec<String> {
    Vec::new()
}

/// The interface of a device that a link would probably use: the first of a maker's own class. Its endpoints show when
/// it is opened.
pub fn could_use(info: &DeviceInfo) -> Option<u8> {
    let mut interfaces = info.interfaces();
    let found = interfaces.find(|interface| interface.class() == VENDOR_CLASS);
    found.map(|interface| interface.interface_number())
}

/// Drivers were not taken off.
pub fn put_drivers_back(_device: &Device, _path: &str, _drivers_before: &[(u8, String)]) {}
