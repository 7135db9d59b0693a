//! What sysfs shows of a device, and its drivers, which are taken off and put back.

use super::sysfs::{self, Node};
use crate::error::{LinkError, LinkErrorKind};
use crate::usb::choose::{self, InterfaceFact};
use nusb::descriptors::ConfigurationDescriptor;
use nusb::{Device, DeviceInfo};
use std::time::{Duration, Instant};

/// The last reference to an interface may for a moment be held by the library's thread.
const RELEASED: Duration = Duration::from_millis(200);

/// Length of the device descriptor that precedes the configurations, USB 2.0, table 9-8.
const DEVICE_DESCRIPTOR: usize = 18;

/// What the system shows of a device; kept, so that error texts can be made after it has gone.
#[derive(Clone, Debug)]
pub struct Facts {
    node: String,
    devnum: Option<String>,
    /// Bus and address, as in /dev/usbmonN.
    place: (u16, u8),
}

impl Facts {
    /// Of a device that is there.
    pub fn of(info: &DeviceInfo, path: &str) -> Facts {
        let (bus, address) = (info.busnum(), info.device_address());
        Facts {
            node: format!("/dev/bus/usb/{bus:03}/{address:03}"),
            devnum: Node::named(path).attribute("devnum"),
            place: (bus.into(), address),
        }
    }

    /// Its node in /dev/bus/usb.
    pub fn node(&self) -> &str {
        &self.node
    }

    /// Bus and address.
    pub fn place(&self) -> Option<(u16, u8)> {
        Some(self.place)
    }

    /// Its speed in Mbit/s, as sysfs writes it.
    pub fn megabits(&self, path: &str) -> Option<String> {
        Node::named(path).attribute("speed")
    }

    /// True if it is no longer there, or another one is in its place.
    pub fn is_gone(&self, path: &str) -> bool {
        self.devnum.is_some() && Node::named(path).attribute("devnum") != self.devnum
    }
}

/// Where a device hangs, as sysfs names it.
pub fn path_of(info: &DeviceInfo) -> String {
    let name = info.sysfs_path().file_name();
    name.unwrap_or_default().to_string_lossy().into_owned()
}

/// Refuses a system without USB.
pub fn check_usb(doing: &str) -> Result<(), LinkError> {
    if !std::path::Path::new(sysfs::DEVICES).exists() {
        return Err(LinkError::new(
        LinkErrorKind::NotFound,
        doing,
        format!("this system has no USB: {} does not exist", sysfs::DEVICES),
    )
    .hint(
        "pass the devices into the container or virtual machine; on a board, the kernel needs a host \
         controller driver (dmesg | grep -i usb)",
    ));
    }
    Ok(())
}

/// The drivers of the interfaces of a device by number.
pub fn drivers(path: &str) -> Vec<(u8, String)> {
    Node::named(path).drivers()
}

/// The driver of the host controller that a device hangs on.
pub fn controller(path: &str) -> Option<String> {
    Node::named(path).controller()
}

/// The ttys that the driver of a device made.
pub fn ttys(path: &str) -> Vec<String> {
    Node::named(path).ttys()
}

/// The interface of a device that a link would use; `None` if it has none that is made to be talked to.
pub fn could_use(info: &DeviceInfo) -> Option<u8> {
    let facts = active_facts(&Node::named(&path_of(info)))?;
    let choice = choose::choose(&facts, &Default::default()).ok();
    choice.map(|choice| choice.interface)
}

/// The interfaces of a device's active configuration, from its descriptors in sysfs.
pub fn active_facts(node: &Node) -> Option<Vec<InterfaceFact>> {
    let active = node.attribute("bConfigurationValue")?.parse().ok()?;
    facts_of(&node.descriptors()?, active)
}

/// The interfaces of a configuration, from the descriptors of a device as the kernel read them.
pub fn facts_of(descriptors: &[u8], wanted: u8) -> Option<Vec<InterfaceFact>> {
    let mut rest = descriptors.get(DEVICE_DESCRIPTOR..)?;
    while let Some(configuration) = ConfigurationDescriptor::new(rest) {
        if configuration.configuration_value() == wanted {
            return Some(choose::facts(&configuration));
        }
        rest = &rest[configuration.as_bytes().len()..];
    }
    None
}

/// Waits until the interfaces are released, and puts back the drivers that did not come back
/// with them (a driver of several interfaces comes back with the first of them only).
pub fn put_drivers_back(device: &Device, path: &str, drivers_before: &[(u8, String)]) {
    let node = Node::named(path);
    let begun = Instant::now();
    loop {
        let ours = node.drivers().iter().any(|(interface, driver)| {
            driver == "usbfs"
                && drivers_before
                    .iter()
                    .any(|(before, name)| before == interface && name != "usbfs")
        });
        if !ours || begun.elapsed() > RELEASED {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    for (interface, driver) in drivers_before {
        if driver != "usbfs" && node.exists() && node.driver(*interface).is_none() {
            let _ = device.attach_kernel_driver(*interface);
        }
    }
}
