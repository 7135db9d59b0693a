//! The way to a device as sysfs shows it: USB devices with the hubs above them, and ttys.

use crate::{HostContext, Target};
use std::path::PathBuf;

/// Where the kernel lists USB devices.
pub(crate) const DEVICES: &str = "/sys/bus/usb/devices";

/// `bDeviceClass` of a hub, USB 2.0, 11.23.1.
const HUB_CLASS: &str = "09";

/// A USB device in sysfs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Usb {
    /// Its directory in `/sys/bus/usb/devices`, such as `1-1.4`.
    pub(crate) name: String,
}

impl Usb {
    /// The path of one of its files.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        PathBuf::from(format!("{DEVICES}/{}/{file}", self.name))
    }

    /// One of its files; `None` where it is absent or empty.
    pub(crate) fn read(&self, context: &HostContext, file: &str) -> Option<String> {
        context
            .read(self.path(file))
            .filter(|text| !text.is_empty())
    }

    /// `path = value`, for the evidence.
    pub(crate) fn saw(&self, context: &HostContext, file: &str) -> Option<String> {
        let value = self.read(context, file)?;
        Some(format!("{} = {value}", self.path(file).display()))
    }

    /// Its speed in Mbit/s.
    pub(crate) fn speed(&self, context: &HostContext) -> Option<f64> {
        let speed: f64 = self.read(context, "speed")?.parse().ok()?;
        (speed > 0.0 && speed.is_finite()).then_some(speed)
    }

    /// True for hubs, root hubs among them.
    pub(crate) fn is_hub(&self, context: &HostContext) -> bool {
        self.read(context, "bDeviceClass").as_deref() == Some(HUB_CLASS)
    }

    /// What it is called in a sentence.
    pub(crate) fn called(&self, context: &HostContext) -> String {
        match self.read(context, "product") {
            Some(product) => format!("USB device {} ({product})", self.name),
            None => format!("USB device {}", self.name),
        }
    }

    /// The hubs above it, the nearest first, the root hub last: `3-1.4.2` hangs on `3-1.4`, that on
    /// `3-1`, that on `usb3`.
    pub(crate) fn above(&self) -> Vec<Usb> {
        let Some((bus, ports)) = self.name.split_once('-') else {
            return Vec::new();
        };
        let mut hubs: Vec<Usb> = ports
            .match_indices('.')
            .map(|(at, _)| Usb {
                name: format!("{bus}-{}", &ports[..at]),
            })
            .collect();
        hubs.reverse();
        hubs.push(Usb {
            name: format!("usb{bus}"),
        });
        hubs
    }

    /// Ttys that its interfaces make.
    fn ttys(&self, context: &HostContext) -> Vec<Tty> {
        let here = PathBuf::from(format!("{DEVICES}/{}", self.name));
        let mut ttys = Vec::new();
        for interface in context.names(&here).into_iter().filter(|n| n.contains(':')) {
            for name in context.names(here.join(&interface)) {
                if name.starts_with("ttyUSB") {
                    ttys.push(Tty { name });
                }
            }
            let made = context.names(here.join(&interface).join("tty"));
            ttys.extend(made.into_iter().map(|name| Tty { name }));
        }
        ttys
    }
}

/// A tty, by its name in `/sys/class/tty`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tty {
    /// Such as `ttyACM0`.
    pub(crate) name: String,
}

impl Tty {
    /// The path of one of its files.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        PathBuf::from(format!("/sys/class/tty/{}/{file}", self.name))
    }

    /// The kernel's driver of what makes it.
    pub(crate) fn driver(&self, context: &HostContext) -> Option<String> {
        let driver = context.resolved(self.path("device/driver"))?;
        Some(driver.file_name()?.to_string_lossy().into_owned())
    }

    /// The USB device behind it.
    pub(crate) fn usb(&self, context: &HostContext) -> Option<Usb> {
        usb_above(context, &self.path("device"))
    }
}

/// The USB device that a directory of sysfs, or a link to one, lies in.
pub(crate) fn usb_above(context: &HostContext, path: &std::path::Path) -> Option<Usb> {
    let mut node = context.resolved(path)?;
    loop {
        // Only a USB device, no interface and no port, has this file.
        if context.exists(node.join("idVendor")) {
            let name = node.file_name()?.to_string_lossy().into_owned();
            return Some(Usb { name });
        }
        if !node.pop() {
            return None;
        }
    }
}

/// The USB device that is asked about; without a target all of them, hubs left out. None where a run
/// was measured on another host, as with the ttys.
pub(crate) fn usb_devices(context: &HostContext) -> Vec<Usb> {
    if !context.is_of_this_host() {
        return Vec::new();
    }
    match &context.target {
        Target::Usb { name } => vec![Usb { name: name.clone() }],
        Target::Tty { .. } => {
            let mut found: Vec<Usb> = ttys(context)
                .iter()
                .filter_map(|t| t.usb(context))
                .collect();
            found.dedup();
            found
        }
        Target::Network { .. } => crate::route::interface(context)
            .and_then(|name| {
                usb_above(
                    context,
                    &PathBuf::from(format!("/sys/class/net/{name}/device")),
                )
            })
            .into_iter()
            .collect(),
        Target::Here => Vec::new(),
        Target::None => all_usb(context),
    }
}

/// All USB devices but hubs.
pub(crate) fn all_usb(context: &HostContext) -> Vec<Usb> {
    context
        .names(DEVICES)
        .into_iter()
        // Interfaces have a colon in their names, root hubs begin with `usb`.
        .filter(|name| !name.contains(':') && name.contains('-'))
        .map(|name| Usb { name })
        .filter(|usb| !usb.is_hub(context))
        .collect()
}

/// The tty that is asked about, or those of the USB device that is; without a target all that have a
/// device behind them and are no console.
pub(crate) fn ttys(context: &HostContext) -> Vec<Tty> {
    if !context.is_of_this_host() {
        return Vec::new();
    }
    // The kernel writes its messages there, and a login may wait.
    let consoles = context
        .read("/sys/class/tty/console/active")
        .unwrap_or_default();
    match &context.target {
        Target::Tty { path } => {
            let name = path.strip_prefix("/dev").unwrap_or(path);
            let name = name.to_string_lossy().into_owned();
            // A pseudo-terminal is `pts/3` there and has no entry in sysfs.
            vec![Tty { name }]
        }
        Target::Usb { name } => Usb { name: name.clone() }.ttys(context),
        Target::Network { .. } | Target::Here => Vec::new(),
        Target::None => context
            .names("/sys/class/tty")
            .into_iter()
            .filter(|name| !consoles.split_whitespace().any(|console| console == name))
            .map(|name| Tty { name })
            .filter(|tty| {
                // The 8250 driver makes ttys for ports that are not there: their type is 0, PORT_UNKNOWN
                // (include/uapi/linux/serial_core.h).
                let unknown = context.number(tty.path("type")) == Some(0);
                context.exists(tty.path("device")) && !unknown
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hubs_above_a_device_are_reported_by_its_name_up_to_the_root() {
        let above = |name: &str| -> Vec<String> {
            let usb = Usb { name: name.into() };
            usb.above().into_iter().map(|hub| hub.name).collect()
        };
        assert_eq!(above("3-1.4.2"), ["3-1.4", "3-1", "usb3"]);
        assert_eq!(above("1-2"), ["usb1"]);
        assert!(above("usb1").is_empty());
    }
}
