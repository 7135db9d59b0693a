//! What is kept with a run of an instrument behind the kernel's driver.

use super::find::Present;
use crate::platform::usb::sysfs::{self, Node};
use crate::usbtmc::interface::kind_name;
use wiregauge_record::LinkDetail;

/// Settings worth keeping of an instrument behind the kernel's driver.
pub fn of_file(device: &Present) -> LinkDetail {
    let node = Node::named(&device.port);
    let hubs = sysfs::hubs(&device.port);
    let ids = format!("{:04x}:{:04x}", device.vendor, device.product);
    let file = device.file.as_ref().map(|file| file.display().to_string());
    let settings = [
        ("USB device", Some(ids)),
        ("USB manufacturer", device.manufacturer.clone()),
        ("USB product", device.name.clone()),
        ("USB serial", device.serial.clone()),
        ("USB speed (Mbit/s)", device.megabits.clone()),
        ("USB path", Some(device.port.clone())),
        (
            "USB hubs in between",
            Some(hubs.join(", ")).filter(|hubs| !hubs.is_empty()),
        ),
        ("USB host controller", node.controller()),
        ("USB interface", Some(device.interface.to_string())),
        ("instrument", Some(kind_name(device.is_usb488))),
        ("driver", device.driver.clone()),
        ("file", file),
    ];
    LinkDetail {
        settings: settings
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_string(), value?)))
            .collect(),
    }
}
