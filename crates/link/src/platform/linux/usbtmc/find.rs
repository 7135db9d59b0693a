//! The USBTMC interfaces of this Linux, as sysfs shows them: looking opens none and needs no permission.

use crate::error::{LinkError, LinkErrorKind};
use crate::platform::usb::sysfs::{self, Node};
use crate::usbtmc::interface::{CLASS, SUBCLASS};
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// A USBTMC interface that is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Present {
    /// Where the device hangs, as sysfs names it.
    pub port: String,
    /// bInterfaceNumber.
    pub interface: u8,
    /// bInterfaceProtocol is 1: it knows the requests of IEEE 488 too.
    pub is_usb488: bool,
    /// idVendor.
    pub vendor: u16,
    /// idProduct.
    pub product: u16,
    /// Serial number string.
    pub serial: Option<String>,
    /// Manufacturer string.
    pub manufacturer: Option<String>,
    /// Product string.
    pub name: Option<String>,
    /// Speed in Mbit/s, as sysfs writes it.
    pub megabits: Option<String>,
    /// The kernel driver that holds it.
    pub driver: Option<String>,
    /// The file of the kernel's usbtmc driver.
    pub file: Option<PathBuf>,
}

impl Present {
    /// The interface with this node in sysfs (`.../3-1:1.0`), if it is one of USBTMC.
    fn of(node: &Path) -> Option<Present> {
        let hex = |name: &str| {
            let text = fs::read_to_string(node.join(name)).ok()?;
            u8::from_str_radix(text.trim(), 16).ok()
        };
        if (hex("bInterfaceClass")?, hex("bInterfaceSubClass")?) != (CLASS, SUBCLASS) {
            return None;
        }
        let name = node.file_name()?.to_string_lossy().into_owned();
        let port = name.split_once(':')?.0.to_string();
        let device = Node::named(&port);
        let id = |name: &str| u16::from_str_radix(&device.attribute(name)?, 16).ok();
        let interface = hex("bInterfaceNumber")?;
        Some(Present {
            interface,
            is_usb488: hex("bInterfaceProtocol") == Some(1),
            vendor: id("idVendor")?,
            product: id("idProduct")?,
            serial: device.attribute("serial"),
            manufacturer: device.attribute("manufacturer"),
            name: device.attribute("product"),
            megabits: device.attribute("speed"),
            driver: device.driver(interface),
            file: file_of(node),
            port,
        })
    }

    /// Its name, or its ids.
    pub fn title(&self) -> String {
        let names = [&self.manufacturer, &self.name];
        let names: Vec<&str> = names.into_iter().flatten().map(String::as_str).collect();
        names.join(" ")
    }

    fn in_words(&self) -> String {
        let serial = self.serial.as_ref();
        let serial = serial.map_or(String::new(), |serial| format!(", serial {serial}"));
        let address = match &self.file {
            Some(file) => file.display().to_string(),
            None => self.port.clone(),
        };
        let title = self.title();
        format!(
            "{:04x}:{:04x} {title}{serial} (usbtmc://{address})",
            self.vendor, self.product
        )
    }
}

/// The file that the kernel's driver made for an interface.
fn file_of(node: &Path) -> Option<PathBuf> {
    let mut entries = fs::read_dir(node.join("usbmisc")).ok()?.flatten();
    let names = entries.find_map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.starts_with("usbtmc").then_some(name)
    });
    Some(Path::new("/dev").join(names?))
}

/// All of them, in the order of their ports.
pub fn devices() -> Vec<Present> {
    let Ok(entries) = fs::read_dir(sysfs::DEVICES) else {
        return Vec::new();
    };
    let mut found: Vec<Present> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().contains(':'))
        .filter_map(|entry| Present::of(&entry.path()))
        .collect();
    found.sort_by(|a, b| (&a.port, a.interface).cmp(&(&b.port, b.interface)));
    found
}

/// The instruments that are there, in words, for errors.
pub fn listed() -> String {
    let words: Vec<String> = devices().iter().map(Present::in_words).collect();
    match words.is_empty() {
        true => "no USBTMC instrument is attached".into(),
        false => format!("attached USBTMC instruments: {}", words.join("; ")),
    }
}

/// The instrument behind a file, whatever the file is called.
pub fn of_file(path: &Path, doing: &str) -> Result<Present, LinkError> {
    let meta = fs::metadata(path).map_err(|error| {
        let explained = LinkError::from_io(doing, &error);
        match explained.kind() {
            LinkErrorKind::NotFound => {
                let said = format!("{} does not exist; {}", path.display(), listed());
                LinkError::new(LinkErrorKind::NotFound, doing, said).hint(
                    "is it plugged in, and the driver loaded (modprobe usbtmc)? usbtmc://VID:PID needs no driver",
                )
            }
            _ => explained,
        }
    })?;
    let number = meta.rdev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let node = fs::canonicalize(format!("/sys/dev/char/{major}:{minor}"));
    let node = node.ok().filter(|_| meta.file_type().is_char_device());
    let is_of_usbtmc = |node: &PathBuf| {
        let name = node.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("usbtmc")
    };
    // .../3-1:1.0/usbmisc/usbtmc0
    let interface = node.filter(is_of_usbtmc);
    let interface = interface.and_then(|node| Some(node.parent()?.parent()?.to_path_buf()));
    let found = interface.and_then(|node| Present::of(&node));
    let found = found.ok_or_else(|| {
        let said = format!(
            "{} is not a file of the kernel's usbtmc driver",
            path.display()
        );
        LinkError::new(LinkErrorKind::Usage, doing, said).hint(
            "such files have names like /dev/usbtmc0; wiregauge devices lists the instruments",
        )
    })?;
    Ok(Present {
        file: Some(path.into()),
        ..found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_instrument_is_refused() {
        for path in ["/dev/null", "/proc/self/status"] {
            let error = of_file(Path::new(path), "cannot open it").unwrap_err();
            assert_eq!(error.kind(), LinkErrorKind::Usage);
            let text = error.to_string();
            let words = "is not a file of the kernel's usbtmc driver";
            assert!(text.contains(words), "{text}");
        }
        let error = of_file(Path::new("/dev/usbtmc999"), "cannot open it").unwrap_err();
        assert_eq!(error.kind(), LinkErrorKind::NotFound);
        assert!(error.to_string().contains("modprobe usbtmc"), "{error}");
    }

    #[test]
    fn an_interface_in_sysfs_is_told_by_its_class() {
        let folder = tempfile::tempdir().unwrap();
        let node = folder.path().join("9-9:1.0");
        fs::create_dir_all(node.join("usbmisc/usbtmc3")).unwrap();
        fs::write(node.join("bInterfaceClass"), "03\n").unwrap();
        fs::write(node.join("bInterfaceSubClass"), "03\n").unwrap();
        assert_eq!(Present::of(&node), None);
        assert_eq!(file_of(&node), Some("/dev/usbtmc3".into()));
    }

    #[test]
    fn an_instrument_is_named_with_the_address_that_opens_it() {
        let scope = Present {
            port: "3-1".into(),
            vendor: 0x0957,
            product: 0x1796,
            serial: Some("MY1".into()),
            manufacturer: Some("maker".into()),
            name: Some("scope".into()),
            file: Some("/dev/usbtmc0".into()),
            ..Present::default()
        };
        assert_eq!(
            scope.in_words(),
            "0957:1796 maker scope, serial MY1 (usbtmc:///dev/usbtmc0)"
        );
        let bare = Present {
            file: None,
            ..scope
        };
        assert!(bare.in_words().ends_with("(usbtmc://3-1)"));
    }
}
