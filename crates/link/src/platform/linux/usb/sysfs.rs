//! What Linux tells in sysfs of a USB device without opening it: driver, port, hubs on the way, the
//! host controller. Elsewhere all of this is empty.

use std::fs;
use std::path::{Path, PathBuf};

/// Where the devices are listed.
pub const DEVICES: &str = "/sys/bus/usb/devices";

/// A device in sysfs.
#[derive(Clone, Debug)]
pub struct Node(PathBuf);

impl Node {
    /// The node of the device with this name (`3-1.4`).
    pub fn named(name: &str) -> Node {
        Node(Path::new(DEVICES).join(name))
    }

    /// True if it is there.
    pub fn exists(&self) -> bool {
        self.0.join("idVendor").exists()
    }

    /// An attribute, trimmed; `None` if it is not there or empty.
    pub fn attribute(&self, name: &str) -> Option<String> {
        let text = fs::read_to_string(self.0.join(name)).ok()?;
        Some(text.trim().to_string()).filter(|text| !text.is_empty())
    }

    /// Its descriptors as the kernel read them: the device's, then each configuration's.
    pub fn descriptors(&self) -> Option<Vec<u8>> {
        fs::read(self.0.join("descriptors")).ok()
    }

    /// The drivers of its interfaces by number, those without a driver left out.
    pub fn drivers(&self) -> Vec<(u8, String)> {
        let Ok(entries) = fs::read_dir(&self.0) else {
            return Vec::new();
        };
        let mut drivers: Vec<(u8, String)> = entries
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().contains(':'))
            .filter_map(|entry| {
                let number = fs::read_to_string(entry.path().join("bInterfaceNumber")).ok()?;
                let number = u8::from_str_radix(number.trim(), 16).ok()?;
                Some((number, linked(&entry.path().join("driver"))?))
            })
            .collect();
        drivers.sort();
        drivers
    }

    /// The driver of one interface.
    pub fn driver(&self, interface: u8) -> Option<String> {
        self.drivers()
            .into_iter()
            .find(|&(number, _)| number == interface)
            .map(|(_, driver)| driver)
    }

    /// The driver of the host controller that it hangs on.
    pub fn controller(&self) -> Option<String> {
        let mut node = fs::canonicalize(&self.0).ok()?;
        while !node.file_name()?.to_string_lossy().starts_with("usb") {
            node.pop();
        }
        // The root hub's parent is the controller.
        node.pop();
        linked(&node.join("driver"))
    }

    /// The tty that its interfaces make, such as `ttyACM0`.
    pub fn ttys(&self) -> Vec<String> {
        let mut ttys = Vec::new();
        for interface in directories(&self.0) {
            for below in directories(&interface) {
                let name = file_name(&below);
                if name == "tty" {
                    ttys.extend(directories(&below).iter().map(|p| file_name(p)));
                } else if name.starts_with("ttyUSB") {
                    ttys.push(name);
                }
            }
        }
        ttys.sort();
        ttys
    }
}

/// Names of the hubs between the root hub and a device, from its own name: `3-1.4.2` hangs on
/// `3-1.4`, which hangs on `3-1`.
pub fn hubs(name: &str) -> Vec<String> {
    name.match_indices('.')
        .map(|(at, _)| name[..at].to_string())
        .collect()
}

/// Megabytes that all usbfs transfers of the system may hold together; 0 is no limit.
pub fn usbfs_memory_mb() -> Option<u64> {
    fs::read_to_string("/sys/module/usbcore/parameters/usbfs_memory_mb")
        .ok()?
        .trim()
        .parse()
        .ok()
}

fn linked(link: &Path) -> Option<String> {
    Some(file_name(&fs::read_link(link).ok()?))
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn directories(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hubs_on_the_way_follow_from_the_name() {
        assert_eq!(hubs("3-1"), Vec::<String>::new());
        assert_eq!(hubs("3-1.4.2"), ["3-1", "3-1.4"]);
    }
}
